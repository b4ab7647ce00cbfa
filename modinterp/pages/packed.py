"""Compress the parts of a page: the library plotly, and the figures, which are drawn when they come into view.

A page contains the cartesian bundle of plotly.js, which is a third of the size of the whole library. The makers of
plotly.js publish the cartesian bundle (`npm pack plotly.js-cartesian-dist-min@4.1.1`, MIT licence). If a figure needs
more, the page contains the whole library plotly.js, which comes with the package plotly.
"""

from __future__ import annotations

import gzip
import json
import math
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from modinterp.figures.data import unpacked

DIGITS = 5  # of a number in a figure, which is finer than the eye and than what hovering tells
PLANE = {
    "bar", "box", "contour", "heatmap", "histogram", "histogram2d", "histogram2dcontour", "image", "pie", "scatter",
    "scatterternary", "violin",
}  # fmt: skip
_FINE = 3  # of a heat-map's entry, and of a place that moves, beside the largest: as many as colours, or pixels


def packed(text: str) -> str:
    """Compress a text with gzip and encode it as base64; the same text always gives the same result."""
    return b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


@cache
def plotly_packed(whole: bool) -> str:
    """Return the library plotly.js, compressed: 0.6 MiB for the bundle that draws 2D figures, 1.9 MiB for the whole
    library.
    """
    if whole:
        return packed(get_plotlyjs())
    return b64encode(files("modinterp.pages").joinpath("plotly-cartesian.min.js.gz").read_bytes()).decode()


def needs_whole(figure: go.Figure) -> bool:
    """Return True if a figure has a trace that plotly's cartesian bundle cannot draw."""
    return any(trace.type not in PLANE for trace in figure.data)


def content_packed(content: dict[str, Any]) -> str:
    """Return traces, layout and frames of a figure, compressed."""
    return packed(json.dumps(content, separators=(",", ":"), allow_nan=False))


def plain(figure: go.Figure) -> dict[str, Any]:
    """Return traces, layout and frames of a figure as plain data, with numbers rounded to a visible precision."""
    content = unpacked(figure.to_plotly_json())
    moving = [trace for frame in content.get("frames", ()) for trace in frame["data"]]
    for trace in [*moving, *(trace for trace in content["data"] if trace["type"] == "heatmap")]:
        trace.update({axis: _coarse(trace[axis]) for axis in "xyz" if isinstance(trace.get(axis), np.ndarray)})
    for trace in content["data"]:
        if trace["type"] == "scatter" and isinstance(trace.get("x"), np.ndarray):
            trace.update(_evenly(trace.pop("x")))
    return _plain(content)


def _evenly(x: np.ndarray) -> dict[str, Any]:
    """Encode evenly spaced integers along an axis, such as epochs, by the first number and the step."""
    steps = np.diff(x) if x.dtype.kind in "iu" else np.empty(0)
    return {"x0": x[0], "dx": steps[0]} if len(steps) > 1 and (steps == steps[0]).all() else {"x": x}


def _coarse(z: np.ndarray) -> np.ndarray:
    """Round numbers to a number of digits of the largest number."""
    if z.dtype.kind != "f" or not np.isfinite(z).any():
        return z
    largest = float(np.nanmax(np.abs(np.where(np.isfinite(z), z, np.nan))))
    return z.astype(np.float64).round(_FINE - 1 - math.floor(math.log10(largest))) if largest else z


def _plain(value: Any) -> Any:
    """Convert a part of a figure to plain data; numbers that are not finite become null and are not drawn."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return (
            _short(value)
            if value.dtype.kind == "f"
            else value.tolist()
            if value.dtype.kind in "iu"
            else _plain(value.tolist())
        )
    if isinstance(value, np.generic):
        return _plain(value.item())
    return _short(np.array([value]))[0] if isinstance(value, float) else value


def _short(values: np.ndarray) -> list[Any]:
    """Round nested numbers to visible precision; numbers that are not finite become null."""
    x = values.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(x)))
        places = np.where(np.isfinite(places), places, 0).clip(-300, 300)  # further powers of ten are no float64
        up, down = 10.0 ** places.clip(0), 10.0 ** (-places).clip(0)
        rounded = np.rint(x / down * up) * down / up  # a whole number over a power of ten is its shortest decimal
    finite = np.isfinite(rounded)
    if not finite.all():
        shown = rounded.astype(object)
        shown[~finite] = None
        return shown.tolist()
    whole = (rounded == np.rint(rounded)).all() and (np.abs(rounded) < 2**53).all()
    return (rounded.astype(np.int64) if whole else rounded).tolist()
