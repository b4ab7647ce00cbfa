"""The claims of ARENA's monthly problems, one file a part: set-up, running sums, sorted lists, palindromes."""

from modinterp.sources.arena.claims import cumsum, cumsum_neurons, setup

SECTIONS = (setup, cumsum, cumsum_neurons)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
