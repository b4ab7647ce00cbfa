"""What must be so for a claim to be about a network that has learned its task."""

from modinterp.claims.band import at_least

ACCURACY, TEST_ACCURACY = "accuracy", "test accuracy"  # over all inputs, and over those held out
LEARNED = at_least(0.95, "an untrained network does this too, and says nothing by it")
ACCURATE = {TEST_ACCURACY: LEARNED}
ACCURATE_ON_ALL = {ACCURACY: LEARNED}
