"""A comparison as one self-contained page, as JSON and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go

from modinterp.compare.comparison import Comparison, as_text
from modinterp.figures import comparison as drawn
from modinterp.figures.ladder import ladders
from modinterp.files import own_page, write_together
from modinterp.pages.html import rendered, table_html
from modinterp.pages.plots import Drawn


def figures(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Key and figure of everything that is drawn of a comparison; nothing where no task has frequencies."""
    if comparison.waved:
        yield "spectra", drawn.spectra({name: m.keys.norms for name, m in comparison.waved.items()})
        losses = {name: m.loss_without_each_block.tolist() for name, m in comparison.waved.items()}
        yield "losses", drawn.losses_without(losses, {name: m.own_score.loss for name, m in comparison.waved.items()})


def _figure_of_formulas(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    if any((curve["share of all numbers"] > 0).any() for curve in comparison.curves.values()):
        yield "ladders", ladders(comparison.curves, "Formulas of each network: how far they are from it, by their size")


def page(comparison: Comparison) -> str:
    """The comparison as one HTML document with every figure and plotly itself inside."""
    table = comparison.table().map(as_text)
    return rendered(
        "modinterp.compare",
        "page.html",
        names=comparison.names,
        rows=[(quantity, list(row)) for quantity, row in table.iterrows()],
        first=[Drawn(key, figure) for key, figure in (*figures(comparison), *_figure_of_formulas(comparison))],
        figures=(),
        tables=[
            table_html("Agreement of the key frequencies (Jaccard)", comparison.agreement().reset_index(names="")),
            table_html("Share of the energy at the key frequencies", comparison.frequencies()),
            table_html("Loss without one frequency [nats]", comparison.losses_without()),
            table_html("Formulas, and how faithful they are", comparison.formulas()),
            table_html("Every number", comparison.numbers().reset_index(names="key")),
        ],
    )


def write_comparison(comparison: Comparison, out: Path) -> Path:
    """Write `comparison.json`, `comparison.csv` and `index.html`, and return the path of the page.

    Raises:
        OSError: the folder cannot be written; what was there stays.
    """
    data = json.dumps(comparison.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    own_page(out, "comparison.json")
    content = {
        "comparison.json": data,
        "comparison.csv": comparison.table().to_csv(index_label="quantity"),
        "index.html": page(comparison),
    }
    write_together({out / name: text.encode() for name, text in content.items()})
    return out / "index.html"
