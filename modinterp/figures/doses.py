"""What a network answers as its circles are turned and scaled, beside changes of equal size."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.figures.theme import MUTED, TEST, TRAIN, array, with_title

_TITLE = "Circles that are turned carry the answer along; controls of equal size do not"


def doses(turns: pd.DataFrame, scales: pd.DataFrame, title: str = _TITLE) -> go.Figure:
    """Dose and response of turns, and of scaling; the controls are grey.

    Args:
        turns: `steps`, `formula kept`, `answers moved` (NaN where no token stands) and `kept, random planes`.
        scales: `dose`, `accuracy` and `accuracy, other circles scaled`.
    """
    figure = make_subplots(1, 2, subplot_titles=("circles turned", "circles scaled"))
    lines = (
        (turns, "steps", "formula kept", "formula kept", "lines", TRAIN, 1),
        (turns, "steps", "answers moved", "answers moved as foretold", "markers", TEST, 1),
        (turns, "steps", "kept, random planes", "formula kept, random planes", "lines", MUTED, 1),
        (scales, "dose", "accuracy", "accuracy", "lines+markers", TRAIN, 2),
        (scales, "dose", "accuracy, other circles scaled", "accuracy, other circles", "lines+markers", MUTED, 2),
    )
    for table, across, column, name, mode, colour, panel in lines:
        figure.add_scatter(
            x=array(table[across]),
            y=array(table[column]),
            name=name,
            mode=mode,
            line={"color": colour},
            row=1,
            col=panel,
        )
    figure.update_xaxes(title_text="steps that each number moves", row=1, col=1)
    figure.update_xaxes(title_text="size of the circles, 1 as trained", row=1, col=2)
    figure.update_yaxes(title_text="share", row=1, col=1)
    return with_title(figure, title)
