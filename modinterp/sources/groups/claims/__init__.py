"""The claims of Chughtai et al. 2023 on networks that compose the elements of finite groups."""

from modinterp.sources.groups.claims import (
    mathematics,
    mechanism,
    progress,
    representations,
    tables,
    training,
    universality,
)
from modinterp.sources.groups.claims.conditions import of_its_group
from modinterp.sources.groups.claims.contradictions import CONTRADICTIONS

SECTIONS = (mathematics, training, representations, mechanism, progress, tables, universality)
CLAIMS = tuple(of_its_group(claim) for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
