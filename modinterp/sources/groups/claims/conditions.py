"""When a network has learned."""

from modinterp.analyses.fourier.ablations import accuracy_on
from modinterp.claims.band import at_least
from modinterp.measurements import GroupMeasurements

TEST_ACCURACY = "test accuracy"
LEARNED = {TEST_ACCURACY: at_least(0.99, "it is said of a network that has learned")}


def test_accuracy(m: GroupMeasurements) -> float:
    """Accuracy on the pairs held out, by the run's log; on all pairs for a foreign checkpoint, which has none."""
    return accuracy_on(m.logits, m.labels) if m.history.empty else float(m.history["test_accuracy"].iloc[-1])


def has_learned(m: GroupMeasurements) -> bool:
    """Whether a network answers pairs rightly that it was not trained on."""
    return LEARNED[TEST_ACCURACY].holds(test_accuracy(m))
