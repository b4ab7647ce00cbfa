"""What must be so for a claim to be about a network that has learned, and the tasks that the source singles out."""

from modinterp.claims.band import at_least
from modinterp.measurements import GridMeasurements

FIRST_PRIMES = (2, 3, 5, 7)  # whose tasks the source says are learned first
LEARNED = "it is said of a network that has learned"
MEAN_TEST_ACCURACY = "mean test accuracy"
GENERALISED = {MEAN_TEST_ACCURACY: at_least(0.9, LEARNED)}


def later_primes(m: GridMeasurements) -> tuple[int, ...]:
    """Primes of a run's tasks, but for the first four."""
    return tuple(q for q in m.task.output_sizes if q not in FIRST_PRIMES)
