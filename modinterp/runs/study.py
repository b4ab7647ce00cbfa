"""Run a hyper-parameter search, in any number of processes that share one study.

A study is a journal to which Optuna appends, under a lock that also works on network folders. Any process that can read
the file can work on the study, and a stopped study continues. Each process that works on a study holds a lease on a
folder in `JOURNAL.workers/` until it ends. The leases of working processes show which trials are abandoned.

Optuna is imported when a search begins; `pip install 'modinterp[search]'` installs Optuna.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from modinterp.runs.lease import is_held, leased, renewed
from modinterp.runs.search import COMPLETE, PRUNED, REPORTS, Question, Search, Space, objective
from modinterp.training import training_states

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial, Trial

BEST = 0.25  # share of the trials; a parameter matters as far as its values differ between these and all
HALVED = 2  # a trial goes on after half of its epochs if it is in the better half of those that came so far


def carry_out(
    space: Space,
    question: Question,
    n_trials: int,
    journal: Path,
    device: str = "cpu",
    say: Callable[[str], object] = lambda line: None,
) -> Search:
    """Run trials of a study until enough are finished or running in other processes, and return the result.

    The sampler (TPE) chooses the parameters of trial k with a seed made of the question's seed and k. A study run by
    one process therefore has the same result, however often it was stopped. Trials whose process was killed are
    abandoned and replaced.

    Args:
        n_trials: total number of trials of the study, including trials that were finished before.
        journal: file of the study, created if it does not exist.
        say: function that is called with a line of text for each finished trial.
    Raises:
        ValueError: Optuna is not installed; no task exists for the question's modulus; the file is not the journal of
            this search; `n_trials` is less than 1.
        OSError: the journal cannot be written.
    """
    if n_trials < 1:
        raise ValueError(f"at least 1 trial is needed, got {n_trials}")
    study, workers = open_study(space, question, journal), journal.with_name(f"{journal.name}.workers")
    with _worker(workers) as name:
        _give_up_the_dead(study, workers)
        while (trial := _next_trial(study, n_trials)) is not None:
            trial.set_user_attr("worker", name)
            say(_line(space, _finished(study, trial, space, question, device)))
    return result(space, question, study)


def open_study(space: Space, question: Question, journal: Path) -> optuna.Study:
    """Open the study in a journal file, which is created if it does not exist.

    Raises:
        ValueError: Optuna is not installed; no task exists for the question's modulus; the file is not the journal of
            this search.
    """
    space.check(question)
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    name, path = space.study_name(question), journal.absolute()  # Optuna's lock is a link to it
    path.parent.mkdir(parents=True, exist_ok=True)
    # not earlier, since a validation loss rises before it falls
    half = question.report_every * (REPORTS // 2)
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=half, reduction_factor=HALVED)
    try:
        if path.is_file() and (first := path.read_bytes().partition(b"\n")[0]):
            json.loads(first)["op_code"]
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
        others = {study.study_name for study in storage.get_all_studies()} - {name}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{journal} is not the journal of a search") from error
    if others:
        raise ValueError(f"{journal} is the journal of another search ({others.pop()}); choose another --storage")
    return optuna.create_study(storage=storage, study_name=name, pruner=pruner, load_if_exists=True)


def result(space: Space, question: Question, study: optuna.Study) -> Search:
    """Return the finished trials of a study, and the importance of each parameter."""
    state = _optuna().trial.TrialState
    finished = study.get_trials(deepcopy=False, states=(state.COMPLETE, state.PRUNED))
    return Search(space, question, pd.DataFrame(map(_row, finished)), _importances(space, finished))


def _row(trial: FrozenTrial) -> dict[str, Any]:
    """Return a finished trial as a row of the table of trials."""
    seconds = trial.duration.total_seconds() if trial.duration else float("nan")
    return {
        "trial": trial.number,
        **trial.params,
        "state": COMPLETE if trial.state == _optuna().trial.TrialState.COMPLETE else PRUNED,
        "epochs": trial.last_step,
        "loss": trial.intermediate_values[trial.last_step],
        "test_accuracy": trial.user_attrs["test_accuracy"],
        "seconds": round(seconds, 1),
    }


def _line(space: Space, trial: FrozenTrial) -> str:
    """Return a line of text with the parameters of a trial and how the trial ended."""
    chosen = ", ".join(f"{name} {trial.params[name]:g}" for name in space.choices)
    if trial.state == _optuna().trial.TrialState.FAIL:
        return f"trial {trial.number}: {chosen}: stopped, since its loss did not stay finite"
    row = _row(trial)
    return f"trial {trial.number}: {chosen}: {row['state']} at epoch {row['epochs']:,}, loss {row['loss']:.4g}"


def _importances(space: Space, finished: Sequence[FrozenTrial]) -> dict[str, float]:
    """Return the PED-ANOVA importance of each parameter, that is, its share in what distinguishes the best trials.

    Pruned trials rank last.

    PED-ANOVA only uses whether a trial is among the best. Losses of trials that were pruned at different epochs cannot
    be compared, since a validation loss rises before it falls.
    """
    optuna = _optuna()
    if len(finished) < 2:
        return dict.fromkeys(space.choices, 1 / len(space.choices))
    best_first = sorted(map(_row, finished), key=lambda row: (row["state"] == PRUNED, -row["epochs"], row["loss"]))
    rank = {row["trial"]: float(place) for place, row in enumerate(best_first)}
    ranked = optuna.create_study()
    for trial in finished:
        params, distributions = trial.params, trial.distributions
        ranked.add_trial(
            optuna.trial.create_trial(params=params, distributions=distributions, value=rank[trial.number])
        )
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=BEST)
    shares = optuna.importance.get_param_importances(ranked, evaluator=evaluator)
    return {name: float(share) for name, share in shares.items()}


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ValueError("a search needs Optuna: pip install 'modinterp[search]'") from error
    return optuna


def _next_trial(study: optuna.Study, n_trials: int) -> Trial | None:
    """Return the next trial to run; None if enough trials are finished or running.

    Trial numbers are assigned one at a time, so processes that ask at once agree on which trial is one too many.
    """
    state = _optuna().trial.TrialState

    def given_out(below: float) -> int:
        return sum(t.state != state.FAIL and t.number < below for t in study.get_trials(deepcopy=False))

    if given_out(below=float("inf")) >= n_trials:
        return None
    trial = study.ask()
    if given_out(below=trial.number) < n_trials:
        return trial
    study.tell(trial, state=state.FAIL)
    return None


def _finished(study: optuna.Study, trial: Trial, space: Space, question: Question, device: str) -> FrozenTrial:
    """Run a trial until it is complete or pruned; an interrupted trial is abandoned."""
    optuna = _optuna()
    study.sampler = optuna.samplers.TPESampler(seed=(100_000 * question.seed + trial.number) % 2**32)
    state, end = optuna.trial.TrialState, {}
    try:
        choice = {name: trial.suggest_categorical(name, values) for name, values in space.choices.items()}
        for _, training in training_states([space.spec(choice, question)], device=device):
            if training.ended is not None and not training.ended.is_finite:
                end = {"state": state.FAIL}
                break
            trial.report(objective(training.history), training.epoch)
            trial.set_user_attr("test_accuracy", training.history[-1]["test_accuracy"])
            if training.ended is not None:
                end = {"values": objective(training.history)}
            elif trial.should_prune():
                end = {"state": state.PRUNED}
                break
        return study.tell(trial, **end)
    except BaseException:
        study.tell(trial, state=state.FAIL, skip_if_finished=True)
        raise


@contextmanager
def _worker(workers: Path) -> Iterator[str]:
    """Yield a worker name that this process holds, by a lease, until the block ends."""
    folder = workers / uuid.uuid4().hex
    folder.mkdir(parents=True)
    try:
        with leased(folder) as lease, renewed([lease]):
            yield folder.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _give_up_the_dead(study: optuna.Study, workers: Path) -> None:
    """Abandon the trials whose process no longer lives."""
    optuna = _optuna()
    state = optuna.trial.TrialState
    alive = {folder.name for folder in workers.iterdir() if is_held(folder)}
    for trial in study.get_trials(deepcopy=False, states=(state.RUNNING,)):
        worker = trial.user_attrs.get("worker")
        just_begun = worker is None and len(alive) > 1  # by one of the others
        if worker not in alive and not just_begun:
            with suppress(optuna.exceptions.UpdateFinishedTrialError):  # another gives it up at this very moment
                study.tell(trial.number, state=state.FAIL, skip_if_finished=True)
