"""The claims that answer the criteria of a public audit: do small networks add by circles?"""

from modinterp.claims import Contradiction
from modinterp.sources.validity.claims import construct, controls, external, internal, measurement, trained

SECTIONS = (construct, measurement, internal, controls, trained, external)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
CONTRADICTIONS: tuple[Contradiction, ...] = ()

__all__ = ["CLAIMS", "CONTRADICTIONS", "SECTIONS"]
