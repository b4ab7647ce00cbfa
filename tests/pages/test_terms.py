"""Words of the glossary are explained on pages, by the sentence that the glossary has."""

from __future__ import annotations

import re
from pathlib import Path

from widths import opened

from modinterp.pages.glossary import TERMS, terms_in
from modinterp.pages.html import rendered

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
POINTED = """
<script>
addEventListener("load", () => {
  const terms = [...document.querySelectorAll("dfn")], bubble = document.getElementById("tooltip"), seen = [];
  for (const term of terms) { term.dispatchEvent(new FocusEvent("focusin", { bubbles: true })); seen.push(`${term.textContent}: ${bubble.textContent}`); }
  const box = bubble.getBoundingClientRect();
  document.body.dataset.inside = box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
  terms.at(-1).dispatchEvent(new FocusEvent("focusout", { bubbles: true }));
  document.body.dataset.gone = bubble.hidden;
  document.body.dataset.seen = seen.join(" | ");
});
</script>
"""


def test_the_glossary_has_the_sentence_of_every_tooltip_and_what_not_to_confuse() -> None:
    text = GLOSSARY.read_text()
    plain = re.sub(r"\s+", " ", text).casefold()
    plain = plain.replace("w<sub>l</sub>", "w_l")
    for term, told in TERMS.items():
        if term != "W_E":  # of which the entry of the embedding speaks
            assert told.rstrip(".").casefold() in plain, term
        assert len(told.split()) <= 25
        assert told.endswith(".")
    entries = re.split(r"^\(glossary-", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 30
    assert all("*not to be confused with*" in re.sub(r"\s+", " ", entry).casefold() for entry in entries)


def test_terms_are_found_as_words() -> None:
    assert {"key frequencies", "logit", "W_L"} <= set(terms_in("The key frequencies and the logits of W_L."))
    assert terms_in("deepfrequency and xlogit") == {}


def test_a_page_explains_each_term_once_by_keyboard_too(tmp_path: Path) -> None:
    network = {
        "name": "mine", "label": "Fourier multiplication", "is_explained": True, "warning": "", "answers":
        [("How?", "By key frequencies of W_L, and again key frequencies; the loss is <small>.")],
    }  # fmt: skip
    page = tmp_path / "page.html"
    text = rendered("modinterp.compare", "page.html", networks=[network], rows=[], first=[], figures=(), tables=())
    page.write_text(text.replace("</body>", f"{POINTED}</body>"))
    dom = opened(page, tmp_path / "profile", 500)
    seen = re.findall(r'data-seen="([^"]*)"', dom)[0]
    for word in ("Fourier multiplication", "key frequencies", "W_L", "loss"):
        assert f"{word}: {TERMS[word]}" in seen
    assert seen.count("key frequencies:") == 1
    assert 'data-inside="true"' in dom
    assert 'data-gone="true"' in dom
