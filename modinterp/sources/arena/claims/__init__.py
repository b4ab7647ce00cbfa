"""The claims of ARENA's monthly problems, one file a part: set-up, running sums, lists, palindromes, letters, sums."""

from modinterp.sources.arena.claims import (
    contradictions,
    cumsum,
    cumsum_neurons,
    palindrome,
    setup,
    sort,
    sort_lists,
    sum_answers,
    sum_carries,
    sum_circle,
    unique,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (setup, cumsum, cumsum_neurons, sort, sort_lists, palindrome, unique, sum_answers, sum_carries, sum_circle)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
