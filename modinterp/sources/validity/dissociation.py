"""Two interventions and two tasks of one network: the cost of each intervention for each task."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.interventions.periods import accuracies_with, period_projector, random_projector
from modinterp.measurements import CyclicMeasurements, PairMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.sources.validity.task import AdditionWithExceptions

PERIODS = (2, 3, 5, 7)
LARGEST = 23  # period of the tasks that are looked at
RULE, RECALL = "rule: held-out sums", "recall: exceptions"
WHOLE, WITHOUT, ALONE = "nothing changed", "without the circles", "the circles alone"
_ROWS = 1500


def by_period(m: PairMeasurements) -> pd.DataFrame:
    """Return the accuracy of each task of a network of remainders with functions of one period out of the embedding, or
    alone.

    Table with one row for each intervention. Columns are `change` (`without`, `alone`, or `random` for as many random
    directions out), `period`, `task` (its own period), `accuracy`, and `chance` (the share of the most frequent
    answer).
    """
    E = m.model.embed.W_E[: m.task.p].detach().cpu().double()
    rows = torch.randperm(len(m.task.inputs()), generator=torch.Generator().manual_seed(0))[:_ROWS]
    chance = [float(labels.bincount().max() / len(labels)) for labels in m.task.labels()[rows].T.contiguous()]
    found = []
    for q in PERIODS:
        part = period_projector(m.task.p, q) @ E
        tables = {
            "without": E - part,
            "alone": E.mean(dim=0) + part,
            "random": E - random_projector(m.task.p, q - 1) @ E,
        }
        for change, table in tables.items():
            accuracies = accuracies_with(m.model, m.task, table, rows).tolist()
            found += [
                (change, q, task, accuracy, by_chance)
                for task, accuracy, by_chance in zip(m.task.output_sizes, accuracies, chance, strict=True)
                if task <= LARGEST
            ]
    return pd.DataFrame(found, columns=["change", "period", "task", "accuracy", "chance"])


def of_change(table: pd.DataFrame, change: str) -> pd.DataFrame:
    """Return the accuracy under one kind of change, one row a period and one column a task, from the table of
    `by_period`.
    """
    found = table[table["change"] == change].pivot(index="period", columns="task", values="accuracy")
    return found.rename_axis(index=None, columns=None).rename("period {}".format).rename(columns="mod {}".format)


def by_rule(m: CyclicMeasurements, site: Literal["logits", "embedding"] = "logits") -> pd.DataFrame:
    """Return the accuracy on the rule and on its exceptions, with the key circles taken out and left alone.

    The rule is asked of the held-out pairs and of the right sum. Recall is asked of the exceptions, which were trained
    on with wrong answers, and of these answers.

    Args:
        site: `logits`, where the part that depends on the sum alone is taken out; or `embedding`. At the neurons of the
            last layer the same part would come out as at the logits, by algebra, and show nothing more.
    Returns:
        one row a change, one column a task.
    Raises:
        NoSuchPart: the network was not trained on exceptions.
    """
    if not isinstance(m.task, AdditionWithExceptions):
        raise NoSuchPart(f"the task {m.task.name} has no exceptions")
    without = m.without(frequencies=m.freqs, site=site).logits
    alone = m.logits.double() - without if site == "logits" else None
    changed = {WHOLE: m.logits, WITHOUT: without, ALONE: alone}
    exceptions = m.task.exceptions()
    return pd.DataFrame(
        {
            RULE: {
                name: _share(x, m.basis.answers[:, 0], m.split.test) for name, x in changed.items() if x is not None
            },
            RECALL: {name: _share(x, m.task.answers(), exceptions) for name, x in changed.items() if x is not None},
        }
    )


def _share(logits: Float[Tensor, "a b output"], answers: Int[Tensor, " pair"], rows: Int[Tensor, " row"]) -> float:
    """Return the share of some pairs whose answer is the one that is asked for."""
    said = logits.flatten(0, 1).argmax(dim=-1).cpu()
    return float((said == answers)[rows].double().mean())
