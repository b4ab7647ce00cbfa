"""The claims of the blog post on the Clock algorithm and its petals, one file for each section."""

from modinterp.sources.clock.claims import (
    attention,
    circles,
    frequencies,
    mlp,
    motion,
    petals,
    petals_of_heads,
    readout,
    setup,
    singular,
)
from modinterp.sources.clock.claims.contradictions import CONTRADICTIONS

SECTIONS = (setup, frequencies, circles, attention, petals, petals_of_heads, mlp, motion, singular, readout)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
