"""Nanda et al. 2023, *Progress measures for grokking via mechanistic interpretability*: main text and appendices."""

from modinterp.claims.nanda import (
    ablations,
    amplification,
    contradictions,
    fractions,
    generality,
    heads,
    margins,
    neurons,
    periodicity,
    phases,
    readoff,
    regularisation,
    seeds,
    sequences,
    setup,
    simplifications,
    variants,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (setup, periodicity, readoff, neurons, ablations, phases, simplifications, margins, heads,
            seeds, fractions, variants, generality, regularisation, sequences, amplification)  # fmt: skip
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
