"""What every page is made of: one style, plotly once, figures and tables."""

from __future__ import annotations

from typing import Any

import jinja2
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

_PLOT = {"displaylogo": False, "responsive": True}


def figure_html(figure: go.Figure, key: str) -> str:
    """A figure as a part of a page that has plotly."""
    return figure.to_html(config=_PLOT, include_plotlyjs=False, full_html=False, div_id=f"plot-{key}", auto_play=False)


def table_html(title: str, table: pd.DataFrame) -> str:
    """A table that unfolds under its title."""
    body = table.to_html(index=False, border=0, na_rep="", float_format=lambda x: f"{x:.4g}")
    return f"<details><summary>{title}</summary><div class='scroll'>{body}</div></details>"


def rendered(package: str, name: str, /, **values: Any) -> str:
    """A package's template with its values, `plotly` among them."""
    return template(package, name).render(plotly=get_plotlyjs(), **values)


def template(package: str, name: str) -> jinja2.Template:
    """A package's template, which may extend `base.html` and include `style.css` of this package."""
    loaders = [jinja2.PackageLoader(each, "") for each in dict.fromkeys((package, "modinterp.reproduce"))]
    environment = jinja2.Environment(loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True)  # fmt: skip
    return environment.get_template(name)
