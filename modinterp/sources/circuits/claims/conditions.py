"""Preconditions of claims: the network has learned its task."""

from modinterp.claims.band import at_least
from modinterp.claims.claim import Change

LEARNED = at_least(
    0.95, "this number is also high in an untrained network, so the claim needs a network that has learned the task"
)
ACCURATE = {"accuracy": LEARNED}
SAME_BAR = Change(
    date="2026-11-23",
    what="the accuracy from which a network counts as having learned its task",
    before=(
        "this accuracy was 0.99 for addition, 0.9 for the maximum with added small inputs, and 0.5 for median and sort"
    ),
    now="a network counts as having learned if its accuracy is at least 0.95, for every task",
    why=(
        "'learned' should have one meaning for all tasks. Addition networks reach an accuracy of 1.0, "
        "maximum and sort networks over 0.99, and median networks 0.978. So the new threshold of 0.95 "
        "changes no verdict"
    ),
)
