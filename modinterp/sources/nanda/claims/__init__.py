"""The claims of Nanda et al. 2023, *Progress measures for grokking via mechanistic interpretability*: main text and
appendices.
"""

from modinterp.sources.nanda.claims import (
    ablations,
    amplification,
    fractions,
    generality,
    heads,
    lookups,
    margins,
    neurons,
    periodicity,
    phases,
    progress,
    readoff,
    regularisation,
    seeds,
    sequence_heads,
    sequences,
    setup,
    simplifications,
    variants,
)
from modinterp.sources.nanda.claims.contradictions import CONTRADICTIONS

SECTIONS = (
    setup,
    periodicity,
    readoff,
    neurons,
    ablations,
    progress,
    phases,
    simplifications,
    margins,
    heads,
    lookups,
    seeds,
    fractions,
    variants,
    generality,
    regularisation,
    sequences,
    sequence_heads,
    amplification,
)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
