"""A search for hyper-parameters: processes share a study, and what was stopped goes on."""

from __future__ import annotations

import builtins
import signal
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from forked import Forked, Forks

from modinterp.commands.runs import main
from modinterp.runs import search, study
from modinterp.runs.search import Question, Search, Space
from modinterp.sources import source
from modinterp.training import Outcome, OutcomeKind

SPACE = source("miiii").search.SPACE
QUESTION = Question(p=5, epochs=32)
CHOICE = {"dropout": 1 / 10, "grokfast": 1 / 2, "weight_decay": 1 / 2, "d_model": 256, "lr": 3e-4, "n_heads": 4}


def command(journal: Path, out: Path, trials: int, epochs: int = 32) -> list[str]:
    return ["search", "miiii", "--p", "5", "--trials", str(trials), "--epochs", str(epochs), "--device", "cpu",
            "--storage", str(journal), "--out", str(out)]  # fmt: skip


WORKS = """
import time, uuid
from pathlib import Path
import optuna
from modinterp.runs.search import Question
from modinterp.runs.study import carry_out
from modinterp.sources import source

space = source("miiii").search.SPACE

def run(journal, ready, others):
    Path(ready).mkdir(exist_ok=True)
    (Path(ready) / uuid.uuid4().hex).touch()
    while len(list(Path(ready).iterdir())) < others:
        time.sleep(0.01)
    carry_out(space, Question(p=5, epochs=32), 12, Path(journal))
"""


def begun(forks: Forks, journal: Path, ready: Path, others: int = 1) -> Forked:
    """A process that works on a study as soon as so many are ready to."""
    return forks.begun(str(journal), str(ready), others)


def without_seconds(trials: pd.DataFrame) -> pd.DataFrame:
    return trials.drop(columns="seconds")


@pytest.mark.parametrize("wrong", [{"dropout": 0.3}, {"weight_decay": 1 / 3}, {"lr": 1e-3}, {"momentum": 0.9}])
def test_what_is_not_in_the_space_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="one of the values of each of dropout, grokfast"):
        SPACE.spec(CHOICE | wrong, QUESTION)


def test_the_objective_is_the_mean_of_the_last_ten_logged_losses() -> None:
    history = tuple({"epoch": e, "test_loss": float(e)} for e in range(25))
    assert search.objective(history) == 19.5
    assert search.objective(history[:4]) == 1.5


