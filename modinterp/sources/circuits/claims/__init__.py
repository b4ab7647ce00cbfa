"""The claims of "Circuit engineering", one file a section: addition, maximum, median and sort."""

from modinterp.sources.circuits.claims import (
    addition,
    addition_waves,
    contradictions,
    copying,
    data,
    dimensions,
    invariance,
    median,
    scores,
    sort_scores,
    sorting,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (addition, addition_waves, data, invariance, scores, dimensions, copying, median, sorting, sort_scores)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
