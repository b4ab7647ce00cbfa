"""The report "Circuit engineering": addition, maximum, median, sort."""

from modinterp.claims.circuits import (
    addition,
    contradictions,
    copying,
    data,
    invariance,
    median,
    scores,
    sorting,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (addition, data, invariance, scores, copying, median, sorting)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
