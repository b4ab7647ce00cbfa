"""What must be so for a claim to be about a network that has learned its task."""

from modinterp.claims.band import at_least

TEST_ACCURACY = "test accuracy"
LEARNED = "an untrained network does this too, and says nothing by it"
ACCURATE = {TEST_ACCURACY: at_least(0.95, LEARNED)}
