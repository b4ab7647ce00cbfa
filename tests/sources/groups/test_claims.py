"""The claims on networks over groups: on the authors' own network, and on a tiny one that was trained here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference import REFERENCE
from sympy.combinatorics.named_groups import SymmetricGroup

from modinterp import runs
from modinterp.commands.reproduce import main
from modinterp.measurements import GroupMeasurements, NoSuchPart
from modinterp.models import MLPConfig, TransformerConfig, initial_weights
from modinterp.runs import NotRecorded, TrainedRun, store
from modinterp.sources.groups.claims import CLAIMS, CONTRADICTIONS
from modinterp.sources.groups.claims.conditions import has_learned
from modinterp.sources.groups.claims.progress import learned_at
from modinterp.sources.groups.drawings import FIGURES
from modinterp.sources.groups.order import S5_ELEMENTS
from modinterp.sources.groups.runs import CONTROLS, MAIN, RUNS
from modinterp.tasks import Group
from modinterp.tasks.group_tables import cycles
from modinterp.training import Recipe, RunSpec

AUTHORS = REFERENCE / "groups_S5_MLP_seed5.pt"


@pytest.fixture(scope="module", params=["mlp", "transformer"])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    if request.param == "mlp":
        task = Group("S4", vocabularies=2)
        model = MLPConfig.of(task, d_model=32, d_mlp=32, joined="concatenated", init="1/sqrt(width)")
    else:
        task = Group("S4", equals=True)
        model = TransformerConfig.of(task, d_model=32, n_heads=2, d_head=16, d_mlp=32, mlp_biases=False)
    recipe = Recipe(epochs=200, fraction=0.6, warmup=0, lr=3e-3, snapshot_every=50, shuffle="torch")
    out = tmp_path_factory.mktemp("tiny")
    runs.train({"groups/tiny": RunSpec(task, model, recipe, seed=1)}, out=out, progress=False)
    return runs.load("groups/tiny", root=out)


def test_the_order_of_s5_is_the_one_that_its_authors_had() -> None:
    assert tuple(cycles(images) for images in SymmetricGroup(5).generate(af=True)) == S5_ELEMENTS


def test_runs_are_those_of_the_released_code() -> None:
    assert len(RUNS) == 34 + len(CONTROLS)
    split = RUNS[MAIN].split
    assert (len(split.train), len(split.test)) == (5760, 8640)
    assert RUNS[MAIN].seed == 2


def test_claims_take_any_architecture(tiny: TrainedRun) -> None:
    measured = 0
    for claim in CLAIMS:
        if claim.needs:
            try:
                claim.check(tiny)
                measured += 1
            except (NotRecorded, NoSuchPart):
                assert claim.id.startswith(("groups.s5.neurons.shares", "groups.s5.progress", "groups.proof"))
    assert measured >= 20
    m = GroupMeasurements(tiny)
    for key, drawing in FIGURES.items():
        if not drawing.needs_no_run:
            is_drawn = drawing.figure({MAIN: m}, MAIN) is not None
            assert is_drawn == (key != "prevalence" or has_learned(m)), key


def test_snapshots_are_followed(tiny: TrainedRun) -> None:
    m = GroupMeasurements(tiny)
    assert m.progress["epoch"].tolist() == list(tiny.snapshots)
    last = m.progress.iloc[-1]
    for name in m.key_names:
        assert last[f"similarity_{name}"] == pytest.approx(m.similarity(name), abs=1e-6)
    assert last["neurons_restricted_loss_all"] == pytest.approx(m.neurons_restricted_loss)
    assert last["neurons_excluded_loss_train"] == pytest.approx(m.neurons_excluded_loss)
    assert last["sum_of_squared_weights"] == pytest.approx(tiny.history["sum_of_squared_weights"].iloc[-1], rel=1e-4)
    assert set(learned_at(m)) <= set(m.key_names)


def test_contradictions_name_claims() -> None:
    ids = {claim.id.removeprefix("groups.") for claim in CLAIMS}
    assert all(set(conflict.settled_by) <= ids for conflict in CONTRADICTIONS)


@pytest.mark.skipif(not AUTHORS.is_file(), reason="the reference networks are not at hand")
def test_the_authors_network_gives_their_numbers(tmp_path: Path) -> None:
    assert main(["groups", "--checkpoint", str(AUTHORS), "--out", str(tmp_path)]) == 0
    claims = {claim["id"]: claim for claim in json.loads((tmp_path / "claims.json").read_text())}
    verdicts = [claim["verdict"] for claim in claims.values()]
    assert (verdicts.count("holds"), verdicts.count("open")) == (22, 20)
    printed = {
        "s5.logits.fve": ("logit_fve_row", 0.5736),
        "s5.unembed": ("read_key_share", 0.9412),
        "s5.hidden": ("neurons_product_share", 0.1123),
        "s5.readoff": ("least share of the map to logits that is tr rho(a b) rho(c^-1)", 0.9835),
    }
    for claim, (name, value) in printed.items():
        assert claims[f"groups.{claim}"]["measured"][name] == pytest.approx(value, abs=1e-4)
    assert claims["groups.s5.restricted"]["measured"]["restricted loss [nats]"] == pytest.approx(5.602e-8, rel=1e-3)
    assert claims["groups.s5.excluded"]["measured"]["excluded_loss"] == pytest.approx(8.785, abs=1e-3)
    assert claims["groups.s5.cosets"]["measured"]["neurons constant on cosets of a subgroup"] == 1


@pytest.mark.skipif(not AUTHORS.is_file(), reason="the reference networks are not at hand")
@pytest.mark.parametrize(
    ("file", "run", "claim", "unembedding"),
    [("groups_D59_MLP_seed4.pt", "groups/d59-mlp-1", "mlp", 0.9842), ("groups_D59_T_seed3.pt", "groups/d59-t-1", "transformer", 0.9936)],
)  # fmt: skip
def test_the_authors_networks_on_another_group(
    tmp_path: Path, file: str, run: str, claim: str, unembedding: float
) -> None:
    where = ["--checkpoint", str(REFERENCE / file), "--only", "table.*", "--out", str(tmp_path)]
    assert main(["groups", *where, "--as", run]) == 0
    claims = {claim["id"]: claim for claim in json.loads((tmp_path / "claims.json").read_text())}
    assert claims[f"groups.table.{claim}"]["verdict"] == "holds"
    assert claims[f"groups.table.{claim}"]["measured"]["read_key_share"] == pytest.approx(unembedding, abs=1e-4)


@pytest.mark.parametrize("vocabularies", [1, 2])
def test_a_checkpoint_may_have_one_vocabulary(vocabularies: int, tmp_path: Path) -> None:
    config = MLPConfig.of(Group("A4", vocabularies=vocabularies), d_model=16, d_mlp=8, joined="concatenated")
    store.write_weights(tmp_path / "a4.safetensors", initial_weights(config, 0))
    where = ["--checkpoint", str(tmp_path / "a4.safetensors"), "--group", "A4", "--out", str(tmp_path / "out")]
    assert main(["groups", *where]) == 0  # untrained, it is none of the networks that the claims are about
    claims = {claim["id"]: claim for claim in json.loads((tmp_path / "out" / "claims.json").read_text())}
    assert 0 <= claims["groups.table.mlp"]["measured"]["final_test_accuracy"] < 0.5


def test_a_checkpoint_of_another_group_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = Group("A4", vocabularies=2)
    file = tmp_path / "a4.safetensors"
    config = MLPConfig.of(task, d_model=256, d_mlp=128, joined="concatenated", init="1/sqrt(width)")
    store.write_weights(file, initial_weights(config, 0))
    where = ["groups", "--checkpoint", str(file), "--only", "table.*", "--out", str(tmp_path / "out")]
    for arguments, message in (
        ([], "needs d_vocab 240, but the weights have 24 (read as groups/s5-mlp-2; --as names the run"),
        (["--as", "groups/s5-mlp-9"], "groups has no run 'groups/s5-mlp-9'; did you mean"),
        (["--as", "groups/d59-mlp-1"], "needs d_vocab 236, but the weights have 24"),
        (["--group", "M11"], "there is no group named 'M11'"),
        (["--elements", str(file)], "--elements belongs to --group"),
        (["--group", "A4", "--elements", str(tmp_path / "none.txt")], "there is no file"),
    ):
        assert main([*where, *arguments]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    assert main([*where, "--group", "A4"]) == 0, "an untrained network is not one that has learned"
    assert main(["mlp", *where[1:3], "--group", "A4"]) == 2
    assert "--group is for networks that compose group elements" in capsys.readouterr().err