@pytest.mark.parametrize("wrong", [{"p": 8}, {"epochs": 3}, {"seed": -1}])
def test_questions_that_cannot_be_asked(wrong: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got"):
        study.open_study(SPACE, Question(**({"p": 5, "epochs": 32} | wrong)), tmp_path / "journal")
    assert not list(tmp_path.iterdir())


def test_a_space_has_a_choice_and_a_label_for_each_parameter() -> None:
    with pytest.raises(ValueError, match="lr has fewer"):
        Space(source="mine", choices={"lr": (1e-3,)}, labels={"lr": "rate"}, training=SPACE.training)
    with pytest.raises(ValueError, match="labels must name the parameters lr"):
        Space(source="mine", choices={"lr": (1e-3, 1e-4)}, labels={}, training=SPACE.training)


def test_studies_that_were_begun_before_are_recognised() -> None:
    assert SPACE.study_name(Question(p=23, epochs=4096, seed=3)) == "miiii, p=23, epochs=4096, seed=3"


def test_what_was_found_comes_back(tmp_path: Path) -> None:
    row = {
        "trial": 0,
        **CHOICE,
        "state": "complete",
        "epochs": 32,
        "loss": 0.1 + 0.2,
        "test_accuracy": 1.0,
        "seconds": 2.5,
    }
    rows = [row, row | {"trial": 1, "state": "pruned", "loss": 0.1}]
    found = Search(SPACE, QUESTION, pd.DataFrame(rows), dict.fromkeys(SPACE.choices, 1 / 6))
    search.write(found, tmp_path / "miiii" / "search-p5")
    (again,) = search.searches(SPACE, tmp_path)
    assert search.searches(replace(SPACE, source="other"), tmp_path) == []
    assert again.question == QUESTION
    assert again.trials.to_dict("records") == found.trials.to_dict("records")
    assert again.importances == found.importances
    assert again.best["trial"] == 0  # a pruned trial is never the best
    (tmp_path / "miiii" / "search-p5" / search.SUMMARY).write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        search.searches(SPACE, tmp_path)


def test_without_optuna_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    found = builtins.__import__

    def without(name: str, *args, **kwargs):
        if name == "optuna":
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(command(tmp_path / "journal", tmp_path, 1)) == 2
    assert capsys.readouterr().err == "error: a search needs Optuna: pip install 'modinterp[search]'\n"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Search:
    """Twelve trials by one process."""
    pytest.importorskip("optuna")
    return study.carry_out(SPACE, QUESTION, 12, tmp_path_factory.mktemp("alone") / "journal")


def test_trials_are_of_the_space_and_some_are_pruned(alone: Search) -> None:
    assert alone.trials["trial"].tolist() == list(range(12))
    for _, row in alone.trials.iterrows():
        SPACE.spec({name: row[name] for name in SPACE.choices}, QUESTION)
    ended = alone.trials.set_index("state")["epochs"]
    assert set(ended["complete"]) == {32}
    assert set(ended["pruned"]) == {16}
    assert alone.best["loss"] == alone.trials.query("state == 'complete'")["loss"].min()
    assert sum(alone.importances.values()) == pytest.approx(1)
    assert set(alone.importances) == set(SPACE.choices)


def test_a_trial_is_the_training_it_stands_for(alone: Search) -> None:
    from modinterp.training import training_states

    best = alone.best
    *_, (_, last) = training_states([SPACE.spec({name: best[name] for name in SPACE.choices}, QUESTION)], device="cpu")
    assert search.objective(last.history) == pytest.approx(best["loss"], rel=1e-6)
    assert last.history[-1]["test_accuracy"] == pytest.approx(best["test_accuracy"])


def test_a_study_goes_on_as_if_it_had_not_stopped(
    alone: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"
    assert len(study.carry_out(SPACE, QUESTION, 4, journal).trials) == 4
    carried_out, calls = study.training_states, iter(range(100))

    def interrupted(*args, **kwargs):
        for place, state in enumerate(carried_out(*args, **kwargs)):
            if place == 3 and next(calls) == 2:
                raise KeyboardInterrupt
            yield state

    with monkeypatch.context() as patched:
        patched.setattr(study, "training_states", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.carry_out(SPACE, QUESTION, 12, journal)
    again = study.carry_out(SPACE, QUESTION, 12, journal)
    assert again.trials["trial"].tolist() == [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]  # trial 6 was given up
    assert without_seconds(again.trials[:6]).equals(without_seconds(alone.trials[:6]))
    assert study.carry_out(SPACE, QUESTION, 12, journal).trials.equals(again.trials)  # nothing left to do


def test_a_trial_that_does_not_stay_finite_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")
    carried_out, calls = study.training_states, iter(range(100))

    def diverging(*args, **kwargs):
        first = next(calls) == 0
        for run, state in carried_out(*args, **kwargs):
            yield run, replace(state, ended=Outcome(OutcomeKind.NOT_FINITE, 2, "loss nan")) if first else state

    monkeypatch.setattr(study, "training_states", diverging)
    lines: list[str] = []
    result = study.carry_out(SPACE, QUESTION, 2, tmp_path / "journal", say=lines.append)
    assert result.trials["trial"].tolist() == [1, 2]
    assert [line.endswith("did not stay finite") for line in lines] == [True, False, False]


def test_two_processes_share_a_study_and_one_that_was_killed_is_replaced(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    journal = tmp_path / "journal"
    with Forks(WORKS, tmp_path, {"OMP_NUM_THREADS": "1"}) as forks:
        killed = begun(forks, journal, tmp_path / "killed")
        deadline = time.monotonic() + 120
        while b'"step"' not in (journal.read_bytes() if journal.is_file() else b"") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert killed.kill() == -signal.SIGKILL
        (left,) = study.open_study(SPACE, QUESTION, journal).trials
        assert left.state.name == "RUNNING"

        both = [begun(forks, journal, tmp_path / "ready", others=2) for _ in range(2)]
        assert [worker.wait() for worker in both] == [0, 0]
    trials = study.open_study(SPACE, QUESTION, journal).trials
    finished = [t.number for t in trials if t.state.name in ("COMPLETE", "PRUNED")]
    assert len(finished) == 12
    assert {t.state.name for t in trials if t.number not in finished} == {"FAIL"}
    assert 0 not in finished
    assert len({t.user_attrs["worker"] for t in trials if t.number in finished}) == 2
    out = study.carry_out(SPACE, QUESTION, 12, journal)
    assert out.trials["trial"].tolist() == finished


def test_a_file_that_is_another_studys_or_none_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("optuna")
    other, text = tmp_path / "other", tmp_path / "text"
    study.open_study(SPACE, Question(p=7, epochs=32), other)
    text.write_text("notes\n")
    for path in (other, text):
        before = path.read_bytes()
        assert main(command(path, tmp_path, 1)) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert error.count("\n") == 1
        assert path.read_bytes() == before
