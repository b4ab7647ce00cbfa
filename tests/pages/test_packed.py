"""What a page holds of a figure: the same curves in few digits, and no more of plotly than draws them."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs_version

from modinterp.figures.animation import with_slider
from modinterp.figures.theme import with_title
from modinterp.pages.packed import content_packed, needs_whole, plain, plotly_packed
from modinterp.pages.plots import figure_html, in_words


def library(whole: bool) -> str:
    return gzip.decompress(b64decode(plotly_packed(whole))).decode()


def test_a_packed_figure_is_the_figure() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 30))
    loss = np.array([24.83216, 3.1234567e-7, np.nan])
    figure = go.Figure([go.Heatmap(z=rows), go.Scatter(x=np.arange(100, 400, 100), y=loss)])
    content = json.loads(gzip.decompress(b64decode(content_packed(plain(figure)))))
    heatmap, curve = content["data"]
    assert np.allclose(heatmap["z"], rows, atol=np.abs(rows).max() / 500)
    assert curve["y"][:2] == pytest.approx(loss[:2], rel=1e-4)
    assert curve["y"][2] is None
    assert (curve["x0"], curve["dx"]) == (100, 100)
    assert "x" not in curve


def test_places_that_are_not_evenly_spaced_stay() -> None:
    (curve,) = plain(go.Figure(go.Scatter(x=np.array([0, 500, 900]), y=[1, 2, 3])))["data"]
    assert curve["x"] == [0, 500, 900]


def test_the_part_of_plotly_draws_what_the_installed_one_makes() -> None:
    part = library(whole=False)
    stated = re.search(r"plotly\.js \(cartesian - minified\) v(\d+)\.", part[:200])
    assert stated is not None
    assert int(stated[1]) >= int(get_plotlyjs_version().partition(".")[0])
    assert len(part) < len(library(whole=True)) / 3


def test_a_figure_in_space_needs_the_whole() -> None:
    assert needs_whole(go.Figure(go.Scatter3d(x=[0], y=[0], z=[0])))
    assert not needs_whole(go.Figure([go.Bar(y=[1]), go.Heatmap(z=[[1]])]))


def test_a_figure_that_moves_has_a_slider_of_the_page() -> None:
    still = with_title(go.Figure(go.Scatter(x=[0], y=[0])), "It moves")
    figure = with_slider(still, [0, 500], lambda x: [go.Scatter(x=[x], y=[x])], [0], "epoch")
    html = figure_html(figure, "moves")
    assert "data-steps='0 500'" in html
    assert "<input type='range' min='0' max='1'" in html
    layout = json.loads(gzip.decompress(b64decode(html.rpartition("'>")[2].partition("<")[0])))["layout"]
    assert not layout.get("sliders")
    assert not layout.get("updatemenus")


def test_a_figure_is_told_in_words() -> None:
    figure = with_title(go.Figure(go.Scatter(y=[1], name="test loss")), "It falls").update_xaxes(title="epoch")
    assert in_words(figure) == "It falls. Axes: epoch. Drawn: test loss"
