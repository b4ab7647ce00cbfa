"""Draw sequence networks: addition by digits, induction heads, skip trigrams (Nanda et al. 2023, figures 29 to 33)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.figures.history import mean_history
from modinterp.figures.sweeps import scale
from modinterp.figures.theme import CATEGORIES, INK, array, colour_of, heatmap, with_title


def digits(histories: Sequence[pd.DataFrame], names: Sequence[str], title: str) -> go.Figure:
    """Draw the test loss of each digit and of all digits over training: thin lines for runs, bold lines for means.

    Args:
        histories: tables with a column `test_loss_NAME` for each digit.
        names: names of the digits, with the most significant digit first.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    histories = [history.query("epoch > 0") for history in histories]
    mean = mean_history(histories)
    columns = {
        f"test_loss_{name}": (f"digit {place}", colour, 2.5)
        for place, (name, colour) in enumerate(zip(names, scale(len(names)), strict=True))
    }
    for column, (name, colour, width) in (columns | {"test_loss": ("mean of all digits", INK, 1.5)}).items():
        for history in histories if len(histories) > 1 else ():
            figure.add_scatter(
                x=array(history["epoch"]),
                y=array(history[column]),
                name=name,
                legendgroup=name,
                showlegend=False,
                opacity=0.4,
                line={"color": colour, "width": 1},
            )
        figure.add_scatter(
            x=array(mean["epoch"]),
            y=array(mean[column]),
            name=name,
            legendgroup=name,
            line={"color": colour, "width": width, "dash": "dot" if column == "test_loss" else "solid"},
            hovertemplate="step %{x}<br>%{y:.4g} nats<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="training step", type="log")
    figure.update_yaxes(title="test loss [nats]", type="log", exponentformat="power")
    return with_title(figure, title, 460)


def composition(
    previous: Float[Tensor, " head"], induction: Float[Tensor, " head"], losses: Mapping[str, float], title: str
) -> go.Figure:
    """Draw previous-token scores of the first layer, induction scores of the last layer, and losses without certain
    heads.

    Args:
        previous: mean attention of the first layer's heads to the previous token.
        induction: mean attention of the last layer's heads to the token after an earlier copy of the current token.
        losses: map from the name of the ablated heads to the loss without these heads. [nats]
        title: title of the figure, which says what to see.
    """
    names = ("first layer: attention to the previous token", "last layer: attention after a copy", "loss without heads")
    figure = make_subplots(1, 3, subplot_titles=names, horizontal_spacing=0.1)
    for col, scores in enumerate((previous, induction), start=1):
        heads = range(len(scores))
        figure.add_bar(
            x=[f"head {head}" for head in heads],
            y=array(scores),
            row=1,
            col=col,
            marker_color=[colour_of(head, heads) for head in heads],
        )
        figure.update_yaxes(title="mean attention", range=[0, 1], row=1, col=col)
        figure.update_xaxes(title="head", row=1, col=col)
    figure.add_bar(
        x=list(losses),
        y=list(losses.values()),
        marker_color=CATEGORIES[7],
        row=1,
        col=3,
        text=[f"{loss:.2g}" for loss in losses.values()],
        textposition="outside",
        cliponaxis=False,
    )
    figure.update_yaxes(title="loss [nats]", type="log", exponentformat="power", row=1, col=3)
    figure.update_xaxes(title="heads removed", row=1, col=3)
    return with_title(figure, title, legend=False)


def direct_paths(logits: Float[Tensor, "token output"], title: str) -> go.Figure:
    """Draw a heat-map of the logit that each attended token adds to each answer.

    Args:
        logits: logits of the direct path, from `modinterp.analyses.attention.trigrams.direct_path`.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure(heatmap(logits, "answer", "token attended to", "logit", diverging=True))
    figure.update_xaxes(title="answer", dtick=1)
    figure.update_yaxes(title="token attended to [index]", dtick=1, autorange="reversed")
    return with_title(figure, title, 480, legend=False)
