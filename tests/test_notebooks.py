"""Notebooks tell a story on top of the library; that each runs from top to bottom, nbmake checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_defines_no_analysis_of_its_own(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert not any("def " in "".join(cell["source"]) for cell in cells)
