"""Collect the tables and figures behind the explanation of a network on sequences."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import plotly.graph_objects as go

from modinterp.figures import measured, ordering, positions
from modinterp.measurements import NoSuchPart, OrderMeasurements, PositionMeasurements
from modinterp.runs import NotRecorded


def tables(m: PositionMeasurements) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the title and the content of every table behind the numbers of a network on sequences."""
    yield "Answers by position", m.answering.by_position()
    others = {
        "Answers by kind of input": m.answering.by_kind,
        "Inputs with a wrong answer, the most confident answers first": m.answering.failures,
        "Mean attention of each head": m.inside.looks,
        "Loss with each part replaced by its mean": lambda: m.inside.effects,
        "What each part adds to the right logit": lambda: m.inside.attribution,
        "Which head fetches which digits": m.carrying.fetched,
    }
    for title, table in others.items():
        try:
            found = table()
        except NotRecorded:
            continue
        if len(found):
            yield title, found


def figures(m: PositionMeasurements) -> Iterator[tuple[str, go.Figure]]:
    """Yield the key and the figure for each figure of a network on sequences."""
    found = m.answering.by_position()
    lines = {name: (list(range(len(found))), found[name].tolist()) for name in ("accuracy", "at least", "at most")}
    if len(found) > 1:
        title = "Share of right answers at each position, with the 95% interval"
        yield "by_position", measured.curves(lines, ("position that is read", "share"), title)
    kinds = m.answering.by_kind()
    if len(kinds):
        yield (
            "by_kind",
            positions.by_kind(kinds, "Share of right answers for each kind of input, with the 95% interval"),
        )
    try:
        attention = m.inside.attention
    except NoSuchPart:
        return
    names = m.task.position_names
    heads = {f"head {layer}.{h}": x for layer, some in enumerate(attention) for h, x in enumerate(some)}
    yield "attention", positions.attention(heads, names, "Mean attention of each head over the inputs")
    yield (
        "effects",
        positions.effects(m.inside.effects, "Rise of the loss when a part of the network is replaced by its mean"),
    )
    if isinstance(m, OrderMeasurements):
        try:
            m["proven"]
        except NotRecorded:
            return
        yield "proven", ordering.proven_shares(m.bound, m.accuracy)
