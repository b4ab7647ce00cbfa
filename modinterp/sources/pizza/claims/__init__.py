"""The claims of Zhong et al. 2023 on networks that add by a clock or by a pizza."""

from modinterp.sources.pizza.claims import circles, linear, mathematics, models, phases, setup
from modinterp.sources.pizza.claims.contradictions import CONTRADICTIONS

SECTIONS = (setup, mathematics, models, circles, phases, linear)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
