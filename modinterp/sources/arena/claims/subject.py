"""Choose the network of a run on which ARENA's claims are measured, and define what claims about one problem share."""

from __future__ import annotations

from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.runs import CUMSUM, UNIQUE

# The authors keep the round of the best validation accuracy: the 47th of the unique letters. Of equals they keep that with
# the smallest loss on its last batch: the ninth of the running sums. No history that is shipped has losses of last batches.
KEPT = {CUMSUM[0]: 9 * 293, UNIQUE[0]: 47 * 196}
SEED = "seed of the data"
LOSS, LOWEST = "loss of the answers", "smallest probability of the right answer"
ACCURACY = "accuracy at the positions read"


def judged(m: SequenceMeasurements) -> SequenceMeasurements:
    """Return the measurements of the network that claims are about: with the authors' seed, the network at the authors'
    epoch; else the last.
    """
    epoch = KEPT.get(m.name)
    return m.as_of(epoch) if epoch is not None and epoch in m.snapshots else m


def seed(m: SequenceMeasurements) -> int:
    """Return the seed of a run's training data and initial weights."""
    return m.task.data_seed
