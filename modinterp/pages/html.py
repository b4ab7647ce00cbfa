"""Tables and templates as HTML."""

from __future__ import annotations

from html import escape
from typing import Any

import jinja2
import pandas as pd

from modinterp.pages.packed import plotly_packed

_LIBRARY = "<!-- plotly -->"  # its place in `base.html`


def table_html(title: str, table: pd.DataFrame, unfolded: bool = False) -> str:
    """A table that unfolds under its title.

    Args:
        unfolded: whether it is so from the start.
    """
    body = table.to_html(index=False, border=0, na_rep="", float_format=lambda x: f"{x:.4g}")
    begin = f"<details{' open' if unfolded else ''}><summary>{escape(title, quote=False)}</summary>"
    return f"{begin}<div class='scroll'>{body}</div></details>"


def rendered(package: str, name: str, /, **values: Any) -> str:
    """A page from a template of a package, with plotly, packed, where something on it is drawn."""
    page = template(package, name).render(**values)
    if "class='plot'" not in page:
        return page
    library = plotly_packed(whole="data-library='whole'" in page)
    return page.replace(_LIBRARY, f'<script type="application/gzip" id="plotly">{library}</script>')


def template(package: str, name: str) -> jinja2.Template:
    """A template of a package, which may extend `base.html` and include the other templates of this package."""
    loaders = [jinja2.PackageLoader(each, "") for each in dict.fromkeys((package, "modinterp.pages"))]
    environment = jinja2.Environment(loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True)  # fmt: skip
    return environment.get_template(name)
