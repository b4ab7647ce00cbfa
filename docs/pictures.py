"""Pictures of the figures that pages draw, for whoever reads the pages as plain files, in a web view of the repository.

    python docs/pictures.py             draws all of them (needs kaleido and Chromium)
    python docs/pictures.py tutorial    those of one page

Below each `{drawn}` block of a page stands its picture. The built documentation shows the figure itself instead.
`docs/_static/drawn/drawn.json` says what each was drawn from, and the tests compare it with the pages. The table of
thumbnails in `docs/gallery.md` is written anew as well.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import gallery
import numpy as np
import plotly.graph_objects as go
from docutils import nodes
from drawn import session
from sphinx.application import Sphinx

from modinterp.figures.animation import without_slider
from modinterp.figures.data import figure_data
from modinterp.figures.theme import title_of
from modinterp.pages.plots import least_width

DOCS = Path(__file__).parent
FOLDER = "_static/drawn"
RECORD = DOCS / FOLDER / "drawn.json"
WIDTH, BESIDE, SCALE = 820, 90, 1.0  # [pixels]: of a picture at least, and beside the panels of a figure
BLOCK = re.compile(r"^```\{drawn\}\n(.*?)^```\n(?:\n!\[[^\n]*\]\(_static/drawn/[^\n]*\)\n)?", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"<!-- thumbnails -->.*<!-- thumbnails end -->", re.DOTALL)
ACROSS = 4  # thumbnails


@dataclass(frozen=True)
class Block:
    """One `{drawn}` block of a page.

    Attributes:
        page: name of the page.
        number: of the block on it.
        code: of all snippets of the page down to the end of the block.
        line: below the last of the block.
    """

    page: str
    number: int
    code: str
    line: int

    @property
    def name(self) -> str:
        """Name of its picture."""
        return f"{self.page}-{self.number}.webp"

    @property
    def digest(self) -> str:
        """Of the code that the figure is made by."""
        return sha256(self.code.encode()).hexdigest()[:16]

    def figure(self) -> go.Figure:
        """The figure, drawn by the session of its page."""
        return session(self.page, (DOCS / f"{self.page}.md").read_text(), self.line)["figure"]


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in their order."""
    text = (DOCS / f"{page}.md").read_text()
    found = []
    for number, match in enumerate(BLOCK.finditer(text), start=1):
        code = "\n".join(re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", text[: match.end(1)], re.MULTILINE))
        found.append(Block(page, number, code, text.count("\n", 0, match.end(1))))
    return found


def pages() -> list[str]:
    """Names of the pages that draw figures."""
    return sorted(path.stem for path in DOCS.glob("*.md") if "```{drawn}" in path.read_text())


def seen(figure: go.Figure) -> dict[str, object]:
    """What a figure shows, in so few digits that another machine draws the same."""
    numbers = figure_data(figure).select_dtypes("number").to_numpy(float)
    size = float(np.sqrt(np.nanmean(np.square(numbers)))) if numbers.size else 0.0
    return {"title": title_of(figure), "traces": len(figure.data), "size": float(f"{size:.1g}")}


def with_pictures(page: str, titles: dict[int, str]) -> str:
    """The text of a page with a line for the picture of each block below it."""
    text = (DOCS / f"{page}.md").read_text()
    for number, match in reversed(list(enumerate(BLOCK.finditer(text), start=1))):
        title = titles[number].replace("[", "(").replace("]", ")")
        shown = f"```{{drawn}}\n{match[1]}```\n\n![{title}]({FOLDER}/{page}-{number}.webp)\n"
        text = text[: match.start()] + shown + text[match.end() :]
    return text


def thumbnails() -> str:
    """The table of all figures of the gallery, each with its picture and a link to the example that draws it."""
    rows: list[str] = []
    named = {f"{each.module}.{each.name}": each for each in gallery.examples()}
    cells = [
        f"[![{name}](_static/gallery/{each.picture.name})](gallery/{each.module}.py)<br>`{name}`"
        for name, each in named.items()
    ]
    for start in range(0, len(cells), ACROSS):
        row = cells[start : start + ACROSS]
        rows.append("| " + " | ".join([*row, *[" "] * (ACROSS - len(row))]) + " |")
    head = ["|" + " |" * ACROSS, "|" + "---|" * ACROSS]
    return "\n".join(["<!-- thumbnails -->", *head, *rows, "<!-- thumbnails end -->"])


def draw(chosen: list[str]) -> None:
    """Draw the pictures of some pages, and write the lines that show them."""
    (DOCS / FOLDER).mkdir(parents=True, exist_ok=True)
    record = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    for page in chosen:
        titles = {}
        for block in blocks(page):
            figure = block.figure()
            record[block.name] = {"code": block.digest, **seen(figure)}
            titles[block.number] = title_of(figure)
            still = go.Figure(without_slider(figure)[0])
            width = max(WIDTH, min(least_width(still) + BESIDE, 1200))
            still.update_layout(width=width).write_image(DOCS / FOLDER / block.name, scale=SCALE)
        (DOCS / f"{page}.md").write_text(with_pictures(page, titles))
    RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1, ensure_ascii=False) + "\n")
    text = (DOCS / "gallery.md").read_text()
    (DOCS / "gallery.md").write_text(TABLE.sub(lambda _: thumbnails(), text))


def left_out(app: Sphinx, tree: nodes.document) -> None:
    """The built documentation has the figures themselves, and not their pictures."""
    for picture in list(tree.findall(nodes.image)):
        kind = nodes.table if picture["uri"].startswith("_static/gallery/") else nodes.paragraph
        holder: nodes.Node | None = picture
        while holder is not None and not isinstance(holder, kind):
            holder = holder.parent
        stands_in = picture["uri"].startswith(("_static/gallery/", f"{FOLDER}/"))
        if stands_in and holder is not None and holder.parent is not None and holder in holder.parent.children:
            holder.parent.remove(holder)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-read", left_out, priority=100)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(pages()):
        print(f"error: no figures on {', '.join(sorted(unknown))}; there are {', '.join(pages())}", file=sys.stderr)
        sys.exit(2)
    draw(sys.argv[1:] or pages())
