"""Record all measurements of one run, to be shipped in place of its weights."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from modinterp.measurements import NetworkMeasurements, measure_as_published
from modinterp.measurements.recorded import plain, recorded_values
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.runs.recorded_results import Recorded
from modinterp.sources import Source, catalogue, of_each


def recorded(run: TrainedRun) -> Recorded:
    """Return the data shipped in place of a run's weights: single-network claim results, and measurements that fit in
    JSON.

    Recorded measurements are only needed by claims and figures of several networks. If no claim or figure of several
    networks includes the run, no measurement is recorded.

    Args:
        run: a trained run with its weights.
    """
    m = measure_as_published(replace(run, recorded=None))
    is_asked = any(of_each(lambda each: _takes_in(each, run.name)).values())
    return Recorded(recorded_values(m) if is_asked else {}, numbers_of_claims(m))


def numbers_of_claims(m: NetworkMeasurements) -> dict[str, dict[str, tuple[float, ...]]]:
    """Map the id of each single-network claim that covers a run to its numbers."""
    specs, found = catalogue(), {}
    for claim in (claim for claims in of_each(lambda each: each.claims).values() for claim in claims.values()):
        if claim.of_one is not None and m.run.name in claim.subjects(specs):
            with suppress(NotRecorded):
                found[claim.id] = {name: tuple(plain(list(values))) for name, values in claim.numbers(m).items()}
    return found


def _takes_in(source: Source, run: str) -> bool:
    """Return True if a claim about several networks, or a figure of several networks, includes a run."""
    claims = (claim for claim in source.claims.values() if claim.of_one is None)
    figures = (drawing for drawing in source.drawings.values() if drawing.all_of)
    return any(run in claim.needs for claim in claims) or any(f.shows(run, source.main_run) for f in figures)
