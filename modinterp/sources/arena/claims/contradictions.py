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
        "The figure is right: the text's list has the opposite sign of the network for all six neurons.",
    ),
    Contradiction(
        "X-A4",
        "The source calls queries and keys identically zero, but the network was saved after nine of twenty rounds.",
        {"cumsum.qk_zero": (cumsum.QUERIES, cumsum.KEYS, cumsum.SCORE)},
        "Queries and keys are small and still falling in the saved round. By the end of training, queries and "
        "keys are a hundred times smaller. Attention is uniform in both rounds.",
    ),
    Contradiction(
        "X-A3",
        "The page says that first-layer heads write nothing useful at other positions. The page's own plot shows "
        "an exception, with a loss rise of 0.745.",
        {"sum.places": (sum_carries.ELSEWHERE,)},
        "The plot is right: our network of the authors' seed also has a first-layer head that matters at another "
        "position.",
    ),
    Contradiction(
        "X-A5",
        "The page says that heads storing a digit sum attend uniformly to both digits. The page shows attention "
        "patterns averaged over inputs.",
        {"sum.even": (sum_carries.UNEVEN,), "sum.products": (sum_circle.FIXED,)},
        "Heads that store a digit sum attend unevenly, and differently for different digits. With fixed attention "
        "patterns most answers are wrong.",
    ),
)
