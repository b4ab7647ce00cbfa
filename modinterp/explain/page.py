"""Write an explanation as one self-contained page, as JSON and as CSV."""

from __future__ import annotations

import json
import math
from itertools import groupby
from pathlib import Path

from modinterp.explain.browser import browser, can_be_browsed
from modinterp.explain.drawn import FIRST, figures
from modinterp.explain.explanation import SHOWN_TRIALS, Explanation
from modinterp.explain.labels import BEHAVIOUR, FOURIER
from modinterp.explain.short_answers import answers
from modinterp.files import own_page, short_names, write_together
from modinterp.measurements import PositionMeasurements
from modinterp.measurements.quantity import number_text
from modinterp.pages.html import rendered, table_html
from modinterp.pages.plots import Drawn

LADDER = "Formulas of the network by size, compared with the network itself reduced to equally many numbers"
BROWSER = "browser.html"  # of the network's parts, beside the page


def _value_text(value: float | None) -> str:
    """Format a number for the page; empty for a missing number, whose note gives the reason."""
    if value is None:
        return "absent"
    return "" if math.isnan(value) else number_text(value)


def page(explanation: Explanation) -> str:
    """Return the explanation as one HTML document with every figure and plotly itself inside."""
    verdict, is_sequence = explanation.verdict, isinstance(explanation.measurements, PositionMeasurements)
    sections = [
        (title, [(row, _value_text(row.value)) for row in rows])
        for title, rows in groupby(explanation.rows, key=lambda row: row.stage)
    ]
    drawn = [Drawn(key, figure) for key, figure in figures(explanation.measurements)]
    formulas = explanation.formulas if explanation.formulas.rungs else None
    return rendered(
        "modinterp.explain",
        "page.html",
        name=short_names([explanation.name])[0],
        task=explanation.measurements.task.name,
        shape=explanation.measurements.model.cfg.summary,
        assumed=explanation.assumed,
        warning=explanation.warning,
        instead=explanation.instead,
        tried=[] if explanation.warning is None else explanation.warning.trials[:SHOWN_TRIALS],
        verdict=verdict,
        answers=answers(explanation.measurements, verdict, explanation.warning),
        browser=BROWSER if can_be_browsed(explanation.measurements) else "",
        state="holds" if verdict.label == FOURIER or (is_sequence and verdict.algorithm) else "open",
        asks="a network that is right"
        if is_sequence and verdict.label == BEHAVIOUR
        else verdict.label
        if is_sequence
        else FOURIER,
        criteria=[(c, number_text(c.value)) for c in verdict.criteria],
        sections=sections,
        formulas=None if formulas is None else (*formulas.sentences(), *formulas.reasons()),
        ladder=None if formulas is None else Drawn("ladder", formulas.figure(LADDER)),
        curve=None
        if formulas is None
        else table_html("Every formula", formulas.curve(bits=False, parts=False), unfolded=True),
        first=[figure for figure in drawn if figure.key in FIRST],
        figures=[figure for figure in drawn if figure.key not in FIRST],
        tables=[table_html(title, table) for title, table in explanation.tables.items()],
    )


def write_explanation(explanation: Explanation, out: Path) -> Path:
    """Write page, JSON, CSV and the browser of the network's parts; return the path of the page.

    Args:
        out: folder for the files.
    Raises:
        OSError: the folder cannot be written; its files stay unchanged.
        ValueError: the folder holds a page that modinterp did not write.
    """
    own_page(out, "explanation.json")
    content = {
        "explanation.json": json.dumps(explanation.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "explanation.csv": explanation.table().to_csv(index=False),
        "index.html": page(explanation),
    }
    if can_be_browsed(explanation.measurements):
        content[BROWSER] = browser(explanation.name, explanation.measurements)
    else:
        (out / BROWSER).unlink(missing_ok=True)  # of a network that was explained there before
    write_together({out / name: text.encode() for name, text in content.items()})
    return out / "index.html"
