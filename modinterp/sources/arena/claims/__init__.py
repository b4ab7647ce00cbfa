"""The claims of ARENA's monthly problems, one file a part: set-up and running sums."""

from modinterp.sources.arena.claims import contradictions, cumsum, cumsum_neurons, setup

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (setup, cumsum, cumsum_neurons)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
