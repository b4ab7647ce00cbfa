"""The claims of He, Wang, Chen and Yang 2026, one file for each subject."""

from modinterp.sources.he.claims import (
    dynamics,
    features,
    flow_claims,
    grokking,
    held_out,
    mathematics,
    nonlinearities,
    setup,
    voting,
)
from modinterp.sources.he.claims.contradictions import CONTRADICTIONS

SECTIONS = (setup, mathematics, features, nonlinearities, voting, flow_claims, dynamics, grokking, held_out)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
