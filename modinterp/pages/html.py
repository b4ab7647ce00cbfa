"""Render tables and page templates as HTML."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

import jinja2
import pandas as pd

from modinterp.measurements.quantity import number_text
from modinterp.pages.glossary import terms_in
from modinterp.pages.packed import plotly_packed

_LIBRARY, _TERMS = "<!-- plotly -->", "<!-- terms -->"  # their places in `base.html`


def table_html(title: str, table: pd.DataFrame, unfolded: bool = False) -> str:
    """Return an HTML table that unfolds under its title.

    Args:
        unfolded: True if the table is unfolded from the start.
    """
    body = table.to_html(index=False, border=0, na_rep="", float_format=number_text)
    begin = f"<details{' open' if unfolded else ''}><summary>{escape(title, quote=False)}</summary>"
    return f"{begin}<div class='scroll'>{body}</div></details>"


def rendered(package: str, name: str, /, **values: Any) -> str:
    """Render a page from a template of a package; plotly is included, compressed, if the page has figures."""
    page = template(package, name).render(**values)
    words = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", page)
    told = json.dumps(terms_in(words), ensure_ascii=False).replace("<", "\\u003c")
    page = page.replace(_TERMS, f'<script type="application/json" id="terms">{told}</script>')
    if "class='plot'" not in page:
        return page
    library = plotly_packed(whole="data-library='whole'" in page)
    return page.replace(_LIBRARY, f'<script type="application/gzip" id="plotly">{library}</script>')


def template(package: str, name: str) -> jinja2.Template:
    """Load a template of a package, which may extend `base.html` and include other templates of the package `pages`."""
    loaders = [jinja2.PackageLoader(each, "") for each in dict.fromkeys((package, "modinterp.pages"))]
    environment = jinja2.Environment(loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True)  # fmt: skip
    environment.filters["shown"] = number_text
    return environment.get_template(name)
