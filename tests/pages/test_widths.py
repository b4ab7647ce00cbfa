"""Nothing on a page is wider than its box: every kind of page, in windows of 500, 1,300 and 1,920 pixels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from plotly.subplots import make_subplots
from widths import WIDTHS, overflowing

import modinterp as mi
from modinterp.claims.band import at_most, between
from modinterp.compare import compare
from modinterp.figures.theme import heatmap, with_title
from modinterp.files import short_names
from modinterp.measurements.quantity import number_text
from modinterp.pages.html import rendered
from modinterp.pages.plots import Drawn
from modinterp.reproduce.index import index_entry
from modinterp.reproduce.report import write_index

SMALL = Path(__file__).parents[2] / "docs" / "trained"
pytestmark = pytest.mark.long


def explained(out: Path, kind: str) -> Path:
    network = mi.load("sums-29", root=SMALL)
    if kind == "explain":
        mi.explain(network, draws=99, out=out)
    elif kind == "explain with a warning":
        mi.explain(network.model, op="sub", p=29, draws=99, out=out)
    else:
        module = network.model
        long = "a_folder/of_somebody/whose_name_is_long/and_longer/the_network_of_my_training.pt"
        others = {name: mi.explain(module, op=op, p=29, draws=99) for name, op in ((long, "add"), ("other", "sub"))}
        compare({"sums-29": mi.explain(network, draws=99), **others}, out=out)
    return out / "index.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def page(kind: str) -> Path:
        if kind not in made:
            made[kind] = explained(tmp_path_factory.mktemp("page"), kind)
        return made[kind]

    return page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["explain", "explain with a warning", "compare"])
def test_pages_of_networks_fit(kind: str, width: int, pages: Callable[[str], Path], tmp_path: Path) -> None:
    assert overflowing(pages(kind), tmp_path, width) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("source", ["nanda", "groups"])
def test_pages_of_sources_fit(source: str, width: int, reproduced: Callable, tmp_path: Path) -> None:
    pages = sorted(reproduced(source).folder.glob("*.html"))
    assert pages
    assert {page.name: overflowing(page, tmp_path, width) for page in pages} == {page.name: [] for page in pages}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("source", ["nanda", "groups"])
def test_the_index_of_sources_fits(source: str, width: int, reproduced: Callable, tmp_path: Path) -> None:
    entry = index_entry(reproduced(source).reproduction)
    assert overflowing(write_index([entry, entry], tmp_path / "all"), tmp_path, width) == []


def test_what_does_not_fit_is_found(tmp_path: Path, pages: Callable[[str], Path]) -> None:
    """The measure itself: a box that is too wide, and a title of a panel that is cut."""
    wide = "<div class='scroll'><div style='width: 1400px'>wide</div></div>"
    page = tmp_path / "wide.html"
    page.write_text(pages("explain").read_text().replace("<main>", f"<main>{wide}"))
    assert overflowing(page, tmp_path, 1300) == ["wide: 1400 px in a box of 1080"]


def test_panels_are_put_below_one_another_with_their_titles_and_scales(tmp_path: Path) -> None:
    names = [f"panel {n} with a title of some length" for n in range(6)]
    figure = make_subplots(2, 3, subplot_titles=names)
    for n in range(6):
        figure.add_trace(heatmap(torch.eye(5), "b", "a", "value", name=names[n]), row=n // 3 + 1, col=n % 3 + 1)
    with_title(figure, "Six", 600, legend=False)
    page = tmp_path / "page.html"
    empty = {"networks": [], "rows": [], "figures": (), "tables": ()}
    page.write_text(rendered("modinterp.compare", "page.html", first=[Drawn("some", figure)], **empty))
    for width in WIDTHS:
        assert overflowing(page, tmp_path, width) == []


def test_a_file_is_called_by_its_name_and_by_folders_where_two_are_called_alike() -> None:
    assert short_names(["/home/me/model.pt"]) == ["model.pt"]
    assert short_names(["/home/me/a/model.pt", "/home/me/b/model.pt"]) == ["a/model.pt", "b/model.pt"]
    assert short_names(["nanda/mainline-0", "x/y.pt"]) == ["nanda/mainline-0", "y.pt"]


def test_numbers_on_pages_and_in_the_terminal() -> None:
    numbers = (10340.0, 433, 0.96123, 1e-7, 227200, float("inf"))
    assert [number_text(x) for x in numbers] == ["10,340", "433", "0.9612", "1e-07", "227,200", "inf"]
    assert (str(at_most(12_345)), str(between(0.999951, 1))) == ("at most 12,345", "0.999951 to 1")
