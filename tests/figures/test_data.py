"""The data of a figure are the numbers that it draws."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import torch
from plotly.subplots import make_subplots

from modinterp.figures.animation import with_slider
from modinterp.figures.data import MOST_ROWS, figure_data
from modinterp.figures.theme import heatmap, with_title


def test_curves_bars_and_maps_by_panel() -> None:
    field = torch.arange(6.0).reshape(2, 3)
    figure = make_subplots(1, 3, subplot_titles=["loss", "norms", "a map"])
    figure.add_trace(go.Scatter(x=np.array([0, 10]), y=np.array([2.5, 0.1], dtype=np.float32), name="test"), 1, 1)
    figure.add_trace(go.Bar(x=["cos 3", "sin 3"], y=[1, 2], name="W_E"), 1, 2)
    figure.add_trace(heatmap(field, "b", "a", "value", name="neuron 4"), 1, 3)
    table = figure_data(with_title(figure, "Three"))
    assert set(table["panel"]) == {"loss", "norms", "a map"}
    curve, bars, cells = (table[table["panel"] == panel] for panel in ("loss", "norms", "a map"))
    assert curve["x"].tolist() == [0, 10]
    assert np.allclose(curve["y"].astype(float), [2.5, 0.1])
    assert bars[["x", "y"]].values.tolist() == [["cos 3", 1], ["sin 3", 2]]
    assert [field[int(y), int(x)].item() for x, y in cells[["x", "y"]].values] == cells["z"].tolist()
    assert set(cells["trace"]) == {"neuron 4"}


def test_frames_of_a_figure_that_moves() -> None:
    still = with_title(go.Figure([go.Scatter(x=[0], y=[7], name="still"), go.Scatter(x=[0], y=[0], name="moves")]), "M")
    figure = with_slider(still, [0, 500], lambda x: [go.Scatter(x=[x], y=[2 * x], name="moves")], [1], "epoch")
    table = figure_data(figure)
    assert table[table["trace"] == "still"]["y"].tolist() == [7]
    assert table[table["trace"] == "moves"][["frame", "x", "y"]].values.tolist() == [["0", 0, 0], ["500", 500, 1000]]


def test_very_many_frames_are_thinned() -> None:
    long = np.arange(1000)
    still = with_title(go.Figure(go.Scatter(x=long, y=long)), "M")
    figure = with_slider(still, list(range(600)), lambda x: [go.Scatter(x=long, y=long + x)], [0], "epoch")
    assert MOST_ROWS / 2 < len(figure_data(figure)) <= MOST_ROWS


def test_a_figure_without_data_has_an_empty_table() -> None:
    assert list(figure_data(go.Figure())) == ["panel", "trace", "x", "y"]
