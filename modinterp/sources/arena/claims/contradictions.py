"""Conflicts that ARENA's pages have with their own figures and weights."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.arena.claims import cumsum, sum_carries, sum_circle

CONTRADICTIONS = (
    Contradiction(
        "X-A2",
        "The text lists neurons 2 and 7 as firing on negative means. The source's figure shows them firing on "
        "positive means.",
        {
            "cumsum.signs_listed": ("neurons with the sign that the source lists",),
            "cumsum.u_align": (cumsum.POS_U, cumsum.NEG_U),
        },
        "The figure is right: all six signs of the list differ from those of the network.",
    ),
    Contradiction(
        "X-A4",
        "Queries and keys are called identically zero, for a network that is saved after nine of twenty rounds.",
        {"cumsum.qk_zero": (cumsum.QUERIES, cumsum.KEYS, cumsum.SCORE)},
        "Queries and keys are small and still falling in the saved round. At the end they are a hundredth of "
        "that. Attention is uniform all the same.",
    ),
    Contradiction(
        "X-A3",
        "Heads of the first layer are said to write nothing useful at other places. The page's own plot has a "
        "rise of 0.745 there.",
        {"sum.places": (sum_carries.ELSEWHERE,)},
        "The plot is right: the network of the same seed has such a head, too.",
    ),
    Contradiction(
        "X-A5",
        "Heads that store a digit sum are said to attend uniformly to its digits. The patterns shown are means "
        "over inputs.",
        {"sum.even": (sum_carries.UNEVEN,), "sum.products": (sum_circle.FIXED,)},
        "These heads attend unevenly, and differently for different digits: with fixed patterns most answers are "
        "wrong.",
    ),
)
