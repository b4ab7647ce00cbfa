"""What a network answers as its circles are turned and scaled, beside changes of equal size, and as it is trained."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
import plotly.graph_objects as go

from modinterp.figures.theme import MUTED, TEST, TRAIN, array, with_title

Line = tuple[str, str, str]  # column, mode and colour; the name of a column is the line's


def turns(table: pd.DataFrame) -> go.Figure:
    """What is left of the formula, and how many answers move, as both numbers move by a fraction of a step.

    Args:
        table: `steps`, `formula kept`, `answers moved` (NaN where no token stands) and `kept, random planes`.
    """
    lines = (
        ("formula kept", "lines", TRAIN),
        ("answers moved", "markers", TEST),
        ("kept, random planes", "lines", MUTED),
    )
    title = "Turned circles carry the answer along, also where no token stands; random planes do not"
    return _drawn(table, "steps", lines, "steps that each number moves", title)


def scales(table: pd.DataFrame) -> go.Figure:
    """Accuracy as the circles are scaled, and as other circles are.

    Args:
        table: `dose`, `accuracy` and `accuracy, other circles scaled`.
    """
    lines = (
        ("accuracy", "lines+markers", TRAIN),
        ("accuracy, other circles scaled", "lines+markers", MUTED),
    )
    title = "Accuracy hangs on the size of the circles, and on that of no others"
    return _drawn(table, "dose", lines, "size of the circles, 1 as trained", title)


def onset(table: pd.DataFrame) -> go.Figure:
    """Accuracy and half turn over the snapshots of a training.

    Args:
        table: `epoch`, and the accuracy and the half turn on held-out and on training pairs.
    """
    lines = (
        ("accuracy, training", "lines+markers", MUTED),
        ("accuracy, held-out", "lines+markers", TEST),
        ("half turn, held-out", "lines+markers", TRAIN),
        ("half turn, training", "markers", TRAIN),
    )
    title = "The half turn comes with generalisation, also on the training pairs that are known long before"
    return _drawn(table, "epoch", lines, "epoch", title)


def _drawn(table: pd.DataFrame, across: str, lines: Iterable[Line], label: str, title: str) -> go.Figure:
    figure = go.Figure()
    for column, mode, colour in lines:
        known = table[table[column].notna()]
        figure.add_scatter(x=array(known[across]), y=array(known[column]), name=column, mode=mode, line_color=colour)
    figure.update_xaxes(title_text=label)
    figure.update_yaxes(title_text="share")
    return with_title(figure, title)
