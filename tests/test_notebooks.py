"""Notebooks tell a story on top of the library; that each runs from top to bottom, nbmake checks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FIGURE, PICTURES = "application/vnd.plotly.v1+json", {"image/svg+xml", "image/jpeg", "image/png"}
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def code(path: Path) -> str:
    cells = json.loads(path.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_defines_no_analysis_of_its_own(path: Path) -> None:
    assert not re.search(r"\b(def|lambda)\b", code(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asks_measurements_and_reaches_into_no_source(path: Path) -> None:
    assert "mi.measure(" in code(path)
    assert "modinterp.sources." not in code(path)
    assert "modinterp.reproduce" not in code(path)


def outputs(path: Path) -> list[dict]:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    return [output for cell in cells for output in cell["outputs"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_what_comes_out_of_it(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), "python3 make.py notebooks"
    figures = [o for o in outputs(path) if FIGURE in o.get("data", {}) or PICTURES & o.get("data", {}).keys()]
    assert figures
    for output in figures:
        assert PICTURES & output["data"].keys(), "a figure without a picture, which a web view would show"
    assert not [o for o in outputs(path) if o["output_type"] == "error" or o.get("name") == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_one_will_see_and_what_to_try(path: Path) -> None:
    first, *_, last = json.loads(path.read_text())["cells"]
    assert "What you will see" in "".join(first["source"])
    assert "".join(last["source"]).startswith("## What to try")


def test_notebooks_are_small() -> None:
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 2.5 * 2**20
