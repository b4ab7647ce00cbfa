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
        "a network counted as having learned from an accuracy of 0.99 (addition), 0.9 (maximum with added small "
        "inputs) or 0.5 (median and sort)"
    ),
    now="a network counts as having learned if its accuracy is at least 0.95, for every task",
    why=(
        "'learned' should have one meaning for all tasks. Addition networks reach an accuracy of 1.0, "
        "maximum and sort networks over 0.99, and median networks 0.978. So requiring an accuracy of 0.95 from "
        "a network that has learned changes no verdict"
    ),
)
