"""The claims of "Circuit engineering", one file a section: addition, maximum, median and sort."""

from modinterp.sources.circuits.claims import (
    addition,
    contradictions,
    copying,
    data,
    invariance,
    median,
    scores,
    sort_scores,
    sorting,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (addition, data, invariance, scores, copying, median, sorting, sort_scores)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
