"""The clock's page in a real browser: figures move when they are told to, and the explorer draws what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reproduced import Reproduced

SCRIPT = """
<script>
window.addEventListener("load", async () => {
  const points = (id, trace) => JSON.stringify(Array.from(document.getElementById(id)._fullData[trace].x));
  const last = document.getElementById("plot-motion").data.length - 2;
  const stood = points("plot-motion", last);
  const at_once = { mode: "immediate", frame: { duration: 0, redraw: true }, transition: { duration: 0 } };
  await Plotly.animate("plot-motion", ["40"], at_once);
  document.body.dataset.moved = stood !== points("plot-motion", last);
  const drawn = points("petal-plot", 1);
  const slider = document.getElementById("petal-f");
  slider.value = 7;
  slider.dispatchEvent(new Event("input"));
  document.body.dataset.redrawn = drawn !== points("petal-plot", 1);
  document.body.dataset.told = slider.nextElementSibling.value;
});
</script>
"""


@pytest.fixture
def report(reproduced: Callable[[str], Reproduced]) -> Path:
    return reproduced("clock").folder


def test_the_question_with_a_page_of_its_own_has_it(report: Path) -> None:
    page = (report / "linearity.html").read_text()
    assert "Does the MLP do more than an affine map?" in page
    assert 'id="clock.s8.mlp_affine"' in page
    assert 'id="clock.s61.petals_equal"' not in page
    assert 'href="linearity.html"' in (report / "index.html").read_text()


def test_sliders_move_what_they_belong_to(report: Path, tmp_path: Path, browsed: Callable[[Path], str]) -> None:
    page = tmp_path / "index.html"
    page.write_text((report / "index.html").read_text().replace("</body>", f"{SCRIPT}</body>"))
    dom = browsed(page)
    body = dom.partition("<body")[2].partition(">")[0]
    assert 'data-moved="true"' in body
    assert 'data-redrawn="true"' in body
    assert 'data-told="7"' in body
