"""Kissane's notebook on modular addition with a one-hidden-layer MLP."""

from modinterp.claims.mlp import activations, logits, network, readoff

SECTIONS = (network, activations, logits, readoff)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
