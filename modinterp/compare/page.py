"""Write a comparison as one self-contained page, as JSON and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from modinterp.compare.comparison import Comparison
from modinterp.explain.labels import FOURIER
from modinterp.explain.short_answers import answers
from modinterp.figures import comparison as drawn
from modinterp.figures.ladder import ladders
from modinterp.files import own_page, short_names, write_together
from modinterp.measurements.quantity import REGISTRY, WORDS, number_text
from modinterp.pages.html import rendered, table_html
from modinterp.pages.plots import Drawn


def figures(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield the key of each figure of a comparison, and the figure; yield nothing if no task has frequencies."""
    if comparison.waved:
        yield "spectra", drawn.spectra({name: m.keys.norms for name, m in comparison.waved.items()})
        losses = {name: m.loss_without_each_block.tolist() for name, m in comparison.waved.items()}
        yield "losses", drawn.losses_without(losses, {name: m.own_score.loss for name, m in comparison.waved.items()})


def _figure_of_formulas(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    if any((curve["share of all numbers"] > 0).any() for curve in comparison.curves.values()):
        yield (
            "ladders",
            ladders(comparison.curves, "Distance between each network and its formulas, by the size of the formula"),
        )


def _renamed(comparison: Comparison) -> Comparison:
    """Return a copy of the comparison with file names instead of paths, so that the page reveals no local paths."""
    names = short_names(list(comparison.names))
    return Comparison(dict(zip(names, comparison.explanations.values(), strict=True)))


def _networks(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the data for the top of the page: for each network, the verdict as three short answers."""
    for name, x in comparison.explanations.items():
        yield {
            "name": name,
            "label": x.verdict.label,
            "is_explained": x.verdict.label == FOURIER,
            "answers": answers(x.measurements, x.verdict, x.warning),
            "warning": "" if x.warning is None else x.warning.words,
        }


def _rows(comparison: Comparison) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the cells of each table row in which at least one network has a number."""
    for key, row in comparison.table().drop(index=["warning", "verdict"]).iterrows():
        cells = ["" if value == "" else value if isinstance(value, str) else number_text(float(value)) for value in row]
        if any(cells):
            title = REGISTRY[str(key)].title.format(**WORDS) if key in REGISTRY else str(key)
            yield title, cells


def page(comparison: Comparison) -> str:
    """Return the comparison as one HTML document with every figure and plotly itself inside."""
    shown_as = _renamed(comparison)
    return rendered(
        "modinterp.compare",
        "page.html",
        networks=list(_networks(shown_as)),
        rows=list(_rows(shown_as)),
        first=[Drawn(key, figure) for key, figure in (*figures(shown_as), *_figure_of_formulas(shown_as))],
        figures=(),
        tables=[
            table_html("Agreement of the key frequencies (Jaccard)", shown_as.agreement().reset_index(names="")),
            table_html("Share of the energy at the key frequencies", shown_as.frequencies()),
            table_html("Loss with one frequency removed from the logits [nats]", shown_as.losses_without()),
            table_html("How well formulas reproduce each network", shown_as.formulas()),
            table_html("Every number", shown_as.numbers().reset_index(names="key")),
        ],
    )


def write_comparison(comparison: Comparison, out: Path) -> Path:
    """Write `comparison.json`, `comparison.csv` and `index.html`, and return the path of the page.

    Raises:
        OSError: the folder cannot be written; its files stay unchanged.
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
