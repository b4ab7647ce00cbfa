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
  const slide = async (slider, value, change) => {
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
    for (let tries = 0; tries < 100 && !change(); tries++) await new Promise(done => setTimeout(done, 50));
  };
  document.querySelectorAll("details").forEach(folded => folded.open = true);
  await drawing.draw("plot-motion");
  const last = document.getElementById("plot-motion").data.length - 2;
  const stood = points("plot-motion", last);
  const player = document.querySelector('.player[data-plot="plot-motion"]');
  await slide(player.querySelector("input"), 20, () => stood !== points("plot-motion", last));
  document.body.dataset.moved = stood !== points("plot-motion", last);
  document.body.dataset.at = player.querySelector("output").value;
  const petal = document.getElementById("petal-plot");
  petal.whenSeen();
  for (let tries = 0; tries < 100 && !petal._fullData; tries++) await new Promise(done => setTimeout(done, 50));
  const drawn = points("petal-plot", 1), slider = document.getElementById("petal-f");
  await slide(slider, 7, () => drawn !== points("petal-plot", 1));
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
    assert 'data-at="40"' in body
    assert 'data-redrawn="true"' in body
    assert 'data-told="7"' in body
