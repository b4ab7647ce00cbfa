"""Conflicts that ARENA's pages have with their own figures and weights."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.arena.claims import cumsum, sum_carries, sum_circle

CONTRADICTIONS = (
    Contradiction(
        "X-A2",
        "The text lists neurons 2 and 7 as firing on negative means. The source's figure shows neurons 2 and 7 "
        "firing on positive means.",
        {
            "cumsum.signs_listed": ("neurons with the sign that the source lists",),
            "cumsum.u_align": (cumsum.POS_U, cumsum.NEG_U),
        },
        "The figure is right: in our network all six neurons fire on the sign opposite to the text's list.",
    ),
    Contradiction(
        "X-A4",
        "The source calls queries and keys identically zero, but the network was saved after nine of twenty rounds.",
        {"cumsum.qk_zero": (cumsum.QUERIES, cumsum.KEYS, cumsum.SCORE)},
        "In the saved round, queries and keys are small and still shrinking. By the end of "
        "training, queries and keys are a hundred times smaller. Attention is uniform in the "
        "saved round and at the end.",
    ),
    Contradiction(
        "X-A3",
        "The page says that first-layer heads write something useful only at the last digit and "
        "at the answer positions. The page's own plot shows another position, where removing a "
        "head raises the loss by 0.745.",
        {"sum.places": (sum_carries.ELSEWHERE,)},
        "The plot is right: in our network of the authors' seed, a first-layer head also matters "
        "at a position that the page calls useless.",
    ),
    Contradiction(
        "X-A5",
        "The page says that heads storing a digit sum attend uniformly to both digits. The page shows attention "
        "patterns averaged over inputs.",
        {"sum.even": (sum_carries.UNEVEN,), "sum.products": (sum_circle.FIXED,)},
        "Heads that store a digit sum attend unevenly, and differently for different digits. If "
        "attention patterns are fixed, the network gets most answers wrong.",
    ),
)
