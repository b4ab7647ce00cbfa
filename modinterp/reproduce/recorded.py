"""All that is measured of one run by itself, to be shipped in place of its weights."""

from __future__ import annotations

from modinterp.measurements import measure
from modinterp.measurements.recorded import plain, recorded_values
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.runs.recorded import Recorded
from modinterp.sources import catalogue, sources


def recorded(run: TrainedRun) -> Recorded:
    """The measurements of a run, and the numbers that the claims of all sources which are about it have of it.

    Claims about several networks are held against the measurements, so that they need nothing else of it.

    Args:
        run: a trained run with its weights.
    """
    m, specs = measure(run), catalogue()
    claims = {}
    for claim in (claim for source in sources().values() for claim in source.claims.values()):
        if claim.of_one is not None and run.name in claim.subjects(specs):
            try:
                claims[claim.id] = {name: tuple(plain(list(values))) for name, values in claim.numbers(m).items()}
            except NotRecorded:
                continue
    return Recorded(recorded_values(m), claims)
