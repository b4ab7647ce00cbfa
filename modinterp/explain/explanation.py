"""The explanation of one network: a verdict, one table of named numbers, and the tables behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import pandas as pd

from modinterp.claims.result import number_text
from modinterp.explain import sections
from modinterp.explain.alarm import Alarm
from modinterp.explain.rows import Row
from modinterp.explain.verdict import Verdict

SHOWN_TRIALS = 6


@dataclass(eq=False)
class Explanation:
    """What one network does with its pairs.

    Attributes:
        name: of the run or file.
        measurements: what the numbers are taken from, for whoever wants more than the table: `StrangerMeasurements`, or
            `GroupStranger`, or `Behaviour` alone where the task is neither an addition under any names nor a group.
        rows: every number of the table, or why it was not measured.
        verdict: what the numbers amount to.
        assumed: the forward pass and the inputs that all of it is of.
        alarm: what is doubtful about that; None where nothing is.
    """

    name: str
    measurements: Any = field(repr=False)
    rows: tuple[Row, ...]
    verdict: Verdict
    assumed: str = ""
    alarm: Alarm | None = None

    def row(self, key: str) -> Row:
        """The row of a key, with what it is and its note.

        Raises:
            KeyError: there is no such number.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise KeyError(f"no number {key!r}; there are {', '.join(row.key for row in self.rows)}")

    def __getitem__(self, key: str) -> float:
        """The number of a key of the table.

        Raises:
            KeyError: there is no such number, or it was not measured.
        """
        row = self.row(key)
        if row.value is None:
            raise KeyError(f"{key} was not measured: {row.note}")
        return row.value

    def table(self) -> pd.DataFrame:
        """One row a number: section, key, what it is, value (NaN where it was not measured), note."""
        return pd.DataFrame(
            {
                "section": row.section,
                "key": row.key,
                "quantity": row.quantity,
                "value": math.nan if row.value is None else row.value,
                "note": row.note if row.value is not None else f"not measured: {row.note}",
            }
            for row in self.rows
        )

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables behind the numbers, by title."""
        tried = {} if self.alarm is None else {"What else was tried": self.alarm.table()}
        return tried | dict(sections.tables(self.measurements))

    def to_json(self) -> dict[str, Any]:
        """Plain data; null for what was not measured or is not finite, with the reason beside it."""
        criteria = self.verdict.criteria
        return {
            "network": self.name,
            "task": self.measurements.task.name,
            "shape": self.measurements.model.cfg.summary,
            "assumed": self.assumed,
            "alarm": None if self.alarm is None else self.alarm.words,
            "tried": {} if self.alarm is None else {t.assumption: t.score.accuracy for t in self.alarm.trials},
            "verdict": self.verdict.label,
            "words": self.verdict.words,
            "clock_or_pizza": self.verdict.clock_or_pizza,
            "criteria": {c.name: {"value": _finite(c.value), "wanted": str(c.band), "met": c.met} for c in criteria},
            "key_frequencies": list(getattr(self.measurements, "freqs", ())),
            "key_representations": list(getattr(self.measurements, "key_names", ())),
            "numbers": {row.key: _finite(row.value) for row in self.rows},
            "notes": {row.key: row.note for row in self.rows if row.note},
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        words = f"<b>{self.verdict.label}</b><p>{escape(self.verdict.words)}</p><p>{escape(self.assumed)}</p>"
        return f"{words}{self.table().to_html(index=False)}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _lines(explanation: Explanation) -> Iterator[str]:
    measurements = explanation.measurements
    yield f"{explanation.name}: {measurements.task.name}, {measurements.model.cfg.summary}"
    yield explanation.assumed
    if explanation.alarm is not None:
        yield f"\nALARM: {explanation.alarm.words}"
        best = explanation.alarm.trials[:SHOWN_TRIALS]
        yield from (f"  {t.assumption:<72} accuracy {t.score.accuracy:.2%}, loss {t.score.loss:.3g}" for t in best)
    section = ""
    for row in explanation.rows:
        if row.section != section:
            section = row.section
            yield f"\n{section}"
        value = "not measured" if row.value is None else number_text(row.value)
        yield f"  {row.quantity:<72} {value:>12}  {row.note}".rstrip()
    yield f"\nverdict: {explanation.verdict.label}"
    for c in explanation.verdict.criteria:
        yield f"  {c.name:<72} {number_text(c.value):>12}  {c.band}{'' if c.met else ': missed'}"
    yield explanation.verdict.words
