"""What must be so for a claim to be about a network that has learned its task."""

from modinterp.claims.band import at_least
from modinterp.claims.claim import Change

LEARNED = at_least(0.95, "an untrained network does this too, so a high value shows nothing by itself")
ACCURATE = {"accuracy": LEARNED}
SAME_BAR = Change(
    date="2026-11-23",
    what="the accuracy from which a network counts as one that has learned",
    before="0.99 for addition, 0.9 for the maximum with small inputs added, 0.5 for the median and the sort",
    now="0.95 throughout",
    why=(
        "one word has one meaning. Networks of addition reach 1.0, those of the maximum and the sort more than "
        "0.99, and those of the median 0.978, so no verdict depends on the limit"
    ),
)
