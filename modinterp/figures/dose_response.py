"""Draw interventions on embedding circles: scaling and rotating circles, effects on the logits, and their onset."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.figures.animation import with_slider
from modinterp.figures.theme import CATEGORIES, MUTED, TEST, TRAIN, array, heatmap, with_title


def dose_response(doses: pd.DataFrame, turns: pd.DataFrame, title: str) -> go.Figure:
    """Draw accuracy against the scale of the circles, and the formula's fit as the circles rotate, with controls in
    grey.

    Args:
        doses, turns: the tables `dose_response` and `turn_response` of `m.causal`.
        title: title of the figure, which says what to see.
    """
    names = ("accuracy with scaled circles of the embedding", "logits and answers after circles rotate")
    figure = make_subplots(1, 2, subplot_titles=names, horizontal_spacing=0.12)
    lines = (
        (1, doses["dose"], doses["accuracy"], "accuracy with key circles scaled", CATEGORIES[0]),
        (1, doses["dose"], doses["accuracy, other circles scaled"], "accuracy with other circles scaled", MUTED),
        (2, turns["steps"], turns["formula kept"], "fit of the moved formula", CATEGORIES[0]),
        (2, turns["steps"], turns["kept, random planes"], "fit of the moved formula, random planes rotated", MUTED),
    )
    for column, x, y, name, colour in lines:
        figure.add_trace(go.Scatter(x=x, y=y, name=name, line={"color": colour}), row=1, col=column)
    whole = turns.dropna(subset="answers moved")
    dots = go.Scatter(
        x=whole["steps"], y=whole["answers moved"], name="answers changed as predicted", mode="markers",
        marker={"color": CATEGORIES[1], "size": 9},
    )  # fmt: skip
    figure.add_trace(dots, row=1, col=2)
    figure.update_xaxes(title="size of the circles [1: unchanged]", col=1)
    figure.update_xaxes(title="rotation of each number [residues]", col=2)
    figure.update_yaxes(range=[-0.05, 1.05])
    figure.update_yaxes(title="accuracy", col=1)
    figure.update_yaxes(title="share of kept fit, or of changed answers", col=2)
    return with_title(figure, title, 460)


def dial(logits: pd.DataFrame, title: str) -> go.Figure:
    """Draw the mean logit by distance from the right answer, with a slider that rotates the circles.

    Args:
        logits: the result `dial` of `m.causal`.
        title: title of the figure, which says what to see.
    """
    steps = [f"{step:g}" for step in dict.fromkeys(logits["steps"])]

    def traces(step: int | str) -> list[go.Scatter]:
        some = logits[logits["steps"] == float(step)]
        wide, thin = {"color": MUTED, "width": 5}, {"color": CATEGORIES[0]}
        return [
            go.Scatter(x=some["distance"], y=some["foretold"], name="predicted by the formula", line=wide),
            go.Scatter(x=some["distance"], y=some["logit"], name="logits of the network", line=thin),
        ]

    figure = go.Figure(traces(steps[0]))
    figure.update_xaxes(title="class minus right answer [residues]")
    figure.update_yaxes(
        title="mean logit of the class", range=[logits["foretold"].min() * 1.1, logits["foretold"].max() * 1.1]
    )
    with_title(figure, title, 420)
    return with_slider(figure, steps, traces, (0, 1), "rotation of each number [residues]")


def cross_effects(degrees: Float[Tensor, "turned read"], freqs: Sequence[int], title: str) -> go.Figure:
    """Draw how far each frequency's wave in the logits turns when one circle of the embedding is rotated.

    Args:
        degrees: the result `cross_effects` of `m.causal`. [degrees]
        freqs: frequency of each circle. [cycles per p]
        title: title of the figure, which says what to see.
    """
    names = [str(k) for k in freqs]
    drawn = heatmap(degrees, "frequency in the logits", "frequency rotated in the embedding", "turn [degrees]")
    drawn.update(x=names, y=names)
    figure = go.Figure(drawn)
    figure.update_xaxes(title="frequency of the wave in the logits [cycles per p]", type="category")
    figure.update_yaxes(title="frequency rotated by 45 degrees", type="category")
    return with_title(figure, title, 420, False)


def onset(table: pd.DataFrame) -> go.Figure:
    """Draw accuracy, and the response to a half turn of the circles, over the snapshots of a training.

    Args:
        table: the table `onset` of `m.causal`.
    """
    lines = (
        ("accuracy, training", "accuracy on training pairs", "lines+markers", MUTED),
        ("accuracy, held-out", "accuracy on held-out pairs", "lines+markers", TEST),
        ("half turn, held-out", "held-out pairs changed by half a step", "lines+markers", TRAIN),
        ("half turn, training", "training pairs changed by half a step", "markers", TRAIN),
    )
    figure = go.Figure()
    for column, name, mode, colour in lines:
        figure.add_scatter(x=array(table["epoch"]), y=array(table[column]), name=name, mode=mode, line_color=colour)
    figure.update_xaxes(title_text="epoch")
    figure.update_yaxes(title_text="share of the pairs")
    return with_title(
        figure,
        "Rotating circles by half a step changes answers only once the network generalises, even on training pairs",
    )
