"""Training with a log of spectra: it changes no number, and no interruption doubles or loses an entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from modinterp.activations.spectra import spectra
from modinterp.models import TransformerConfig
from modinterp.publish.publishing import publish
from modinterp.runs import load, states, store, train
from modinterp.tasks import PrimeRemainders, addition
from modinterp.tasks.sequences import DigitAddition
from modinterp.training import Recipe, RunSpec
from modinterp.training.recipe import MOST_SPECTRA

TASK = PrimeRemainders(5)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24, mlp_biases=False, init="he")
RECIPE = Recipe(epochs=35, log_every=5, snapshot_every=15, spectra_every=10, residual_dropout=0.1, grokfast=0.5)
SPECS = {f"own/{seed}": RunSpec(TASK, CONFIG, RECIPE, seed) for seed in range(2)}
UNWATCHED = {name: replace(spec, recipe=replace(RECIPE, spectra_every=0)) for name, spec in SPECS.items()}


def carried_out(specs: dict[str, RunSpec], out: Path) -> None:
    train(specs, out, device="cpu", progress=False, together=2, state_every=0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    carried_out(SPECS, out)
    return out


def test_entries_are_those_of_the_networks_of_their_epochs(whole: Path) -> None:
    run = load("own/1", root=whole)
    assert run.spectra is not None
    assert run.spectra.epochs.tolist() == [0, 10, 20, 30, 35]
    assert list(run.snapshots) == [0, 15, 30, 35]
    again = spectra(run.at(30), TASK, epoch=30)
    assert (run.spectra.waves[3] == again.waves[0]).all()
    assert run.spectra.full()[3].flatten().tolist() == pytest.approx(again.full()[0].flatten().tolist(), rel=1e-3)
    start = run.at_start().spectra
    assert start is not None
    assert start.epochs.tolist() == [0]


def test_watching_changes_no_number_of_the_training(whole: Path, tmp_path: Path) -> None:
    carried_out(UNWATCHED, tmp_path)
    for name in SPECS:
        for file in (store.FINAL, store.HISTORY, *(store.snapshot_path(Path(), e) for e in (0, 15, 30, 35))):
            assert (whole / name / file).read_bytes() == (tmp_path / name / file).read_bytes(), (name, file)
    assert not (tmp_path / "own/0" / store.SPECTRA).exists()
    assert load("own/0", root=tmp_path).spectra is None


def test_a_run_begun_unwatched_goes_on_watched(tmp_path: Path) -> None:
    half = {name: replace(spec, recipe=replace(spec.recipe, epochs=15)) for name, spec in UNWATCHED.items()}
    carried_out(half, tmp_path)
    carried_out(SPECS, tmp_path)
    run = load("own/0", root=tmp_path)
    assert run.spectra is not None
    assert run.spectra.epochs.tolist() == [20, 30, 35]
    assert run.spec == UNWATCHED["own/0"] == SPECS["own/0"]


@pytest.mark.parametrize("times", [2, 5, 8, 11, 14, 18, 23, 28])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"])
def test_stopped_at_any_write_the_log_ends_the_same(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, error: BaseException
) -> None:
    calls, write = iter(range(10**6)), store.write_atomically

    def failing(*args, **kwargs) -> str:
        if next(calls) >= times:
            raise error
        return write(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(store, "write_atomically", failing)
        with pytest.raises(type(error)):
            carried_out(SPECS, tmp_path)
    carried_out(SPECS, tmp_path)
    for name in SPECS:
        assert (tmp_path / name / store.SPECTRA).read_bytes() == (whole / name / store.SPECTRA).read_bytes()
        assert load(name, root=tmp_path).spectra is not None  # run.json vouches for it


def test_entries_beyond_the_state_that_is_gone_on_from_give_way(whole: Path, tmp_path: Path) -> None:
    """As after a kill between an entry and the next state, which is written more seldom."""
    carried_out(SPECS, tmp_path)
    early = {name: replace(spec, recipe=replace(RECIPE, epochs=15)) for name, spec in SPECS.items()}
    carried_out(early, tmp_path / "early")
    for name in SPECS:
        for file in (states.STATE, states.BEFORE):
            (tmp_path / "early" / name / file).replace(tmp_path / name / file)
        (tmp_path / name / store.RECORD).unlink()
    carried_out(SPECS, tmp_path)
    assert load("own/0", root=tmp_path).spectra.epochs.tolist() == [0, 10, 20, 30, 35]
    assert (tmp_path / "own/1" / store.SPECTRA).read_bytes() == (whole / "own/1" / store.SPECTRA).read_bytes()


def test_a_log_is_published_with_its_run(whole: Path, tmp_path: Path) -> None:
    publish("own/0", whole, tmp_path)
    assert load("own/0", root=tmp_path).spectra.epochs.tolist() == [0, 10, 20, 30, 35]


def test_a_damaged_log_is_refused_in_one_line(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / store.SPECTRA
    path.write_bytes((whole / "own/0" / store.SPECTRA).read_bytes()[:500])
    with pytest.raises(ValueError, match="does not hold complete spectra"):
        store.read_spectra(path)


def refused(match: str) -> Callable:
    return pytest.raises(ValueError, match=match)


def test_what_cannot_be_logged_is_refused_before_training() -> None:
    with refused("multiple of log_every"):
        replace(RECIPE, spectra_every=7)
    with refused(f"at most {MOST_SPECTRA:,} times"):
        replace(RECIPE, epochs=10 * MOST_SPECTRA + 1, spectra_every=10)
    with refused("at least 0"):
        replace(RECIPE, spectra_every=-10)
    digits = DigitAddition(2)
    with refused("pairs"):
        RunSpec(digits, TransformerConfig.of(digits), RECIPE)
    RunSpec(addition(5), TransformerConfig.of(addition(5)), RECIPE)
