"""Apply two interventions to a network with two tasks, and measure what each intervention costs each task."""

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
    """Return the accuracy of each task of a network of remainders, when functions of one period are removed or kept
    alone.

    The table of accuracies has one row for each intervention and task. Columns are `change` (`without`, `alone`, or
    `random`: as many random directions removed), `period`, `task` (the task's own period), `accuracy`, and `chance`
    (the share of the most frequent answer).
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
    """Return the accuracy under one kind of change from the table of `by_period`: one row per period and one column per
    task.
    """
    found = table[table["change"] == change].pivot(index="period", columns="task", values="accuracy")
    return found.rename_axis(index=None, columns=None).rename("period {}".format).rename(columns="mod {}".format)


def by_rule(m: CyclicMeasurements, site: Literal["logits", "embedding"] = "logits") -> pd.DataFrame:
    """Return the accuracy on addition and on its exceptions: with all circles, without the key circles, and with them
    alone.

    Accuracy on the rule is measured on held-out pairs, with the right sum as the answer. Recall is measured on the
    exceptions, with the wrong answers on which the network was trained.

    Args:
        site: `logits` to change the part of the logits that depends only on the sum; or `embedding`. A change at the
            neurons of the last layer would give the same result as at the logits, by algebra.
    Returns:
        a table with one row per change and one column per task.
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
