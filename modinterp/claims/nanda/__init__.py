"""Nanda et al. 2023, *Progress measures for grokking via mechanistic interpretability*.

Main text, appendices A, B, C.1 and C.2.1, and what of D and E is measured on the same networks.
"""

from modinterp.claims.nanda import (
    ablations,
    amplification,
    contradictions,
    heads,
    margins,
    neurons,
    periodicity,
    phases,
    readoff,
    seeds,
    setup,
    simplifications,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (
    setup,
    periodicity,
    readoff,
    neurons,
    ablations,
    phases,
    simplifications,
    margins,
    heads,
    seeds,
    amplification,
)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
