"""Conflicts that ARENA's pages have with their own figures and weights."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.arena.claims import cumsum, sum_carries, sum_circle

CONTRADICTIONS = (
    Contradiction(
        "X-A2",
        "The text lists neurons 2 and 7 as firing on negative means; its figure has them fire on positive ones.",
        {
            "cumsum.signs_listed": ("neurons with the sign that the source lists",),
            "cumsum.u_align": (cumsum.POS_U, cumsum.NEG_U),
        },
        "The figure is right: none of the six signs of the list is that of the network.",
    ),
    Contradiction(
        "X-A4",
        "Queries and keys are called identically zero, of a network that is kept after nine of twenty rounds.",
        {"cumsum.qk_zero": (cumsum.QUERIES, cumsum.KEYS, cumsum.SCORE)},
        "They are small and still falling in the round that is kept, and a hundredth of that at the end; attention is "
        "uniform all the same.",
    ),
    Contradiction(
        "X-A3",
        "Heads of the first layer are said to write nothing of use at other places; the page's own plot has a rise of 0.745 there.",
        {"sum.places": (sum_carries.ELSEWHERE,)},
        "Its plot is right: the network of the same seed has such a head, too.",
    ),
    Contradiction(
        "X-A5",
        "Heads that store a digit sum are said to attend uniformly to its digits, of patterns that are means over inputs.",
        {"sum.even": (sum_carries.UNEVEN,), "sum.products": (sum_circle.FIXED,)},
        "They attend unevenly, and by what the digits are: with fixed patterns most answers are wrong.",
    ),
)
