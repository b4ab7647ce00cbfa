"""Hold the explanation of one network: its verdict, one table of named numbers, and detailed tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import pandas as pd

from modinterp.explain.drawn import FIRST, figures
from modinterp.explain.short_answers import answers
from modinterp.explain.tables import tables
from modinterp.explain.verdict import Verdict
from modinterp.explain.warning import ReadingWarning
from modinterp.formulas import Distilled
from modinterp.measurements.quantity import Reading, number_text

SHOWN_TRIALS = 6


@dataclass(eq=False)
class Explanation:
    """The explanation of one network: verdict, numbers, tables and figures.

    Attributes:
        name: name of the run or file.
        measurements: the measurements of the network, as `modinterp.measure` returns them.
        rows: one `Reading` for each number of the table; a missing number has a note with the reason.
        verdict: the algorithm, or the lack of one, that the numbers show.
        assumed: a sentence that states the forward pass and the inputs used for every number.
        warning: the reason why the assumptions in `assumed` are doubtful; None without doubts.
        instead: the arguments under which the network answers correctly, and the explanation with these arguments; None
            if no arguments fit better.
    """

    name: str
    measurements: Any = field(repr=False)
    rows: tuple[Reading, ...]
    verdict: Verdict
    assumed: str = ""
    warning: ReadingWarning | None = None
    instead: tuple[str, Explanation] | None = field(default=None, repr=False)

    def row(self, key: str) -> Reading:
        """Return the reading of a quantity by its key, with value, title, unit and note.

        Raises:
            KeyError: the explanation has no number with this key.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise KeyError(f"there is no number {key!r}; choose one of {', '.join(row.key for row in self.rows)}")

    def __getitem__(self, key: str) -> float:
        """Return the value of a quantity by its key; equal to `measurements[key]`.

        Raises:
            KeyError: no quantity with this key is defined for networks of this kind.
            NoSuchPart: the network lacks a part that the number needs.
        """
        return self.measurements[key]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each number: stage, key, title, value (NaN where absent), unit, definition,
        note.
        """
        return pd.DataFrame(row.row() for row in self.rows)

    @cached_property
    def formulas(self) -> Distilled:
        """Formulas of the network, from the smallest to all weights, as `modinterp.distill` returns them."""
        return Distilled.of(self.measurements)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Map the title of each table behind the numbers to the table."""
        tried = {} if self.warning is None else {"Other assumptions that were tried": self.warning.table()}
        return tried | dict(tables(self.measurements))

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Map the key of each figure of the page, such as `spectra`, to the figure; drawn at first use."""
        return dict(figures(self.measurements))

    def _ipython_display_(self) -> None:
        """Show the verdict, the numbers and the first figures of the page in a notebook."""
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        display(HTML(self._repr_html_()))
        for key in FIRST:
            if key in self.figures:
                display(self.figures[key])

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as data for JSON. A number that is missing or not finite is null, with a reason."""
        criteria = self.verdict.criteria
        return {
            "network": self.name,
            "task": self.measurements.task.name,
            "shape": self.measurements.model.cfg.summary,
            "assumed": self.assumed,
            "warning": None if self.warning is None else self.warning.words,
            "tried": {} if self.warning is None else {t.assumption: t.score.accuracy for t in self.warning.trials},
            "verdict": self.verdict.label,
            "instead": None if self.instead is None else {"said": self.instead[0]} | self.instead[1].to_json(),
            "words": self.verdict.words,
            "clock_or_pizza": self.verdict.clock_or_pizza,
            "criteria": {c.key: {"value": _finite(c.value), "wanted": str(c.band), "met": c.met} for c in criteria},
            "key_frequencies": list(getattr(self.measurements, "freqs", ())),
            "key_representations": list(self.measurements.key_names if hasattr(self.measurements, "irreps") else ()),
            "numbers": {row.key: _finite(row.value) for row in self.rows},
            "notes": {row.key: row.note for row in self.rows if row.note},
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        found = answers(self.measurements, self.verdict, self.warning)
        said = "".join(f"<dt>{question}</dt><dd>{escape(answer)}</dd>" for question, answer in found)
        words = f"<p>{escape(self.verdict.words)}</p><p>{escape(self.assumed)}</p>{self.table().to_html(index=False)}"
        folded = f"<details><summary>The numbers</summary>{words}</details>"
        return f"<b>{escape(self.verdict.label)}</b><dl>{said}</dl>{folded}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _lines(explanation: Explanation) -> Iterator[str]:
    measurements = explanation.measurements
    yield f"{explanation.name}: {measurements.task.name}, {measurements.model.cfg.summary}"
    yield explanation.assumed
    if explanation.warning is not None:
        yield f"\nWARNING: {explanation.warning.words}"
        best = explanation.warning.trials[:SHOWN_TRIALS]
        yield from (f"  {t.assumption:<72} accuracy {t.score.accuracy:.2%}, loss {t.score.loss:.3g}" for t in best)
    section = last = ""
    for row in explanation.rows:
        if row.stage != section:
            section = row.stage
            yield f"\n{section}"
        value = "absent" if row.value is None else number_text(row.value)
        title = f"{row.title} [{row.unit}]" if row.unit else row.title
        note = "for the same reason" if row.value is None and row.note == last else row.note
        yield f"  {title:<72} {value:>12}  {note}".rstrip()
        last = row.note
    yield f"\nverdict: {explanation.verdict.label}"
    if explanation.verdict.criteria:
        yield f"  {'':<72} {'measured':>12}  wanted"
    for c in explanation.verdict.criteria:
        yield f"  {c.name:<72} {number_text(c.value):>12}  {c.band}{'' if c.met else ': missed'}"
    yield explanation.verdict.words
    if explanation.instead is not None:
        said, other = explanation.instead
        yield f"\nwith {said}: {other.verdict.label}"
        yield other.verdict.words
