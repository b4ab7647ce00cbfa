"""What Chughtai et al. 2023 say of networks that compose the elements of finite groups."""

from modinterp.sources.groups.claims import (
    mathematics,
    mechanism,
    progress,
    representations,
    tables,
    training,
    universality,
)
from modinterp.sources.groups.claims.contradictions import CONTRADICTIONS

SECTIONS = (mathematics, training, representations, mechanism, progress, tables, universality)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
