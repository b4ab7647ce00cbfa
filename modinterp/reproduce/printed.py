"""Compare the numbers that a source prints with ours, and with their range over numerical replicates and over seeds."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log10

import pandas as pd

from modinterp.claims import Result
from modinterp.training.relation import Relation


def printed_table(results: Iterable[Result]) -> pd.DataFrame:
    """Return a table with one row for each printed number that was measured; each measurement appears once.

    Columns: place in the source, claim, number, whether the first network was chosen by the number, the source's value,
    and our value on the first network. More columns: the smallest and largest value over numerical replicates and over
    other seeds and initialisation orders, and the ranges that contain the source's value, or why none does.
    """
    rows: dict[tuple[str, float], dict[str, object]] = {}
    for result in results:
        for name, value in result.claim.printed.items():
            values = result.measured.get(name, ())
            if len(values) != len(result.networks) or not values:
                continue
            known = [(v, network.relation) for v, network in zip(values, result.networks, strict=True) if v == v]
            own, others = ([v for v, how in known if (how in _OWN) is of_seed] for of_seed in (True, False))
            place = _place(value, own, others)
            row = {
                "where": result.claim.where,
                "claim": result.claim.id,
                "number": result.title(name),
                "by selection": name in result.claim.by_selection,
                "the source": value,
                "ours": values[0],
                **_range("variants of the seed", own),
                **_range("other seeds", others),
                "the source's number is": place,
                "why outside": result.claim.outside.get(name, "") if place == OUTSIDE else "",
            }
            rows.setdefault((f"{result.claim.where} {name}", value), row)
    return pd.DataFrame(list(rows.values()))


OUTSIDE = "outside the ranges of the numerical replicates and of the other seeds"
_OWN = (Relation.SAME, Relation.ROUNDING)


def _range(name: str, values: list[float]) -> dict[str, object]:
    low, high = (min(values), max(values)) if values else (float("nan"), float("nan"))
    return {f"{name}, smallest": low, f"{name}, largest": high, f"{name}, networks": len(values)}


def _place(value: float, own: list[float], others: list[float]) -> str:
    """Return text that names the ranges in which a value lies."""
    ranges = {"numerical replicates": own, "other seeds": others}
    places = [name for name, values in ranges.items() if _within(value, values)]
    if len(places) == 1:
        return f"only within the range of the {places[0]}"
    return "within the ranges of the numerical replicates and of the other seeds" if places else OUTSIDE


def _within(value: float, values: list[float]) -> bool:
    """Return True if a value that is printed to three digits lies within the range of other values."""
    half = 0.5 * 10 ** (floor(log10(abs(value))) - 2) if value else 0.0
    return bool(values) and min(values) - half <= value <= max(values) + half
