"""Figures in the pages of the documentation: a Sphinx extension that draws what a page's own snippets make.

    ```{drawn}
    >>> figure = mi.figures.readout.readoff(m.readoff)
    ```

shows the snippet and, below it, the figure. All snippets of a page are examples of doctest and one session:
the tests run them and hold the outputs against those shown, and a build runs those before a figure to draw it. They run
in an empty folder beside which `trained/` holds the small networks of `docs/trained`.
"""

from __future__ import annotations

import doctest
import io
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import plotly.graph_objects as go
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

TRAINED = Path(__file__).parent / "trained"
_SESSIONS: dict[str, tuple[int, dict[str, Any]]] = {}  # name of a page to the line it has run to, and its variables


@contextmanager
def workplace(folder: Path | None = None) -> Iterator[Path]:
    """Where snippets run: an empty folder, in which `trained/` holds the small networks of the documentation."""
    with TemporaryDirectory() as fresh, chdir(folder or fresh):
        shutil.copytree(TRAINED, "trained")
        yield Path.cwd()


def session(page: str, text: str, line: int) -> dict[str, Any]:
    """The variables of a page after its snippets down to a line, each of which runs once."""
    done, names = _SESSIONS.get(page, (-1, {}))
    due = [one for one in doctest.DocTestParser().get_examples(text) if done < one.lineno < line]
    with workplace(), redirect_stdout(io.StringIO()):
        for one in due:
            if not one.options.get(doctest.SKIP):
                exec(compile(one.source, f"{page}, line {one.lineno + 1}", "single"), names)
    _SESSIONS[page] = line - 1, names
    return names


class Drawn(SphinxDirective):
    """A snippet that ends with a figure, and the figure."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The code, and the figure as a part of the page."""
        from modinterp.pages.plots import figure_html

        text = Path(self.env.doc2path(self.env.docname)).read_text()
        code = "\n".join(self.content)
        end = text.index(code) + len(code)
        figure = session(self.env.docname, text, text.count("\n", 0, end) + 1).get("figure")
        if not isinstance(figure, go.Figure):
            raise self.error(f"the snippet must make a `figure`, got {type(figure).__name__}")
        key = f"{self.env.docname.replace('/', '-')}-{self.lineno}"
        shown = f"<div class='figure'>{figure_html(figure, key)}</div>"
        return [nodes.literal_block(code, code, language="pycon"), nodes.raw("", shown, format="html")]


def with_library(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document) -> None:
    """A page with figures carries what draws them: the part of plotly that it needs, packed, as reports do."""
    from modinterp.pages.packed import plotly_packed

    body = context.get("body", "")
    if "data-plot=" in body:
        library = plotly_packed(whole="data-library='whole'" in body)
        draw = "".join(files("modinterp.pages").joinpath(name).read_text() for name in ("fit.js", "draw.js"))
        shade = "const shade = () => {};"  # figures lie on white here, whatever the theme
        context["body"] = (
            f'{body}<script type="application/gzip" id="plotly">{library}</script><script>{shade}\n{draw}</script>'
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("drawn", Drawn)
    app.connect("html-page-context", with_library)
    return {"parallel_read_safe": False}
