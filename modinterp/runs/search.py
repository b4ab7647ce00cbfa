"""A search for hyper-parameters: its space, what a choice from it stands for, and what was found.

`modinterp.runs.study` carries a search out, with Optuna. What it found lies beside the runs::

    miiii/search-pNN/trials.csv      one row a trial
                     search.json     what was searched, and how much each parameter mattered

That is read without Optuna.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from modinterp.runs import store
from modinterp.runs.catalogue import miiii
from modinterp.tasks import PrimeRemainders
from modinterp.training import Row, RunSpec

SPACE: dict[str, tuple[float, ...]] = {
    "dropout": (0, 1 / 2, 1 / 5, 1 / 10),
    "grokfast": (0, 1 / 2, 2),
    "weight_decay": (0, 1 / 10, 1 / 2, 1),
    "d_model": (128, 256),
    "lr": (3e-4, 1e-4),
    "n_heads": (4, 8),
}
"""Table 1 of Syrkis & Søgaard 2024 (MIIII), 384 combinations: dropout in the residual stream, Grokfast's lambda, ..."""

AVERAGED = 10  # logged losses, whose mean is minimised
REPORTS = 16  # times in a trial's life that its loss is reported, and that it may be pruned
TRIALS, FOUND = "trials.csv", "search.json"
COMPLETE, PRUNED = "complete", "pruned"


@dataclass(frozen=True)
class Question:
    """What is searched: for the best of `SPACE` by the validation loss on remainders in base p (MIIII).

    Attributes:
        p: the base.
        epochs: of a trial that is not pruned.
        seed: of what is drawn from the space, and of the split and the weights of every trial.
    """

    p: int
    epochs: int
    seed: int = 0

    def __post_init__(self) -> None:
        PrimeRemainders(self.p)
        if self.epochs < REPORTS:
            raise ValueError(f"a trial takes at least {REPORTS} epochs, got {self.epochs}")
        if self.seed < 0:
            raise ValueError(f"the seed must be at least 0, got {self.seed}")

    @property
    def report_every(self) -> int:
        """Epochs between two reports of a trial's loss."""
        return self.epochs // REPORTS

    def __str__(self) -> str:
        return f"miiii, p={self.p}, epochs={self.epochs}, seed={self.seed}"


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes:
        trials: one row a finished trial: `trial`, its number; what was chosen, by the names of `SPACE`; `state`,
            `complete` or `pruned`; the `epochs` it ran; its `loss`, the mean of the last ten logged test losses then
            [nats, weighted over the questions]; `test_accuracy` then; `seconds` it took.
        importances: name of a parameter to its share of what sets the best quarter of the trials apart (PED-ANOVA).
    """

    question: Question
    trials: pd.DataFrame
    importances: Mapping[str, float]

    @property
    def best(self) -> pd.Series:
        """The trial with the lowest loss of those that ran to their end.

        Raises:
            ValueError: none did.
        """
        ended = self.trials[self.trials["state"] == COMPLETE]
        if not len(ended):
            raise ValueError("no trial of this search ran to its end")
        return ended.loc[ended["loss"].idxmin()]


def spec_of(choice: Mapping[str, float], question: Question) -> RunSpec:
    """The training that a choice from `SPACE` stands for; all else is as in the source's own runs.

    Raises:
        ValueError: a choice that is not in the space.
    """
    if set(choice) != set(SPACE) or any(value not in SPACE[name] for name, value in choice.items()):
        raise ValueError(f"expected one of the values of each of {', '.join(SPACE)}, got {dict(choice)}")
    task, every = PrimeRemainders(question.p), question.report_every
    recipe = replace(
        miiii.RECIPE,
        epochs=question.epochs,
        residual_dropout=float(choice["dropout"]),  # a table's numbers are numpy's, which torch takes for float64
        grokfast=float(choice["grokfast"]),
        weight_decay=float(choice["weight_decay"]),
        lr=float(choice["lr"]),
        log_every=min(miiii.RECIPE.log_every, max(1, every // AVERAGED)),
        snapshot_every=every,
        spectra_every=0,
    )
    return RunSpec(task, miiii.network(task, int(choice["d_model"]), int(choice["n_heads"])), recipe, question.seed)


def objective(history: tuple[Row, ...]) -> float:
    """Mean of the last ten logged validation losses, weighted over the questions. [nats]"""
    last = [float(row["test_loss"]) for row in history[-AVERAGED:]]
    return sum(last) / len(last)


def write(found: Search, folder: Path) -> None:
    """Keep what a search found as `trials.csv` and `search.json`."""
    question = found.question
    store.write(folder / TRIALS, store.table_bytes(found.trials))
    told = {
        "p": question.p,
        "epochs": question.epochs,
        "seed": question.seed,
        "space": SPACE,
        "importances": dict(found.importances),
    }
    store.write(folder / FOUND, (json.dumps(told, indent=1) + "\n").encode())


def read(folder: Path) -> Search:
    """What `write` kept.

    Raises:
        FileNotFoundError: no search lies there.
        ValueError: what lies there is damaged.
    """
    if not (folder / FOUND).is_file():
        raise FileNotFoundError(f"no search in {folder}")
    try:
        told = json.loads((folder / FOUND).read_text())
        question = Question(told["p"], told["epochs"], told["seed"])
        return Search(question, store.read_table(folder / TRIALS), dict(told["importances"]))
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ValueError(f"{folder / FOUND} is damaged: {error}") from error


def searches(root: Path | None = None) -> list[Search]:
    """Every search that lies in a folder of runs (`checkpoints/` by default), by p."""
    folders = [path.parent for path in (root or store.checkpoints()).glob(f"miiii/search-*/{FOUND}")]
    return sorted(map(read, folders), key=lambda found: found.question.p)
