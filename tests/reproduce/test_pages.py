"""The pages in a real browser: short before anything is unfolded, filters filter, links unfold what they lead to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from modinterp.commands.reproduce import main as reproduce

SCRIPT = """
<script>
window.addEventListener("load", async () => {
  const page = document.documentElement, first = document.querySelector(".plot");
  const before = { height: page.scrollHeight, first: first.getBoundingClientRect().top + scrollY, wide: page.scrollWidth - innerWidth };
  await drawing.draw(first.id);
  const shown = () => document.querySelectorAll(".claim:not([hidden])").length, found = { all: shown(), ...before, drawn: document.querySelectorAll(".plot .main-svg").length };
  const bar = document.querySelector(".filters"), [select, words] = [bar.querySelector("select"), bar.querySelector("input")];
  const set = (control, value, event) => { control.value = value; control.dispatchEvent(new Event(event)); };
  bar.querySelector('[data-verdict="refuted"]').click();
  found.refuted = shown();
  bar.querySelector('[data-verdict=""]').click();
  set(select, select.options[1].value, "change");
  found.section = shown();
  set(select, "", "change");
  set(words, "GINI w_l", "input");
  found.words = shown();
  found.told = bar.querySelector("output").textContent;
  set(words, "no such words", "input");
  found.none = shown();
  const link = document.querySelector(".figure .links a, .all a");
  if (link.getAttribute("href").startsWith("#")) {
    location.hash = link.getAttribute("href");
    await new Promise(done => setTimeout(done, 100));
    found.followed = shown();
    found.unfolded = document.querySelector(":target").checkVisibility();
  }
  document.body.dataset.found = JSON.stringify(found);
});
</script>
"""

WIDE = """
<style>body { width: 360px; margin: 0; }</style>
<script>
window.addEventListener("load", () => {
  const out = [...document.querySelectorAll("body *")].filter(
    x => !x.closest(".scroll") && x.getBoundingClientRect().right > 362);
  document.body.dataset.wide = out.map(x => x.tagName).join(" ");
});
</script>
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports")
    assert reproduce(["all", "--only", "*.fig[37]*", "--out", str(out)]) == 0
    return out


def found_in(page: Path, browsed: Callable[[Path], str]) -> dict[str, int | str]:
    page.write_text(page.read_text().replace("</body>", f"{SCRIPT}</body>"))
    match = re.search(r"data-found=\"([^\"]*)\"", browsed(page))
    assert match
    return json.loads(match[1].replace("&quot;", '"'))


def test_the_index_has_every_claim_and_leads_to_its_page(reports: Path) -> None:
    claims = json.loads((reports / "claims.json").read_text())
    page = (reports / "index.html").read_text()
    for claim in claims:
        address = f"{claim['source']}/index.html"
        assert f'href="{address}#{claim["id"]}"' in page
        assert f'id="{claim["id"]}"' in (reports / address).read_text()
    assert 'href="../index.html"' in (reports / "nanda" / "index.html").read_text()


def test_filters_of_the_index_filter(reports: Path, browsed: Callable[[Path], str]) -> None:
    claims = json.loads((reports / "claims.json").read_text())
    found = found_in(reports / "index.html", browsed)
    assert found["all"] == len(claims)
    assert found["refuted"] == sum(claim["verdict"] == "refuted" for claim in claims)
    assert found["section"] == sum(claim["source"] == claims[0]["source"] for claim in claims)
    assert 0 < found["words"] < len(claims)
    assert found["none"] == 0


def test_filters_of_a_source_filter_and_a_link_to_a_hidden_claim_shows_it(
    reports: Path, browsed: Callable[[Path], str]
) -> None:
    claims = json.loads((reports / "nanda" / "claims.json").read_text())
    found = found_in(reports / "nanda" / "index.html", browsed)
    assert found["all"] == found["followed"] == len(claims)
    assert found["refuted"] == sum(claim["verdict"] == "refuted" for claim in claims)
    assert 0 < found["section"] < len(claims)
    assert found["unfolded"]
    assert found["told"] == f"{found['words']} shown"
    assert found["none"] == 0


@pytest.mark.parametrize("name", ["index.html", "nanda/index.html"])
def test_a_page_tells_before_it_audits(
    reports: Path, name: str, browsed: Callable[[Path], str], tmp_path: Path
) -> None:
    page = tmp_path / "told.html"
    page.write_text((reports / name).read_text())
    assert page.stat().st_size < 3 * 2**20
    found = found_in(page, browsed)
    assert found["height"] <= 6000
    assert found["first"] <= 800
    assert found["wide"] <= 0
    assert found["drawn"] > 0


@pytest.mark.parametrize("name", ["index.html", "nanda/index.html", "miiii/index.html"])
def test_nothing_sticks_out_of_a_narrow_page(
    reports: Path, name: str, browsed: Callable[[Path], str], tmp_path: Path
) -> None:
    page = tmp_path / "narrow.html"
    page.write_text((reports / name).read_text().replace("</body>", f"{WIDE}</body>"))
    assert 'data-wide=""' in browsed(page)


def test_a_pattern_that_no_source_knows_is_refused(capsys: pytest.CaptureFixture) -> None:
    assert reproduce(["all", "--only", "nothing.*"]) == 2
    assert "no claim of any source matches" in capsys.readouterr().err
