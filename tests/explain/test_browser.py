"""The browser of a network's parts shows what `measure` says of each, and goes by mouse, keyboard and link."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from widths import WIDTHS, opened, overflowing

import modinterp as mi
from modinterp.explain.browser import browser, can_be_browsed, kinds
from modinterp.measurements import CyclicMeasurements
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition

SMALL = Path(__file__).parents[2] / "docs" / "trained"
USED = """
<script>
addEventListener("load", async () => {
  const found = [], wait = () => new Promise(done => setTimeout(done, 400));
  const note = () => {
    const pixels = document.getElementById("map").getContext("2d").getImageData(0, 0, 29, 29).data;
    found.push([location.hash, document.getElementById("said").textContent, document.querySelectorAll("#spectrum rect, #reads circle, #writes rect").length, new Set(pixels).size]);
  };
  const key = name => dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  await wait(); note();
  for (const name of ["ArrowRight", "ArrowLeft", "h", "f"]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    await wait(); note();
  }
  document.getElementById("number").value = 5;
  document.getElementById("number").dispatchEvent(new Event("change"));
  await wait(); note();
  document.querySelector("[data-kind=neuron]").click();
  document.getElementById("order").value = "change";
  document.getElementById("order").dispatchEvent(new Event("change"));
  await wait(); note();
  location.hash = "#neuron-17";
  await wait(); note();
  document.body.dataset.found = JSON.stringify(found);
});
</script>
"""


@pytest.fixture(scope="module")
def m() -> CyclicMeasurements:
    return mi.measure(mi.load("sums-29", root=SMALL))


def test_half_of_an_even_modulus_has_no_plane() -> None:
    task = addition(8)
    config = TransformerConfig.of(task, d_model=8, n_heads=1, d_head=8, d_mlp=8)
    network = hooked(config, initial_weights(config, 0))
    frequencies = kinds(mi.measure(mi.run(network, task)))["frequency"]
    assert [bool(part.reads[1]) for part in frequencies] == [True, True, True, False]
    assert [bool(part.writes[1]) for part in frequencies] == [True, True, True, False]


def test_each_part_is_what_measure_says_of_it(m: CyclicMeasurements) -> None:
    parts = kinds(m)
    assert {kind: len(each) for kind, each in parts.items()} == {"neuron": 256, "head": 4, "frequency": 14}
    for n in (0, 17, 255):
        view, part = m.neuron(n), parts["neuron"][n]
        change = view.without.ablation.loss - view.without.before["all"].loss
        assert part.change == pytest.approx(change, rel=0.02, abs=1e-6)
        assert part.writes[1] == pytest.approx(view.w_out.tolist(), abs=1e-3 * float(view.w_out.abs().max()))
        if view.explained > 0.9:
            assert part.spectrum.index(max(part.spectrum)) + 1 == view.block
        assert 0 <= sum(part.spectrum) <= 1 + 1e-9
    for k in m.freqs:
        part = parts["frequency"][k - 1]
        without = m.circle(k).without
        assert part.change == pytest.approx(without.ablation.loss - without.before["all"].loss, rel=1e-4)
        assert "key frequency" in part.text


def test_it_is_used_by_keyboard_mouse_and_link(m: CyclicMeasurements, tmp_path: Path) -> None:
    page = tmp_path / "browser.html"
    page.write_text(browser("/home/somebody/model.pt", m).replace("</body>", f"{USED}</body>"))
    assert "somebody" not in page.read_text()
    dom = opened(page, tmp_path / "profile")
    stated = re.search(r'data-found="([^"]*)"', dom)
    assert stated
    found = json.loads(html.unescape(stated[1]))
    places, said = [each[0] for each in found], [each[1] for each in found]
    assert places[:6] == ["#neuron-0", "#neuron-1", "#neuron-0", "#head-0", "#frequency-1", "#frequency-5"]
    changes = [part.change for part in kinds(m)["neuron"]]
    assert places[6] == f"#neuron-{changes.index(max(changes))}"
    assert places[7] == "#neuron-17"
    assert said[7].startswith("neuron 17: ")
    assert "variance at frequency" in said[7]
    assert [each[2] for each in found][:2] == [14 + 29, 14 + 29]
    assert found[5][2] == 14 + 29  # the bars of the spectrum, and the points of the circle
    assert all(each[3] > 20 for each in found if "neuron-0" not in each[0])  # a map, and no blank


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits(width: int, m: CyclicMeasurements, tmp_path: Path) -> None:
    page = tmp_path / "browser.html"
    page.write_text(browser("sums-29", m))
    assert overflowing(page, tmp_path, width) == []


def test_it_is_written_beside_the_explanation_and_stands_alone(tmp_path: Path) -> None:
    mi.explain(mi.load("sums-29", root=SMALL), draws=99, out=tmp_path)
    page = (tmp_path / "browser.html").read_text()
    assert 'href="browser.html"' in (tmp_path / "index.html").read_text()
    assert "<script src" not in page
    assert "https://" not in page.partition("</head>")[2]


def test_of_a_function_there_is_nothing_to_pick(m: CyclicMeasurements, tmp_path: Path) -> None:
    found = mi.explain(lambda tokens: m.model(tokens), op="add", p=29, draws=99)
    assert not can_be_browsed(found.measurements)


def test_of_the_papers_network_it_has_at_most_5_mib(mainline) -> None:
    page = browser("nanda/mainline-0", mi.measure(mainline))
    assert len(page.encode()) <= 5 * 2**20
    assert page.count('data-kind="') == 3
