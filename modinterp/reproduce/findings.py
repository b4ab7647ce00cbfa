"""List the findings of a reproduction: claims that did not hold, and contradictions between sources."""

from __future__ import annotations

from itertools import groupby

import pandas as pd

from modinterp.claims import Result
from modinterp.claims.finding import KINDS
from modinterp.reproduce.reproduction import Reproduction

_REFUTED = "Our number misses its tolerance"
_MIXED = "The claim holds in some networks trained by the recipe, and not in others"
NAMED = 3  # networks whose missed numbers a page lists
Reasons = list[tuple[str, list[Result]]]


def contradictions_table(reproduced: Reproduction) -> pd.DataFrame:
    """Return a table with one row for each contradiction between sources: the statements, the measurement, the
    conclusion.
    """
    results = {r.claim.id.partition(".")[2]: r for r in reproduced.results}
    rows = [(c.id, c.conflict, c.measured(results), c.follows) for c in reproduced.source.contradictions]
    part = len(results) < len(reproduced.source)  # of which only what it says something of
    settled = [(*row[:3], row[3] if row[2] else "not measured") for row in rows if row[2] or not part]
    return pd.DataFrame(settled, columns=["id", "what the sources say", "measured", "what follows"])


def missed_text(result: Result) -> str:
    """Return text with the numbers outside their tolerances, such as "p53-1: loss = 0.2 (expected: at most 0.1)".

    The text names at most `NAMED` networks. If networks are only compared, the text gives the range of each number.
    """
    each = []
    for network, numbers in list(result.missed.items())[:NAMED]:
        listed = "; ".join(f"{title} = {value} (expected: {band})" for title, (value, band) in numbers.items())
        each.append(f"{network}: {listed}" if network else listed)
    more = len(result.missed) - NAMED
    return ". ".join([*each, *([f"The claim fails in {more} more network{'s' * (more > 1)}"] if more > 0 else [])])


def did_not_hold(reproduced: Reproduction) -> list[tuple[str, Reasons]]:
    """Return the claims that did not hold, grouped by kind and then by reason."""

    def why(result: Result) -> str:
        if reproduced.foreign:
            return result.measured_text(result.claim.expected)
        why = result.claim.finding.why
        return ". ".join(part for part in (f"{why[:1].upper()}{why[1:].rstrip('.')}", missed_text(result)) if part)

    kinds: dict[str, list[Result]] = {title: [] for title in (*KINDS.values(), _REFUTED, _MIXED)}
    for result in reproduced.results:
        if result.verdict == "mixed":
            kinds[_MIXED].append(result)
        elif result.verdict == "refuted":
            kinds[KINDS[result.kind] if result.kind else _REFUTED].append(result)
    return [
        (t, [(reason, list(alike)) for reason, alike in groupby(found, why)]) for t, found in kinds.items() if found
    ]
