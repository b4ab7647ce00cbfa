"""The claims on the clock and the pizza: on the authors' own networks, and on tiny ones that were trained here."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from reference import REFERENCE

from modinterp import runs
from modinterp.commands.reproduce import main
from modinterp.measurements import CyclicMeasurements, measure
from modinterp.models import MLPConfig, TransformerConfig
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.sources import source
from modinterp.sources.pizza.claims import CLAIMS, CONTRADICTIONS
from modinterp.sources.pizza.claims.circles import doubled
from modinterp.sources.pizza.drawings import FIGURES, phase_table
from modinterp.sources.pizza.runs import ATTENTION, BETA, CONSTANT, DELTA, MAIN, OF_WIDTH, RATES, RUNS, SOFTMAX
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

PIZZA = source("pizza")
MODEL_A, MODEL_B, BETWEEN, LINEAR = "p99zdpze5l", "l8k1hzciux", "2k4ohj6bhd", "p71frej8t7"
SAID = {MODEL_A: 0.0, MODEL_B: 1.0, BETWEEN: 0.8041592198855598}


@pytest.fixture(scope="module", params=["transformer", "linear"])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    task = addition(13, equals=False)
    if request.param == "linear":
        model = MLPConfig.of(task, d_model=16, d_mlp=16, n_layers=2, mlp_biases=True, init="linear")
    else:
        sizes = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 32, "attention_rate": 0.0, "causal": False}
        model = TransformerConfig.of(task, init="W_in 1/sqrt(d_mlp)", **sizes)
    recipe = Recipe(epochs=300, fraction=0.9, weight_decay=0.1, lr=1e-2, snapshot_every=100, shuffle="torch")
    out = tmp_path_factory.mktemp("tiny")
    runs.train({"pizza/tiny": RunSpec(task, model, recipe, seed=1)}, out=out, progress=False)
    return runs.load("pizza/tiny", root=out)


def test_runs_are_those_of_the_released_code() -> None:
    assert len(RATES) >= 11
    assert all(sum(name.startswith(f"pizza/attention-{rate:g}-") for name in ATTENTION) >= 3 for rate in RATES)
    assert (len(CONSTANT), len(SOFTMAX), len(BETA), len(DELTA)) == (8, 8, 3, 2)
    split = RUNS[MAIN].split
    assert (len(split.train), len(split.test)) == (2784, 697)
    rates = {name: RUNS[name].model.attention_rate for names in OF_WIDTH.values() for name in names}  # type: ignore[union-attr]
    assert all(name.startswith("pizza/width-") for name in rates)


def test_there_is_a_claim_for_every_entry_of_the_ledger() -> None:
    assert (
        len({claim.id for claim in CLAIMS}) == len(CLAIMS) == 36
    )  # 35, of which one has two: of each and of the median
    ids = {claim.id.removeprefix("pizza.") for claim in CLAIMS}
    assert all(set(conflict.settled_by) <= ids for conflict in CONTRADICTIONS)


@pytest.mark.parametrize("claim", [c for c in CLAIMS if not c.needs], ids=lambda c: c.id)
def test_mathematics_and_setup_hold(claim) -> None:
    assert claim.check().verdict == "holds"


def test_claims_take_any_network(tiny: TrainedRun) -> None:
    measured = 0
    for claim in CLAIMS:
        if claim.needs:
            with suppress(NotRecorded):  # it has no attention
                claim.check(measure(tiny))
                measured += 1
    assert measured >= 15
    m = CyclicMeasurements(tiny)
    for key, drawing in FIGURES.items():
        names = {"distance-softmax": SOFTMAX[0]}
        if not drawing.needs_no_run:
            given = {names.get(key, MAIN): m}
            figure = drawing.figure(given, MAIN)
            assert figure is not None or (key in ("phases", "rates") and not len(phase_table(given))), key


def test_a_frequency_is_doubled_and_folded() -> None:
    assert [doubled(k, 59) for k in (17, 3, 15)] == [25, 6, 29]


def authors(name: str) -> CyclicMeasurements:
    path = REFERENCE / f"pizza_{name}.pt"
    if not path.is_file():
        pytest.skip("the reference networks are not at hand")
    said = {"attention_rate": SAID[name], "causal": False} if name in SAID else {}
    return CyclicMeasurements(runs.load(path, addition(59, equals=False), **said))


HOLD = {
    MODEL_A: (
        "setup.solved", "modelA.gs", "modelA.di", "embed.sparse", "table1.pizza", "table1.clock", "table1.code",
        "isolation.profile", "isolation.accuracy", "accompanying.freq", "accompanying.fve", "accompanying.correct",
        "phase.low",
    ),
    MODEL_B: (
        "setup.solved", "modelB.gs", "modelB.di", "embed.sparse", "attention.periodic", "phase.high",
    ),
    BETWEEN: ("noncircular", "phase.high"),
    LINEAR: ("linear.beta",),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLD)
def test_the_authors_networks_are_as_their_paper_says(name: str) -> None:
    m = authors(name)
    for key in HOLD[name]:
        result = PIZZA[key].check(m)
        assert not result.off, result
        assert result.reason in ("", "variant"), result


def test_the_printed_numbers_of_model_a() -> None:
    m = authors(MODEL_A)
    for key in ("modelA.gs", "table1.pizza", "table1.clock", "table1.code", "accompanying.fve"):
        claim = PIZZA[key]
        for number, printed in claim.printed.items():
            assert claim.check(m).measured[number] == pytest.approx((printed,), abs=6e-5), number


def test_both_kinds_are_told_apart() -> None:
    result = PIZZA["separate"].check(authors(MODEL_A), authors(MODEL_B))
    assert not result.off, result


@pytest.mark.parametrize(
    ("name", "run", "holds"), [(MODEL_A, MAIN, "table1.pizza"), (MODEL_B, SOFTMAX[0], "modelB.gs")]
)
def test_a_file_has_the_forward_pass_of_the_run_whose_place_it_takes(
    tmp_path: Path, name: str, run: str, holds: str
) -> None:
    path = REFERENCE / f"pizza_{name}.pt"
    if not path.is_file():
        pytest.skip("the reference networks are not at hand")
    assert main(["pizza", "--checkpoint", str(path), "--as", run, "--out", str(tmp_path)]) == 0
    verdicts = {claim["id"]: claim["verdict"] for claim in json.loads((tmp_path / "claims.json").read_text())}
    assert verdicts["pizza.setup.solved"] == verdicts[f"pizza.{holds}"] == "holds"
