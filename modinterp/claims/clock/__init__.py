"""The blog post on the Clock algorithm and its petals."""

from modinterp.claims.clock import attention, circles, contradictions, mlp, motion, petals, readout, setup

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (setup, circles, attention, petals, mlp, motion, readout)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
