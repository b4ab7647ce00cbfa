"""Kissane's notebook on modular addition with a one-hidden-layer MLP."""

from modinterp.claims.mlp import activations, contradictions, logits, network, readoff

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (network, activations, logits, readoff)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
