"""The claims of ARENA's monthly problems, one file a part: set-up, running sums, sorted lists, palindromes."""

from modinterp.sources.arena.claims import contradictions, cumsum, cumsum_neurons, palindrome, setup, sort, sort_lists

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (setup, cumsum, cumsum_neurons, sort, sort_lists, palindrome)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
