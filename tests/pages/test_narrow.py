"""A figure on a page: its title is text, its panels keep their width, and what is drawn in ink follows the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.figures.theme import INK, with_title
from modinterp.pages.packed import plotly_packed
from modinterp.pages.plots import figure_html, least_width


def figure(panels: int = 1) -> go.Figure:
    drawn = make_subplots(1, panels)
    for column in range(panels):
        drawn.add_scatter(x=[0, 1], y=[1, 0], line={"color": INK}, row=1, col=column + 1)
        drawn.add_scatter(x=[0, 1], y=[0, 1], line={"color": "#d1495b"}, row=1, col=column + 1)
    return with_title(drawn, "What is < or > is told at length, and wraps where the window is narrow")


def test_the_title_is_text_and_the_figure_keeps_its_own() -> None:
    own = figure()
    page = figure_html(own, "some")
    assert "<p class='sees'>What is &lt; or &gt; is told at length" in page
    assert page.count("told at length") == 2  # and in the words for who cannot see it
    assert own.layout.title.text.startswith("What is <")
    assert own.layout.height == 420


def test_panels_side_by_side_are_as_wide_as_they_need() -> None:
    widths = [least_width(figure(n)) for n in (1, 2, 4)]
    assert widths[0] <= 360
    assert widths[1:] == [2 * widths[0], 4 * widths[0]]


def test_names_of_bars_have_room() -> None:
    drawn = go.Figure()
    for k in range(12):
        drawn.add_bar(x=[f"cos {k}", f"sin {k}"], y=[1, 1])
    width = least_width(with_title(drawn, "Bars"))
    assert width > 6 * sum(len(f"cos {k} sin {k} ") for k in range(12))


def test_a_wide_panel_has_its_title_over_its_whole_width() -> None:
    """As in the film, whose circles were in three columns for the title of a panel three columns wide."""
    specs = [[{}] * 5, [{"colspan": 2}, None, {"colspan": 3}, None, None]]
    titles = [*"abcde", "losses", "spectrum of W_E: cosines blue, sines red"]
    drawn = make_subplots(2, 5, specs=specs, subplot_titles=titles, vertical_spacing=0.13)
    for column in range(1, 6):
        drawn.add_scatter(x=[0, 1], y=[1, 0], row=1, col=column)
    drawn.add_scatter(x=[0, 1], y=[1, 0], row=2, col=3)
    assert least_width(with_title(drawn, "Five and two")) <= 1080


def test_titles_side_by_side_have_room() -> None:
    drawn = figure(2)
    drawn.update_xaxes(title_text="a gap between the largest and the next, from", col=2)
    width = least_width(drawn)
    assert width > 2 * 6 * len("a gap between the largest and the next, from")


def test_on_a_dark_page_ink_turns_light_and_what_would_not_be_seen_is_lit(
    tmp_path: Path, browsed: Callable[[Path], str]
) -> None:
    here = files("modinterp.pages")
    style = here.joinpath("style.css").read_text().replace("(prefers-color-scheme: dark)", "all")
    dark = here.joinpath("dark.js").read_text().replace("dark.matches", "true")
    draw = here.joinpath("fit.js").read_text() + here.joinpath("draw.js").read_text()
    told = """addEventListener("load", async () => {
        await drawing.draw("plot-some");
        const lines = document.getElementById("plot-some").data.map(trace => trace.line.color);
        document.body.dataset.lines = lines.join(" "); });"""
    drawn, page = figure(), tmp_path / "page.html"
    drawn.add_scatter(y=[1, 3], line_color="#440154")
    library = f"<script type='application/gzip' id='plotly'>{plotly_packed(whole=False)}</script>"
    page.write_text(f"<style>{style}</style><body>{figure_html(drawn, 'some')}{library}"
                    f"<script>{dark}{draw}{told}</script></body>")  # fmt: skip
    *lines, dim = re.findall(r'data-lines="([^"]*)"', browsed(page))[0].split()
    assert lines == ["#e4e8ec", "#d1495b"]
    red, green, blue = map(int, re.findall(r"\d+", dim))
    assert min(red - 0x44, green - 0x01, blue - 0x54) > 20
    assert blue > red > green  # the same hue, but it is seen
