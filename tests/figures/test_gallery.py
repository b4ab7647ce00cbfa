"""Every public figure has an example that draws it, and a picture."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go
import pytest

DOCS = Path(__file__).parents[2] / "docs"
pytest.importorskip("sphinx")
sys.path.insert(0, str(DOCS))
import gallery  # noqa: E402
from drawn import workplace  # noqa: E402
from widths import WIDTHS, overflowing  # noqa: E402

from modinterp.pages.html import rendered  # noqa: E402
from modinterp.pages.plots import Drawn  # noqa: E402

EXAMPLES = list(gallery.examples())
MODULES = sorted({one.module for one in EXAMPLES})
SLOW = {  # what takes seconds, or reads networks of full size many times
    "ablations", "alignment", "comparison", "film", "linearity", "motion", "ordering", "petals", "phase_diagram",
    "prevalence", "progress",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_workplace(tmp_path: Path, as_for_users: None) -> Iterator[None]:
    with workplace(tmp_path):
        yield
    gallery.forget()


def test_every_public_figure_has_one_example() -> None:
    assert sorted((one.module, one.name) for one in EXAMPLES) == sorted(gallery.public_figures())
    assert len(EXAMPLES) > 90


def test_every_example_has_a_picture_and_all_are_small() -> None:
    pictures = {path for path in gallery.PICTURES.iterdir() if path.suffix == ".webp"}
    assert pictures == {one.picture for one in EXAMPLES}, "python docs/gallery.py draws them"
    assert sum(path.stat().st_size for path in pictures) < 400 * 1024


def test_every_example_calls_its_figure() -> None:
    for one in EXAMPLES:
        compile(f"{one.shared}\n{one.code}", one.name, "exec")
        module = "search" if one.module == "searches" else one.module
        assert f"figure = mi.figures.{module}.{one.name}(" in one.code


@pytest.mark.long
@pytest.mark.parametrize("module", [pytest.param(m, marks=pytest.mark.nightly) if m in SLOW else m for m in MODULES])
def test_the_examples_draw_figures(module: str) -> None:
    for one in EXAMPLES:
        if one.module == module:
            figure = one.figure()
            assert isinstance(figure, go.Figure), one.name
            assert figure.data or figure.layout.annotations, one.name


@pytest.mark.nightly
@pytest.mark.parametrize("module", MODULES)
def test_every_figure_fits_its_box(module: str, tmp_path: Path) -> None:
    drawn = [Drawn(f"{module}-{one.name}", one.figure()) for one in EXAMPLES if one.module == module]
    empty = {"networks": [], "rows": [], "figures": (), "tables": ()}
    page = tmp_path / "figures.html"
    page.write_text(rendered("modinterp.compare", "page.html", first=drawn, **empty))
    assert [found for width in WIDTHS for found in overflowing(page, tmp_path, width)] == []
