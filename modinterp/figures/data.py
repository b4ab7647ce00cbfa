"""Return the numbers in a figure as a table, for a CSV file or for another drawing."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

MOST_ROWS = 200_000  # of a figure that moves, of whose frames as many are taken, evenly chosen
_COORDINATES = ("x", "y", "z")


def figure_data(figure: go.Figure) -> pd.DataFrame:
    """Return the numbers in a figure as a table, with one row per point, bar or heat-map cell.

    The columns are `panel` (title or number), `trace` (name), `x`, `y`, `z` (for heat-maps and 3D plots), `text`
    (labels of points), and `frame` (for animated figures). If a figure has very many frames, only enough frames for
    200,000 rows are used.

    >>> import plotly.graph_objects as go
    >>> figure_data(go.Figure(go.Scatter(x=[1, 2], y=[3.0, 4.0], name="loss"))).values.tolist()
    [['1', 'loss', 1, 3.0], ['1', 'loss', 2, 4.0]]
    """
    panels = _panels(figure)
    tables = [_rows(trace.to_plotly_json(), panels) for trace in figure.data]
    frames = list(figure.frames)
    moving = {place for frame in frames for place in frame.traces or ()}
    each = sum(len(tables[place]) for place in moving) or 1
    step = -(-len(frames) * each // MOST_ROWS) if frames else 1
    if not frames:
        return _together(tables)
    still = [table for place, table in enumerate(tables) if place not in moving]
    moved = []
    for frame in frames[:: max(1, step)]:
        for place, change in zip(frame.traces or (), frame.data, strict=True):
            whole = figure.data[place].to_plotly_json() | change.to_plotly_json()
            moved.append(_rows(whole, panels).assign(frame=frame.name))
    return _together(still + moved)


def _together(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Join several tables into one, and drop its empty columns."""
    filled = [table for table in tables if len(table)]
    if not filled:
        return pd.DataFrame(columns=["panel", "trace", "x", "y"])
    return pd.concat(filled, ignore_index=True).dropna(axis="columns", how="all")


def _panels(figure: go.Figure) -> dict[str, str]:
    """Map the name of each panel's x-axis to the panel's title, or to its number if it has no title."""
    titles = {}
    notes = [note for note in figure.layout.annotations if note.yref == "paper" and not note.showarrow]
    names = sorted((name for name in figure.layout if name.startswith("xaxis")), key=lambda name: (len(name), name))
    for number, name in enumerate(names, start=1):
        axis: Any = figure.layout[name]
        start, end = axis.domain or (0.0, 1.0)
        top = (figure.layout[(axis.anchor or "y").replace("y", "yaxis")].domain or (0.0, 1.0))[1]
        above = [n.text for n in notes if abs(n.x - (start + end) / 2) < 1e-3 and abs(n.y - top) < 1e-3]
        titles[name.replace("axis", "")] = str(above[0]).replace("<br>", " ") if above and above[0] else str(number)
    return titles


def _rows(trace: dict[str, Any], panels: dict[str, str]) -> pd.DataFrame:
    """Return the points of one trace as rows of the table."""
    columns = {axis: np.asarray(unpacked(trace[axis])) for axis in _COORDINATES if trace.get(axis) is not None}
    if trace["type"] == "heatmap":
        columns = dict(_cells(columns))
    elif "x" not in columns and "y" in columns:
        columns = {"x": np.arange(len(columns["y"])), **columns}
    elif "y" not in columns and "x" in columns:
        columns["y"] = np.arange(len(columns["x"]))
    texts = trace.get("text")
    length = max(map(len, columns.values()), default=0)
    if texts is not None and not isinstance(texts, str) and len(texts) == length:
        columns["text"] = np.asarray(texts, dtype=object)
    table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    table.insert(0, "trace", trace.get("name") or _hovered(trace))
    table.insert(0, "panel", panels.get(trace.get("xaxis", "x"), "1"))
    return table


def _hovered(trace: dict[str, Any]) -> str:
    """Return the name in a trace's hover label; empty if the label shows no name."""
    found = re.search(r"<extra>(.+?)</extra>", str(trace.get("hovertemplate") or ""))
    return found[1] if found else ""


def unpacked(value: Any) -> Any:
    """Decode the encoded arrays in a figure's plain data to ordinary arrays, since rounded text takes less space."""
    if isinstance(value, dict) and "bdata" in value:
        shape = [int(n) for n in value.get("shape", "-1").split(",")]
        return np.frombuffer(b64decode(value["bdata"]), value["dtype"]).reshape(shape)
    if isinstance(value, dict):
        return {key: unpacked(each) for key, each in value.items()}
    return [unpacked(each) for each in value] if isinstance(value, (list, tuple)) else value


def _cells(columns: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Return the cells of a heat-map as rows of the table."""
    z: Any = columns["z"]
    if z.ndim != 2:
        yield from columns.items()
        return
    x: Any = columns.get("x", np.arange(z.shape[1]))
    y: Any = columns.get("y", np.arange(z.shape[0]))
    yield "x", np.tile(x[: z.shape[1]], z.shape[0])
    yield "y", np.repeat(y[: z.shape[0]], z.shape[1])
    yield "z", z.reshape(-1)
