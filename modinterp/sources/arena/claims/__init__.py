"""The claims of ARENA's monthly problems, one file a part: set-up, running sums, lists, palindromes, letters."""

from modinterp.sources.arena.claims import (
    contradictions,
    cumsum,
    cumsum_neurons,
    palindrome,
    setup,
    sort,
    sort_lists,
    unique,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (setup, cumsum, cumsum_neurons, sort, sort_lists, palindrome, unique)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
