"""Contradictions between the text of ARENA's pages and their figures and weights."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.arena.claims import cumsum, sum_carries, sum_circle

CONTRADICTIONS = (
    Contradiction(
        "X-A2",
        "The source's text lists neurons 2 and 7 as firing on negative means. The source's figure shows "
        "neurons 2 and 7 firing on positive means.",
        {
            "cumsum.signs_listed": ("neurons with the sign that the source lists",),
            "cumsum.u_align": (cumsum.POS_U, cumsum.NEG_U),
        },
        "The source's figure is right: in our network each of the six neurons fires on the sign opposite to"
        " the one in the source's text.",
    ),
    Contradiction(
        "X-A4",
        "The source calls queries and keys identically zero, but its network was saved after nine of twenty"
        " rounds of training, before they reach zero.",
        {"cumsum.qk_zero": (cumsum.QUERIES, cumsum.KEYS, cumsum.SCORE)},
        "In the saved network, queries and keys are small and still shrinking. By the end of training, "
        "queries and keys are a hundred times smaller than in the saved network. Attention is uniform in "
        "the saved network and at the end of training.",
    ),
    Contradiction(
        "X-A3",
        "The source's page says that first-layer heads write something useful only at the last digit and at"
        " the answer positions. The page's own plot shows a further position at which removing a head "
        "raises the loss by 0.745.",
        {"sum.places": (sum_carries.ELSEWHERE,)},
        "The source's plot is right: in our network with the authors' seed, a first-layer head also matters"
        " at a position that the page calls useless.",
    ),
    Contradiction(
        "X-A5",
        "The source's page says that heads storing a digit sum attend uniformly to both digits. But the "
        "page only shows attention patterns averaged over inputs.",
        {"sum.even": (sum_carries.UNEVEN,), "sum.products": (sum_circle.FIXED,)},
        "Heads that store a digit sum give the two digits unequal attention, which depends on the digits. "
        "If attention patterns are replaced by their mean over inputs, the network gets most answers wrong.",
    ),
)
