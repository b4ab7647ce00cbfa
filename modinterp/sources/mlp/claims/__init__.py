"""The claims of Kissane's notebook on modular addition with a one-hidden-layer MLP."""

from modinterp.sources.mlp.claims import activations, logits, network, readoff
from modinterp.sources.mlp.claims.contradictions import CONTRADICTIONS

SECTIONS = (network, activations, logits, readoff)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
