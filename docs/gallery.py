"""Every public figure with the code that makes it, and its picture: the page of figures, and what renews the pictures.

    python docs/gallery.py              draws all figures and writes their pictures (needs kaleido and Chromium)
    python docs/gallery.py readout      those of one module

`docs/gallery/MODULE.py` holds an example of each figure of `modinterp.figures.MODULE`, after the lines that all of them
share. What else the page says comes from the figures' docstrings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import getdoc, isfunction, signature
from pathlib import Path
from pkgutil import iter_modules
from types import FunctionType, ModuleType
from typing import Any

import plotly.graph_objects as go
import plotly.io
from docutils import nodes
from drawn import workplace
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import modinterp.figures
from modinterp.figures.animation import without_slider

EXAMPLES = Path(__file__).parent / "gallery"
PICTURES = Path(__file__).parent / "_static" / "gallery"
WIDTH, HEIGHT = 600, 450  # of a figure; its picture is smaller by SCALE. [pixels]
SCALE = 0.3
NO_FIGURES = ("theme", "animation")  # what all figures are made with


@dataclass(frozen=True)
class Example:
    """One figure and the code that makes it.

    Attributes:
        shared: lines of its module that come first.
        code: ends with a `figure`.
    """

    module: str
    name: str
    shared: str
    code: str

    @property
    def picture(self) -> Path:
        """Where its picture lies."""
        return PICTURES / f"{self.module}.{self.name}.webp"

    @property
    def summary(self) -> str:
        """The first sentence of the figure's docstring."""
        function = getattr(import_module(f"modinterp.figures.{self.module}"), self.name)
        return (getdoc(function) or "").partition("\n")[0]

    def figure(self) -> go.Figure:
        """The figure, drawn."""
        return _variables(self.shared, self.code)["figure"]


def _variables(shared: str, code: str) -> dict[str, Any]:
    names = dict(_shared(shared))
    exec(compile(code, "gallery", "exec"), names)
    return names


@cache
def _shared(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "gallery", "exec"), names)
    return names


def forget() -> None:
    """Let go of the networks that the examples have loaded."""
    _shared.cache_clear()


def public_figures() -> list[tuple[str, str]]:
    """Module and name of every public function that makes a figure of results."""
    found = []
    for module in iter_modules(modinterp.figures.__path__):
        room = import_module(f"modinterp.figures.{module.name}")
        if module.name not in NO_FIGURES:
            found += [(module.name, name) for name, x in vars(room).items() if _makes_a_figure(x, room)]
    return found


def _makes_a_figure(x: object, room: ModuleType) -> bool:
    if not isfunction(x) or x.__module__ != room.__name__ or x.__name__.startswith("_"):
        return False
    assert isinstance(x, FunctionType)
    takes_one = any(p.annotation == "go.Figure" for p in signature(x).parameters.values())
    return str(signature(x).return_annotation).startswith("go.Figure") and not takes_one


def examples() -> Iterator[Example]:
    """All examples, in the order of the modules' names."""
    for path in sorted(EXAMPLES.glob("*.py")):
        shared, *cells = re.split(r"^# %% (\w+)\n", path.read_text(), flags=re.MULTILINE)
        for name, code in zip(cells[::2], cells[1::2], strict=True):
            yield Example(path.stem, name, shared.strip(), code.strip())


class Gallery(SphinxDirective):
    """The pictures of all figures, and below them the code of each."""

    def run(self) -> list[nodes.Node]:
        """Per module its docstring, the lines that its examples share, and the examples."""
        modules: dict[str, list[Example]] = {}
        for one in examples():
            modules.setdefault(one.module, []).append(one)
        return [node for module, found in modules.items() for node in self._module(module, found)]

    def _module(self, module: str, found: list[Example]) -> list[nodes.Node]:
        section = nodes.section(ids=[f"figures-{module}"])
        section += nodes.title(text=module.replace("_", " "))
        about = (import_module(f"modinterp.figures.{module}").__doc__ or "").partition("\n\n")[0]
        section += self.parse_text_to_nodes(about)
        section += nodes.literal_block(found[0].shared, found[0].shared, language="python")
        for one in found:
            example = nodes.section(ids=[f"{module}-{one.name}"])
            example += nodes.title(text=one.name)
            depth = "../" * self.env.docname.count("/")
            picture = f"{depth}_static/gallery/{one.picture.name}"
            size = f"width='{round(WIDTH * SCALE)}' height='{round(HEIGHT * SCALE)}'"
            image = f"<img class='thumbnail' src='{picture}' alt='{module}.{one.name}' loading='lazy' {size}>"
            example += nodes.raw("", image, format="html")
            said = f"{one.summary} See {{py:func}}`modinterp.figures.{module}.{one.name}`."
            example += self.parse_text_to_nodes(said)
            example += nodes.literal_block(one.code, one.code, language="python")
            section += example
        return [section]


def draw(modules: list[str]) -> None:
    """Write the pictures of the figures of some modules, or of all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in examples() if not modules or one.module in modules]
    with workplace():
        figures = [_without_words(one.figure()) for one in chosen]
    plotly.io.write_images(figures, [one.picture for one in chosen], scale=SCALE)


def _without_words(figure: go.Figure) -> go.Figure:
    """What is seen of a figure when it is small: no slider, title or legend."""
    margin = {"l": 50, "r": 10, "t": 30, "b": 50}
    small = without_slider(figure)[0]
    return small.update_layout(width=WIDTH, height=HEIGHT, title_text="", showlegend=False, margin=margin)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - {one.module for one in examples()}:
        print(f"error: no figures in {', '.join(sorted(unknown))}; {EXAMPLES} has the modules", file=sys.stderr)
        sys.exit(2)
    draw(sys.argv[1:])
