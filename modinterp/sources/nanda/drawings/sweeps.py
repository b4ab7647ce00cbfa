"""Draw figures of appendices C.2.2, D.1 and D.2: trainings in which one number of the recipe or the task changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch

from modinterp.figures import sweeps
from modinterp.figures.theme import EXCLUDED, TEST, TRAIN
from modinterp.measurements import CyclicMeasurements
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing
from modinterp.sources.nanda.claims.fractions import epoch_below
from modinterp.sources.nanda.runs import MAIN, SEEDS

Measured = Mapping[str, CyclicMeasurements]

EXCLUSION = {
    "train_loss": ("train loss", TRAIN),
    "test_loss": ("test loss", TEST),
    "excluded_loss_train": ("excluded loss", EXCLUDED),
}


def _has_own_runs(measured: Measured) -> bool:
    """Return True if there are runs of a sweep beside those of the paper's own recipe, which belong to several sweeps."""
    return not set(measured) <= set(SEEDS)


def _sweep(
    measured: Measured, value: Callable[[CyclicMeasurements], tuple[float, str]], title: str, log_epochs: bool = False
) -> go.Figure | None:
    """Return the losses over training in one scale of colours; None where there are no runs of the sweep's own.

    Args:
        measured: name of a run to its measurements.
        value: of a run, what is swept: its value, by which the curves are ordered, and how it is written.
        title: what to see.
        log_epochs: whether the axis of epochs is logarithmic.
    """
    if not _has_own_runs(measured):
        return None
    groups: dict[tuple[float, str], list[pd.DataFrame]] = {}
    for m in measured.values():
        groups.setdefault(value(m), []).append(m.history)
    return sweeps.sweep({name: groups[key, name] for key, name in sorted(groups)}, title, log_epochs=log_epochs)


def _fraction(m: CyclicMeasurements) -> tuple[float, str]:
    return m.recipe.fraction, f"{m.recipe.fraction:.0%}"


def _decay(m: CyclicMeasurements) -> tuple[float, str]:
    return m.recipe.weight_decay, f"weight decay {m.recipe.weight_decay:g}"


def _dropout(m: CyclicMeasurements) -> tuple[float, str]:
    return m.recipe.dropout, f"dropout {m.recipe.dropout:g}"


def _penalty(m: CyclicMeasurements) -> tuple[float, str]:
    """Strength of the penalty and what it is of; a mean over all weights counts as far weaker than their sum."""
    scale = 1e6 if m.recipe.l1_of == "mean" else 1
    return m.recipe.l1 / scale, f"{m.recipe.l1:g} × the {m.recipe.l1_of} of |w|"


def _precision(m: CyclicMeasurements) -> tuple[float, str]:
    return -torch.finfo(getattr(torch, m.recipe.loss_dtype)).bits, m.recipe.loss_dtype


def _thresholds(measured: Measured) -> go.Figure | None:
    rows = [
        {"fraction": m.recipe.fraction, "split": split, "loss": loss, "epochs": epoch_below(m, split, loss)}
        for m in measured.values()
        for split in ("train", "test")
        for loss in (1e-2, 1e-4, 1e-6)
    ]
    title = "The more data, the sooner the test loss falls; the train loss hardly changes"
    return sweeps.thresholds(pd.DataFrame(rows).dropna(), title) if _has_own_runs(measured) else None


def _exclusion(measured: Measured, title: str) -> go.Figure | None:
    """Excluded loss beside train and test loss, of those runs whose progress measures are shipped."""
    tables = {name: m.run.progress for name, m in measured.items() if m.run.progress is not None}
    return sweeps.measures_of_seeds(tables, EXCLUSION, title) if tables else None


FIGURES = {
    "fractions": Drawing(
        number="Figure 20",
        draw=partial(
            _sweep,
            value=_fraction,
            title="The fewer training pairs, the later the network generalises",
            log_epochs=True,
        ),
        all_of=("nanda/fraction-*", MAIN),
    ),
    "thresholds": Drawing(number="Figure 21", draw=_thresholds, all_of=("nanda/fraction-*", MAIN)),
    "two_layers": Drawing(
        number="Figure 22",
        draw=partial(pairs.curves, title="Networks of two layers grok to some degree, with slingshots"),
        all_of=("nanda/two-layers-*",),
    ),
    "two_layers_excluded": Drawing(
        number="Figure 23",
        draw=partial(_exclusion, title="Two layers: excluded loss rises before test loss falls"),
        all_of=("nanda/two-layers-*",),
    ),
    "p53": Drawing(
        number="Figure 24",
        draw=partial(
            _sweep,
            value=_decay,
            title="Loss mod 53 for each weight decay: thin lines are networks, bold lines their means",
        ),
        all_of=("nanda/p53-*",),
    ),
    "p109": Drawing(
        number="Appendix C.2.2",
        draw=partial(pairs.curves, title="The network groks mod 109 as it does mod 113"),
        all_of=("nanda/p109-*",),
    ),
    "p401": Drawing(
        number="Figure 25",
        draw=partial(
            _sweep,
            value=_decay,
            title="Mod 401, test and train loss fall together for every weight decay",
            log_epochs=True,
        ),
        all_of=("nanda/p401-decay-*",),
    ),
    "p401_fractions": Drawing(
        number="Appendix C.2.2",
        draw=partial(
            _sweep,
            value=_fraction,
            title=(
                "Mod 401, networks do not generalise from a tenth of the pairs; from a fifth, the network "
                "generalises at once"
            ),
            log_epochs=True,
        ),
        all_of=("nanda/p401-fraction-*",),
    ),
    "no_decay": Drawing(
        number="Figure 26",
        draw=partial(_exclusion, title="Without weight decay, the excluded loss stays near the train loss"),
        all_of=("nanda/no-decay-*",),
    ),
    "decays": Drawing(
        number="Figure 27",
        draw=partial(_sweep, value=_decay, title="The less weight decay, the later the network groks", log_epochs=True),
        all_of=("nanda/decay-*", *SEEDS),
    ),
    "dropout": Drawing(
        number="Figure 28",
        draw=partial(
            _sweep,
            value=_dropout,
            title="Losses of networks trained with dropout in place of weight decay",
            log_epochs=True,
        ),
        all_of=("nanda/dropout-*",),
    ),
    "l1": Drawing(
        number="Figure 28",
        draw=partial(
            _sweep,
            value=_penalty,
            title="Losses of networks trained with an L1 penalty in place of weight decay",
            log_epochs=True,
        ),
        all_of=("nanda/l1-*",),
    ),
    "precision": Drawing(
        number="Appendix D.2",
        draw=partial(_sweep, value=_precision, title="A loss in low precision jumps up repeatedly (slingshots)"),
        all_of=("nanda/float*", MAIN),
    ),
}
