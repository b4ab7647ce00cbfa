"""Animate a figure: add a slider and a play button over the values of one quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

MILLISECONDS, BELOW = 90, 140  # of a frame; pixels of the slider and the button
_MARGIN = 56  # pixels below a figure that has neither


class Slider(NamedTuple):
    """The name of a slider, and the values of the slider as text."""

    name: str
    steps: tuple[str, ...]


def without_slider(figure: go.Figure) -> tuple[go.Figure, Slider | None]:
    """Return a copy of an animated figure without its slider, together with the slider's name and values.

    Use `without_slider` for a page that has its own slider.

    A figure without animation is returned unchanged, with None instead of a slider.
    """
    if not figure.frames:
        return figure, None
    still = go.Figure(figure)
    prefix = still.layout.sliders[0].currentvalue.prefix
    still.update_layout(sliders=None, updatemenus=None, margin_b=_MARGIN, overwrite=True)
    still.update_layout(height=still.layout.height + _MARGIN - BELOW)
    return still, Slider(prefix.removesuffix(" = "), tuple(frame.name for frame in still.frames))


def with_slider(
    figure: go.Figure, steps: Sequence[int | str], traces: Callable[[Any], list], places: Sequence[int], name: str
) -> go.Figure:
    """Add frames, a slider and a play button to a figure whose size is set.

    Each frame holds only the values that differ from the figure's traces; plotly takes the rest from the traces.

    Args:
        steps: values that the slider takes.
        traces: function from a value of the slider to the traces that move, in the order of `places`.
        places: indices of the figure's traces that move.
        name: name of the quantity that the slider sets, such as "a".
    """
    figure.update_layout(margin_b=BELOW, height=figure.layout.height + BELOW - figure.layout.margin.b)
    one_pixel = 1 / (figure.layout.height - BELOW - figure.layout.margin.t)
    still = [figure.data[place].to_plotly_json() for place in places]
    figure.frames = [
        {"data": list(map(_changed, traces(step), still)), "traces": list(places), "name": str(step)} for step in steps
    ]
    at_once = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    playing = {
        "frame": {"duration": MILLISECONDS, "redraw": True},
        "fromcurrent": True,
        "transition": {"duration": 0},
    }
    figure.update_layout(
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "x": 0,
                "y": -78 * one_pixel,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": 0, "r": 8},
                "showactive": False,
                "buttons": [
                    {"label": "play", "method": "animate", "args": [None, playing]},
                    {"label": "pause", "method": "animate", "args": [[None], at_once]},
                ],
            }
        ],
        sliders=[
            {
                "x": 0.16,
                "len": 0.84,
                "y": -58 * one_pixel,
                "pad": {"t": 0},
                "currentvalue": {"prefix": f"{name} = ", "font": {"size": 13}},
                "steps": [{"label": str(step), "method": "animate", "args": [[str(step)], at_once]} for step in steps],
            }
        ],
    )
    return figure


def _changed(trace: BaseTraceType, still: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a moving trace that differ from the trace of the still figure, and the trace's type."""
    return {key: x for key, x in trace.to_plotly_json().items() if key == "type" or not _same(x, still.get(key))}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return one == other
