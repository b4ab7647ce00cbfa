"""Nanda et al. 2023, *Progress measures for grokking via mechanistic interpretability*: main text and appendices."""

from modinterp.claims.nanda import (
    ablations,
    fractions,
    generality,
    heads,
    margins,
    neurons,
    periodicity,
    phases,
    readoff,
    regularisation,
    sequences,
    setup,
    simplifications,
    variants,
)

SECTIONS = (setup, periodicity, readoff, neurons, ablations, phases, simplifications, margins, heads,
            fractions, variants, generality, regularisation, sequences)  # fmt: skip
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
