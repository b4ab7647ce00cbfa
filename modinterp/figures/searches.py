"""Draw a hyper-parameter search: every trial as a line through its choices, and the importance of each parameter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from modinterp.figures.theme import COS, INK, MUTED, SEQUENTIAL, array, with_title
from modinterp.runs.search import COMPLETE, Search, Space


def parallel_coordinates(search: Search) -> go.Figure:
    """Draw every trial as a line through its choices to its validation loss; pruned trials are thin grey lines."""
    space, trials = search.space, search.trials
    across = list(range(len(space.choices) + 1))
    low, high = float(trials["loss"].min()), float(trials["loss"].max())
    n_complete = int((trials["state"] == COMPLETE).sum())
    figure = go.Figure()
    for row in trials.sort_values("loss", ascending=False).to_dict("records"):
        complete = row["state"] == COMPLETE
        heights = [_height(values, row[name], row["trial"], len(trials)) for name, values in space.choices.items()]
        share = (row["loss"] - low) / (high - low) if high > low else 0.0
        chosen = ", ".join(f"{label} {row[name]:g}" for name, label in space.labels.items())
        about = f"trial {row['trial']}, {row['state']} at epoch {row['epochs']:,}<br>{chosen}"
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
    _scales(figure, space, low, high)
    _legend(figure)
    figure.update_xaxes(
        title="parameter", tickvals=across, ticktext=[*(space.labels[name] for name in space.choices), "loss [nats]"],
        range=[-0.4, len(across) - 0.4], showgrid=True,
    )  # fmt: skip
    figure.update_yaxes(
        title="choice of each parameter, and loss of the trial",
        showticklabels=False,
        showgrid=False,
        range=[-0.08, 1.08],
    )
    question = search.question
    title = f"{n_complete} of {len(trials)} trials ran all {question.epochs:,} epochs (p = {question.p}); "
    return with_title(figure, f"{title}one line for each trial links its choices to its loss")


def _height(values: tuple[float, ...], value: float, trial: int, n_trials: int) -> float:
    """Return the height of a choice on its axis; trials with the same choice are spread out, so that lines are
    distinct.
    """
    choices = sorted(values)
    apart = (trial / max(1, n_trials - 1) - 0.5) * 0.5 / len(choices)
    return choices.index(value) / (len(choices) - 1) * 0.9 + 0.05 + apart * 0.4


def _colour(share: float) -> str:
    """Return the colour of a loss, dark for the lowest; the bright end of the scale is invisible on white and is left
    out.
    """
    return str(sample_colorscale(SEQUENTIAL, [0.85 * share])[0])


def _scales(figure: go.Figure, space: Space, low: float, high: float) -> None:
    """Write the choices beside each axis, and the losses beside the last axis."""
    for place, values in enumerate(space.choices.values()):
        choices = sorted(values)
        for number, value in enumerate(choices):
            height = number / (len(choices) - 1) * 0.9 + 0.05
            figure.add_annotation(
                x=place,
                y=height,
                text=f"{value:g}",
                showarrow=False,
                xshift=-8,
                xanchor="right",
                font={"size": 11, "color": INK},
                bgcolor="rgba(255,255,255,0.8)",
            )
    for share, value in ((0.0, low), (1.0, high)):
        figure.add_annotation(
            x=len(space.choices),
            y=share,
            text=f"{value:.3g}",
            showarrow=False,
            xshift=8,
            xanchor="left",
            font={"size": 11},
        )


def _legend(figure: go.Figure) -> None:
    """Add legend entries that explain the line styles by how a trial ended."""
    kinds = (
        ("full trial, low loss", _colour(0), 2),
        ("full trial, high loss", _colour(1), 2),
        ("pruned trial", MUTED, 1),
    )
    for name, colour, width in kinds:
        figure.add_scatter(x=[0], y=[-1.0], mode="lines", name=name, line={"color": colour, "width": width})


def importances(search: Search) -> go.Figure:
    """Draw the importance of each parameter: how much the parameter distinguishes the best quarter of the trials."""
    shares = pd.Series(dict(search.importances)).sort_values()
    figure = go.Figure(
        go.Bar(
            x=array(shares),
            y=[search.space.labels[str(name)] for name in shares.index],
            orientation="h",
            marker={"color": COS},
            text=[f"{share:.2f}" for share in shares],
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )
    )
    even = 1 / len(shares)
    figure.add_vline(x=even, line={"color": MUTED, "dash": "dot"})
    figure.add_annotation(
        x=even, y=1.0, yref="paper", yanchor="bottom", text="if all parameters mattered equally", showarrow=False
    )
    figure.update_xaxes(title="share of the importance (PED-ANOVA)", range=[0, float(np.max(shares)) * 1.15])
    figure.update_yaxes(title="parameter")
    title = f"The parameter that most distinguishes the best quarter of {len(search.trials)} trials:"
    return with_title(figure, f"{title} {search.space.labels[str(shares.index[-1])]}", 360, False)
