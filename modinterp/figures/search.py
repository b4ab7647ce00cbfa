"""A search for hyper-parameters: every trial as a line through its choices, and how much each choice mattered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from modinterp.figures.theme import COS, INK, MUTED, SEQUENTIAL, array, framed
from modinterp.runs.search import COMPLETE, SPACE, Search

_NAMES = {
    "dropout": "dropout",
    "grokfast": "Grokfast's λ",
    "weight_decay": "weight decay",
    "d_model": "d_model",
    "lr": "learning rate",
    "n_heads": "heads",
}


def parallel_coordinates(found: Search) -> go.Figure:
    """Every trial as a line through its choices to its validation loss; those that were pruned are thin and grey."""
    trials = found.trials
    names, across = [*SPACE, "loss"], list(range(len(SPACE) + 1))
    low, high = float(trials["loss"].min()), float(trials["loss"].max())
    ended = int((trials["state"] == COMPLETE).sum())
    figure = go.Figure()
    for row in trials.sort_values("loss", ascending=False).to_dict("records"):
        complete = row["state"] == COMPLETE
        heights = [_height(name, row[name], row["trial"], len(trials)) for name in SPACE]
        share = (row["loss"] - low) / (high - low) if high > low else 0.0
        told = [f"{_NAMES[name]} {row[name]:g}" for name in SPACE]
        about = f"trial {row['trial']}, {row['state']} at epoch {row['epochs']:,}<br>{', '.join(told)}"
        figure.add_scatter(
            x=across,
            y=array([*heights, share]),
            mode="lines+markers",
            line={"color": _colour(share) if complete else MUTED, "width": 2 if complete else 1},
            opacity=0.9 if complete else 0.45,
            marker={"size": 4},
            showlegend=False,
            hovertemplate=f"{about}<br>loss {row['loss']:.4g}, test accuracy {row['test_accuracy']:.3f}<extra></extra>",
        )
    _scales(figure, low, high)
    _legend(figure)
    figure.update_xaxes(
        title="parameter", tickvals=across, ticktext=[*(_NAMES[n] for n in SPACE), "loss [nats]"],
        range=[-0.4, len(names) - 0.4], showgrid=True,
    )  # fmt: skip
    figure.update_yaxes(title="choice; validation loss", showticklabels=False, showgrid=False, range=[-0.08, 1.08])
    title = f"{ended} of {len(trials)} trials of {found.question.epochs:,} epochs ended, p = {found.question.p}: "
    return framed(figure, f"{title}each a line through its choices to its loss")


def _height(name: str, value: float, trial: int, trials: int) -> float:
    """Where a choice stands on its axis; trials of one choice stand beside each other, so that lines can be told."""
    choices = sorted(SPACE[name])
    apart = (trial / max(1, trials - 1) - 0.5) * 0.5 / len(choices)
    return choices.index(value) / (len(choices) - 1) * 0.9 + 0.05 + apart * 0.4


def _colour(share: float) -> str:
    """Dark and cold for the lowest loss; the bright end of the scale, which white swallows, is left out."""
    return str(sample_colorscale(SEQUENTIAL, [0.85 * share])[0])


def _scales(figure: go.Figure, low: float, high: float) -> None:
    """The choices beside each axis, and the losses beside the last."""
    for place, name in enumerate(SPACE):
        choices = sorted(SPACE[name])
        for number, value in enumerate(choices):
            height = number / (len(choices) - 1) * 0.9 + 0.05
            figure.add_annotation(x=place, y=height, text=f"{value:g}", showarrow=False, xshift=-8, xanchor="right",
                                  font={"size": 11, "color": INK}, bgcolor="rgba(255,255,255,0.8)")  # fmt: skip
    for share, value in ((0.0, low), (1.0, high)):
        figure.add_annotation(x=len(SPACE), y=share, text=f"{value:.3g}", showarrow=False, xshift=8, xanchor="left",
                              font={"size": 11})  # fmt: skip


def _legend(figure: go.Figure) -> None:
    kinds = (("to its end, low loss", _colour(0), 2), ("to its end, high loss", _colour(1), 2), ("pruned", MUTED, 1))
    for name, colour, width in kinds:
        figure.add_scatter(x=[0], y=[-1.0], mode="lines", name=name, line={"color": colour, "width": width})


def importances(found: Search) -> go.Figure:
    """How much each parameter sets the best quarter of the trials apart from all, as shares of 1."""
    shares = pd.Series(dict(found.importances)).sort_values()
    figure = go.Figure(
        go.Bar(
            x=array(shares),
            y=[_NAMES[str(name)] for name in shares.index],
            orientation="h",
            marker={"color": COS},
            text=[f"{share:.2f}" for share in shares],
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )
    )
    even = 1 / len(SPACE)
    figure.add_vline(x=even, line={"color": MUTED, "dash": "dot"})
    figure.add_annotation(x=even, y=1.0, yref="paper", yanchor="bottom", text="if all mattered alike", showarrow=False)
    figure.update_xaxes(title="share of the importance (PED-ANOVA)", range=[0, float(np.max(shares)) * 1.15])
    figure.update_yaxes(title="parameter")
    title = f"What sets the best quarter of {len(found.trials)} trials apart: most of all"
    return framed(figure, f"{title} {_NAMES[str(shares.index[-1])]}", 360, False)
