"""Draw figures of appendices D.3 and E.2: long sums, repeated subsequences and skip trigrams."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import plotly.graph_objects as go
import torch

from modinterp.analyses.attention.trigrams import direct_path
from modinterp.figures import sequences
from modinterp.measurements import SequenceMeasurements
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing


def _digits(measured: Mapping[str, SequenceMeasurements]) -> go.Figure | None:
    runs = list(measured.values())
    title = "Each digit of a long sum is learned in a separate sudden drop"
    return sequences.digits([m.history for m in runs], runs[0].task.output_names, title) if runs else None


def _composition(m: SequenceMeasurements) -> go.Figure:
    title = "Neither an induction head nor a previous-token head lowers the loss without the other"
    return sequences.composition(m.previous, m.induction(latest=False), m.losses_without, title)


def _paths(m: SequenceMeasurements) -> go.Figure:
    n = m.task.output_sizes[0]
    path = direct_path(m.model, torch.arange(n, 2 * n))
    return sequences.direct_paths(path, "The heads copy the token that the last token attends to")


FIGURES = {
    "digits": Drawing(
        number="Figure 29 top",
        draw=partial(pairs.curves, title="Long sums, unlimited data: train and test loss agree"),
        all_of=("nanda/digits-endless-*",),
    ),
    "digits_each": Drawing(number="Figure 29 bottom", draw=_digits, all_of=("nanda/digits-endless-*",)),
    "digits_few": Drawing(
        number="Figure 30",
        draw=partial(
            pairs.curves, title="Long sums, 700 examples: train and test loss separate, and the test loss falls late"
        ),
        all_of=("nanda/digits-700-*",),
    ),
    "repeated": Drawing(
        number="Figure 31",
        draw=partial(pairs.curves, title="Repeated subsequences, unlimited data: one sudden drop"),
        all_of=("nanda/repeated-endless-*",),
    ),
    "composition": Drawing(number="Appendix E.2", draw=_composition, first_of=("nanda/repeated-endless-*",)),
    "repeated_few": Drawing(
        number="Figure 32",
        draw=partial(pairs.curves, title="Repeated subsequences, 512 examples: how long the test loss stays high"),
        all_of=("nanda/repeated-512-*",),
    ),
    "trigrams": Drawing(
        number="Figure 33",
        draw=partial(pairs.curves, title="Skip trigrams, unlimited data: one sudden drop"),
        all_of=("nanda/trigram-endless-*",),
    ),
    "trigrams_few": Drawing(
        number="Figure 34",
        draw=partial(pairs.curves, title="Skip trigrams, 512 examples: how far train and test loss separate"),
        all_of=("nanda/trigram-512-*",),
    ),
    "trigrams_path": Drawing(number="Appendix D.3", draw=_paths, first_of=("nanda/trigram-endless-*",)),
}
