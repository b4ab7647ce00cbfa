"""Pages show their figures where they are read as files, too, and the pictures are those of the figures."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
pytest.importorskip("sphinx")
sys.path.insert(0, str(DOCS))
import pictures  # noqa: E402

RECORD = json.loads(pictures.RECORD.read_text())
BLOCKS = [block for page in pictures.pages() for block in pictures.blocks(page)]
RENEWED = "python docs/pictures.py draws them anew"


def test_every_block_has_its_picture_below_it() -> None:
    assert len(BLOCKS) >= 13
    for page in pictures.pages():
        text = (DOCS / f"{page}.md").read_text()
        titles = {block.number: str(RECORD[block.name]["title"]) for block in pictures.blocks(page)}
        assert pictures.with_pictures(page, titles) == text, RENEWED
    drawn = {path.name for path in pictures.RECORD.parent.glob("*.webp")}
    assert drawn == set(RECORD) == {block.name for block in BLOCKS}, RENEWED
    assert sum((pictures.RECORD.parent / name).stat().st_size for name in drawn) < 600 * 1024


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_picture_is_of_the_code_above_it(block: pictures.Block) -> None:
    assert RECORD[block.name]["code"] == block.digest, RENEWED


@pytest.mark.nightly
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_picture_shows_what_the_code_draws(block: pictures.Block) -> None:
    recorded = {key: value for key, value in RECORD[block.name].items() if key != "code"}
    assert pictures.seen(block.figure()) == recorded, RENEWED


def test_the_gallery_has_a_thumbnail_of_every_figure() -> None:
    text = (DOCS / "gallery.md").read_text()
    assert pictures.thumbnails() in text, RENEWED
    shown = re.findall(r"\]\((_static/gallery/[^)]+)\)", text)
    assert len(shown) > 90
    assert all((DOCS / path).is_file() for path in shown)


def test_a_changed_snippet_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tutorial.md").write_text(
        (DOCS / "tutorial.md").read_text().replace(">>> import modinterp", ">>> import  modinterp", 1)
    )
    monkeypatch.setattr(pictures, "DOCS", tmp_path)
    assert RECORD["tutorial-1.webp"]["code"] != pictures.blocks("tutorial")[0].digest


def test_a_workflow_builds_and_publishes_the_documentation() -> None:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((DOCS.parent / ".github" / "workflows" / "docs.yml").read_text())
    build, publish = workflow["jobs"]["build"]["steps"], workflow["jobs"]["publish"]["steps"]
    assert "python3 make.py docs" in [step.get("run") for step in build]
    assert build[-1]["with"]["path"] == "docs/_build/html"
    assert publish[-1]["uses"].startswith("actions/deploy-pages@")
