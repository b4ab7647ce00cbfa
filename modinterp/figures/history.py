"""Draw accuracy and loss over training (Nanda et al. 2023, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.figures.theme import LOSS_AXIS, TEST, TRAIN, array, colour_of, with_title

GROKKED = (
    "The network memorises early and generalises much later: the test loss first rises and then falls to near zero"
)


def mean_history(histories: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the mean of several histories at every logged epoch; an ended training counts with its last row."""
    columns = pd.concat([h.set_index("epoch") for h in histories], axis=1, keys=range(len(histories))).sort_index()
    return columns.ffill().T.groupby(level=1).mean().T.rename_axis("epoch").reset_index()


def partings(distances: Mapping[str, pd.DataFrame], title: str) -> go.Figure:
    """Draw the distances between pairs of trainings over the epochs.

    Args:
        distances: map from the name of a run to a table with the columns `epoch` and `distance`, as shares of the norm.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for number, (name, table) in enumerate(distances.items()):
        figure.add_scatter(
            x=array(table["epoch"]),
            y=array(table["distance"]),
            name=name,
            line={"color": colour_of(number, range(len(distances))), "width": 1.5},
        )
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="distance of the weights, over their norm", type="log")
    return with_title(figure, title)


def curves(histories: Mapping[str, pd.DataFrame], title: str = GROKKED) -> go.Figure:
    """Draw accuracy and loss of several runs over training, as thin lines, and their means, as bold lines.

    Args:
        histories: map from the name of a run to its history.
        title: title of the figure, which says what to see.
    """
    figure = make_subplots(1, 2, subplot_titles=("accuracy", "cross-entropy"), horizontal_spacing=0.1)
    mean = mean_history(list(histories.values()))
    for column, kind in enumerate(("accuracy", "loss"), start=1):
        for split, colour in (("train", TRAIN), ("test", TEST)):
            key = f"{split}_{kind}"
            for name, history in histories.items():
                figure.add_scatter(
                    x=array(history["epoch"]),
                    y=array(history[key]),
                    name=f"{split}, {name}",
                    legendgroup=split,
                    showlegend=False,
                    line={"color": colour, "width": 1},
                    opacity=0.45,
                    row=1,
                    col=column,
                )
            figure.add_scatter(
                x=array(mean["epoch"]),
                y=array(mean[key]),
                name=f"{split}, mean of {len(histories)}" if len(histories) > 1 else split,
                legendgroup=split,
                showlegend=column == 1,
                line={"color": colour, "width": 2.5},
                row=1,
                col=column,
            )
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="accuracy", col=1)
    figure.update_yaxes(**LOSS_AXIS, col=2)
    figure.update_layout(hovermode="closest")
    return with_title(figure, title)
