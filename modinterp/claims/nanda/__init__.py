"""Nanda et al. 2023, *Progress measures for grokking via mechanistic interpretability*: main text and appendices A, B, C.1."""

from modinterp.claims.nanda import (
    ablations,
    heads,
    margins,
    neurons,
    periodicity,
    phases,
    readoff,
    setup,
    simplifications,
)

SECTIONS = (setup, periodicity, readoff, neurons, ablations, phases, simplifications, margins, heads)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
