"""Animation: a slider and a play button below a figure, over the values of one quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

MILLISECONDS, BELOW = 90, 140  # of a frame; pixels of the slider and the button
_MARGIN = 56  # pixels below a figure that has neither


class Slider(NamedTuple):
    """What a slider sets, and the values that it takes, as text."""

    name: str
    steps: tuple[str, ...]


def without_slider(figure: go.Figure) -> tuple[go.Figure, Slider | None]:
    """A copy of a figure that moves, without its slider and button, for a page that has its own, and what they set.

    A figure that does not move is given back itself, with None.
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
    """The figure, whose size must be set, with frames, a slider and a play button below it.

    Args:
        steps: values that the slider takes.
        traces: function from a value to the traces that move, in the order of `places`.
        places: numbers of the figure's traces that move.
        name: name of what the slider sets, such as "a".
    """
    figure.update_layout(margin_b=BELOW, height=figure.layout.height + BELOW - figure.layout.margin.b)
    one_pixel = 1 / (figure.layout.height - BELOW - figure.layout.margin.t)
    figure.frames = [go.Frame(data=traces(step), traces=list(places), name=str(step)) for step in steps]
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
