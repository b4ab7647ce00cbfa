"""The claims on remainders measure networks of any size, miss nothing that they need, and fail before training."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import pytest
import torch

from modinterp.claims import VERDICTS, Claim
from modinterp.measurements import PairMeasurements, measure
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.reproduce.reproduction import reproduction
from modinterp.runs import NotRecorded, TrainedRun, load, train
from modinterp.sources import source
from modinterp.sources import spec as named
from modinterp.sources.miiii.claims.conditions import FIRST_PRIMES, later_primes
from modinterp.sources.miiii.runs import BASIS, CODED, LAMBDA0, MASKED, NANDA, NANDA_LAMBDA0
from modinterp.tasks import PrimeRemainders, Task, addition
from modinterp.training import Recipe, RunSpec

miiii = source("miiii")

RECIPE = Recipe(epochs=120, fraction=0.8, lr=3e-3, weight_decay=1 / 3, warmup=0, residual_dropout=0.1, grokfast=0.5,
                log_every=10, snapshot_every=120, spectra_every=20)  # fmt: skip
TRAINED = [claim for claim in miiii.values() if claim.needs]


def spec(task: Task, seed: int = 0, d_model: int = 32) -> RunSpec:
    model = TransformerConfig.of(task, d_model=d_model, n_heads=4, d_head=8, d_mlp=64, mlp_biases=False, init="he")
    return RunSpec(task, model, RECIPE, seed)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrainedRun]:
    """Every run of the source, with p = 13 in place of 113, trained for a second; runs of one shape are shared."""
    folder = tmp_path_factory.mktemp("miiii")
    specs = {"remainders": spec(PrimeRemainders(13)), "basis": spec(PrimeRemainders(13, shuffled=True)),
             "masked": spec(PrimeRemainders(13, masked=FIRST_PRIMES)), "sums": spec(addition(13))}  # fmt: skip
    train(specs, out=folder, progress=False)
    found = {name: load(name, root=folder) for name in specs}
    names = dict.fromkeys(name for claim in TRAINED for name in claim.needs)
    kinds = {**dict.fromkeys((*NANDA, *NANDA_LAMBDA0), "sums"), MASKED: "masked", "miiii/p37-alone-0": "masked",
             BASIS: "basis"}  # fmt: skip
    return {name: replace(found[kinds.get(name, "remainders")], name=name) for name in names}


@pytest.mark.parametrize("claim", TRAINED, ids=lambda claim: claim.id)
def test_every_claim_can_be_measured_at_any_p(claim: Claim, small: dict[str, TrainedRun]) -> None:
    at_end = claim.check_available(small)
    assert at_end.runs
    assert set(claim.bands) <= set(at_end.measured)
    before = claim.check_available({name: run.at_start() for name, run in small.items()})
    assert set(before.measured) == set(at_end.measured)


def test_bands_that_a_network_of_the_source_fails_before_training() -> None:
    """Those on the embedding and on neurons, at the size of the source, where a small p says nothing."""
    runs = {name: TrainedRun(name, named(name).task, _start(name), named(name), _no_history(name)) for name in
            (CODED, *NANDA[:2])}  # fmt: skip
    for key in ("fig7.pearson.nanda", "fig8.nanda", "fig8.miiii", "fig9", "fig10", "fig11", "fig12", "fig4"):
        result = miiii[key].check_available(runs)
        assert set(result.off) & set(result.claim.expected), key
    shares = miiii["fig4"].check(runs[CODED]).measured
    assert shares["largest over mean magnitude of the transform, best neuron"][0] > 10
    assert shares["share of the variance in its ten strongest waves"][0] < 0.4


def _start(name: str):
    return hooked(named(name).model, initial_weights(named(name).model, 0))


def _no_history(name: str) -> pd.DataFrame:
    columns = [f"{part}_{kind}" for part in ("train", "test") for kind in ("accuracy", "loss")]
    return pd.DataFrame([{"epoch": 0} | dict.fromkeys(columns, 0.0)])


def planted_history(run: TrainedRun, order: list[float], final: float = 1.0) -> TrainedRun:
    """The run with a history in which each task is memorised at epoch 100 and generalised when it is told."""
    rows = []
    for epoch in range(0, 70_000, 500):
        row: dict[str, float] = {"epoch": epoch}
        for name, time in zip(run.task.output_names, order, strict=True):
            row[f"train_accuracy_{name}"] = float(epoch >= 100)
            row[f"test_accuracy_{name}"] = final if epoch >= time else 0.3
            row[f"test_loss_{name}"] = 0.01 if epoch >= time else 3.0
            row[f"train_loss_{name}"] = 0.0
        for mean in ("train_accuracy", "test_accuracy", "train_loss", "test_loss"):
            row[mean] = sum(row[f"{mean}_{name}"] for name in run.task.output_names) / len(order)
        rows.append(row)
    return replace(run, history=pd.DataFrame(rows))


def test_claims_on_the_order_tell_a_history_as_in_the_source_from_others() -> None:
    task = PrimeRemainders(113)
    blank = TrainedRun(CODED, task, _start(CODED), named(CODED))
    order = torch.randperm(25, generator=torch.Generator().manual_seed(0)).tolist()
    together = [40_000.0 + 200 * place for place in order]
    as_stated = planted_history(blank, [1000, 2000, 3000, 4000, *together])
    for key in ("fig5.accuracy", "fig6.ce", "grokked_all", "25_together"):
        result = miiii[key].check(as_stated)
        assert result.verdict == "holds", str(result)
    backwards = planted_history(blank, [4000, 3000, 2000, 1000, *together])
    by_size = planted_history(blank, [1000, 2000, 3000, 4000, *sorted(together)])
    early = planted_history(blank, [1000, 2000, 3000, 4000, *(5000 + 100 * place for place in order)])
    short = planted_history(blank, [1000, 2000, 3000, 4000, *together], final=0.97)
    for wrong in (backwards, by_size, early, short):
        assert miiii["fig5.accuracy"].check(wrong).verdict == "refuted"
    apart = planted_history(blank, [1000, 2000, 3000, 4000, *(float(2000 * place + 500) for place in order)])
    assert miiii["25_together"].check(apart).verdict == "refuted"
    assert miiii["grokked_all"].check(planted_history(blank, [500.0] * 29)).verdict == "refuted"


def test_with_and_without_the_filter_are_compared_at_equal_epochs() -> None:
    with_filter, without = (TrainedRun(n, PrimeRemainders(113), _start(n), named(n)) for n in (CODED, LAMBDA0))

    def verdict(epoch: int, until: int) -> str:
        amplified, plain = (planted_history(run, [e] * 29) for run, e in ((with_filter, 20_000), (without, epoch)))
        cut = replace(plain, history=plain.history[plain.history["epoch"] <= until])
        return replace(miiii["lambda0"].check_available({LAMBDA0: cut, CODED: amplified}), of_source=False).words

    assert verdict(epoch=60_000, until=40_000) == "holds"
    assert verdict(epoch=35_000, until=40_000) == "holds"  # 1.75 times as long
    assert verdict(epoch=25_000, until=40_000) == "refuted"
    assert verdict(epoch=60_000, until=25_000) == "open (pending)"  # it may yet take less than 1.5 times as long


def test_the_filter_is_judged_seed_by_seed() -> None:
    def run(epoch: int) -> TrainedRun:
        epochs = pd.Series(range(0, 70_000, 500))
        history = pd.DataFrame({"epoch": epochs, "test_accuracy": (epochs >= epoch).astype(float)})
        return TrainedRun(f"sums-{epoch}", addition(13), None, spec(addition(13)), history)

    amplified, plain = [10_000, 20_000, 30_000], [11_000, 22_000, 15_000]
    result = miiii["grokfast_speedup"].check(*map(run, amplified + plain))
    assert result.measured["epoch without it over epoch with it"] == pytest.approx((1.1, 1.1, 0.5))
    assert result.passes == (True, True, False)


def test_what_is_given_is_no_number_that_is_expected() -> None:
    for claim in miiii.values():
        assert not set(claim.given) & set(claim.expected), claim.id


def test_measurements_are_of_every_task_and_refuse_what_has_no_digits(
    small: dict[str, TrainedRun], tiny_max: TrainedRun
) -> None:
    m = measure(small[CODED])
    assert m.predicted is m.predicted
    assert later_primes(m) == (11,)
    assert m.questions.order_matters == (False, False, True, True, True)
    assert len(m.questions.accuracies_with_positions_swapped) == len(m.test_accuracies) == 5
    with pytest.raises(ValueError, match="not form a grid of pairs"):
        PairMeasurements(tiny_max)
    with pytest.raises(NotRecorded, match="no remainders"):
        _ = measure(small[NANDA[0]]).questions.primality


def test_what_did_not_come_with_a_checkpoint_is_not_measured(small: dict[str, TrainedRun]) -> None:
    foreign = replace(small[CODED], spec=None, history=pd.DataFrame(), spectra=None)
    for ask in (
        lambda m: m.questions.learning_times,
        lambda m: m.questions.final("test_accuracy"),
        lambda m: m.questions.logged_spectra,
    ):
        with pytest.raises(NotRecorded):
            ask(measure(foreign))
    verdicts = {claim.id: claim.check_foreign(foreign).verdict for claim in TRAINED}
    assert verdicts["miiii.fig6.ce"] == verdicts["miiii.grokked_all"] == "open"
    assert set(verdicts.values()) <= set(VERDICTS)


def test_accuracy_of_every_task_is_that_of_the_history(small: dict[str, TrainedRun]) -> None:
    m = measure(small[CODED])
    assert list(m.test_accuracies) == pytest.approx(m.questions.final("test_accuracy").tolist(), abs=1e-6)


def test_a_source_without_its_runs_still_has_its_exact_claims_and_figures(tmp_path) -> None:
    (tmp_path / "none").mkdir()
    reproduced = reproduction("miiii", root=tmp_path / "none")
    assert {r.verdict for r in reproduced.results if not r.claim.needs} == {"holds"}
    assert {r.verdict for r in reproduced.results if r.claim.needs} == {"open"}
    assert set(reproduced.figures) == {key for key, drawing in miiii.drawings.items() if drawing.needs_no_run}


def drawn(runs: dict[str, TrainedRun]) -> dict[str, go.Figure]:
    measured = {name: measure(run) for name, run in runs.items()}
    figures = {key: drawing.figure(measured, miiii.main_run) for key, drawing in miiii.drawings.items()}
    return {key: figure for key, figure in figures.items() if figure is not None}


def test_figures_are_drawn_from_what_is_there(small: dict[str, TrainedRun]) -> None:
    figures = drawn(dict(small) | {"miiii/p53-0": small[CODED]})
    assert set(figures) == set(miiii.drawings)
    for key, figure in figures.items():
        assert len(figure.layout.title.text) > 20, key
        assert len(figure.data) > 0, key
    without_run = {key for key, drawing in miiii.drawings.items() if drawing.needs_no_run}
    sums = drawn({NANDA[1]: small[NANDA[1]]})
    assert set(sums) == {*without_run, "positions", "vectors_nanda", "spectrum_nanda"}
    foreign = replace(small[CODED], spec=None, history=pd.DataFrame())
    assert "accuracy" not in drawn({CODED: foreign})
