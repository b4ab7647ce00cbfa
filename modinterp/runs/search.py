"""Describe a hyper-parameter search: its space, its question and its result.

`modinterp.runs.study` runs a search with Optuna. The result of a search lies beside the runs of its source::

    SOURCE/search-pNN/trials.csv      one row per trial
                      search.json     the searched space, and the importance of each parameter

Reading a search result does not need Optuna.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from modinterp.files import write_atomically
from modinterp.runs import store
from modinterp.runs.hub import local
from modinterp.training import Row, RunSpec

AVERAGED = 10  # logged losses, whose mean is minimised
REPORTS = 16  # times in a trial's life that its loss is reported, and that it may be pruned
TRIALS, SUMMARY = "trials.csv", "search.json"
COMPLETE, PRUNED = "complete", "pruned"
Choice = Mapping[str, float]


@dataclass(frozen=True)
class Question:
    """Settings of a search for the hyper-parameters with the lowest validation loss.

    Attributes:
        p: modulus of the task.
        epochs: number of epochs of a trial that is not pruned.
        seed: seed of the choices, and of the split and the initial weights of every trial.
    """

    p: int
    epochs: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < REPORTS:
            raise ValueError(f"a trial needs at least {REPORTS} epochs, got {self.epochs}")
        if self.seed < 0:
            raise ValueError(f"the seed must be at least 0, got {self.seed}")

    @property
    def report_every(self) -> int:
        """Epochs between two reports of a trial's loss."""
        return self.epochs // REPORTS

    @property
    def log_every(self) -> int:
        """Epochs between two logged losses, chosen so that a report averages all losses logged since the preceding
        report.
        """
        return max(1, self.report_every // AVERAGED)

    def __str__(self) -> str:
        return f"p={self.p}, epochs={self.epochs}, seed={self.seed}"


@dataclass(frozen=True, kw_only=True)
class Space:
    """The hyper-parameters that a source searched, and a function that builds the training for each choice.

    Attributes:
        source: short name of the source, which names the folder of its searches.
        choices: map from the name of a parameter to its possible values, two or more.
        labels: map from the name of a parameter to its readable name.
        training: function from one value of each parameter, and a question, to the training. The function `training`
            only gets choices from the space, and raises ValueError if no task exists for the question's modulus.
    """

    source: str
    choices: Mapping[str, tuple[float, ...]]
    labels: Mapping[str, str]
    training: Callable[[Choice, Question], RunSpec]

    def __post_init__(self) -> None:
        if few := [name for name, values in self.choices.items() if len(values) < 2]:
            raise ValueError(f"each parameter must have at least two values to choose from; {', '.join(few)} has fewer")
        if set(self.labels) != set(self.choices):
            raise ValueError(f"labels must name the parameters {', '.join(self.choices)}, got {', '.join(self.labels)}")

    def spec(self, choice: Choice, question: Question) -> RunSpec:
        """Return the training spec for one choice of hyper-parameters.

        Raises:
            ValueError: the choice is not in the space, or no task exists for the question's modulus.
        """
        in_space = set(choice) == set(self.choices) and all(choice[name] in self.choices[name] for name in choice)
        if not in_space:
            raise ValueError(f"expected one of the values of each of {', '.join(self.choices)}, got {dict(choice)}")
        return self.training(choice, question)

    def check(self, question: Question) -> None:
        """Raise ValueError if no task exists for the question's modulus."""
        self.spec({name: values[0] for name, values in self.choices.items()}, question)

    def study_name(self, question: Question) -> str:
        """Return the name that identifies the study in its journal."""
        return f"{self.source}, {question}"


@dataclass(frozen=True)
class Search:
    """The result of a hyper-parameter search: its trials, and the importance of each parameter.

    Attributes:
        trials: table with one row for each finished trial. Columns of `trials` are the number `trial`, the chosen
            parameters, `state` (`complete` or `pruned`), `epochs`, `loss`, `test_accuracy` and `seconds`. The column
            `loss` is the mean of the trial's last ten logged test losses [nats, weighted over the questions].
        importances: map from the name of a parameter to its importance (PED-ANOVA): how much it distinguishes the best
            quarter of trials.
    """

    space: Space
    question: Question
    trials: pd.DataFrame
    importances: Mapping[str, float]

    @property
    def best(self) -> pd.Series:
        """Return the completed trial with the lowest loss.

        Raises:
            ValueError: no trial was completed.
        """
        complete = self.trials[self.trials["state"] == COMPLETE]
        if not len(complete):
            raise ValueError("no trial of this search was completed")
        return complete.loc[complete["loss"].idxmin()]


def objective(history: tuple[Row, ...]) -> float:
    """Return the mean of the last ten logged validation losses, weighted over the questions. [nats]"""
    last = [float(row["test_loss"]) for row in history[-AVERAGED:]]
    return sum(last) / len(last)


def write(search: Search, folder: Path) -> None:
    """Write the result of a search to the files `trials.csv` and `search.json` in a folder."""
    question = search.question
    write_atomically(folder / TRIALS, store.table_bytes(search.trials))
    summary = {
        "p": question.p,
        "epochs": question.epochs,
        "seed": question.seed,
        "space": dict(search.space.choices),
        "importances": dict(search.importances),
    }
    write_atomically(folder / SUMMARY, (json.dumps(summary, indent=1) + "\n").encode())


def read(folder: Path, space: Space) -> Search:
    """Read the result of a search from files that `write` wrote.

    Raises:
        FileNotFoundError: the folder holds no search.
        ValueError: the files of the search are damaged.
    """
    if not (folder / SUMMARY).is_file():
        raise FileNotFoundError(f"no search in {folder}")
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        question = Question(summary["p"], summary["epochs"], summary["seed"])
        return Search(space, question, store.read_table(folder / TRIALS), dict(summary["importances"]))
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ValueError(f"{folder / SUMMARY} is damaged: {error}") from error


def searches(space: Space, root: Path | str | None = None) -> list[Search]:
    """Return the searches of a space stored in a folder of runs (`checkpoints/` by default), by modulus p."""
    pattern = f"{space.source}/search-*"
    summaries = local(root or store.published(), pattern).glob(f"{pattern}/{SUMMARY}")
    return sorted((read(path.parent, space) for path in summaries), key=lambda search: search.question.p)
