"""Define the labels of verdicts."""

from __future__ import annotations

FOURIER, MEMORISED, PERIODIC, UNSOLVED = "Fourier multiplication", "memorised", "other periodic", "not solved"
INTEGERS = "integer arithmetic"  # moved along a line, the answer moves
MIXED = "partly Fourier multiplication"  # some pairs by circles, others without
WAVES = "logits are waves of the answer"  # seen from outside, or not moved by turning circles
PARTLY = "partly solved"  # far above chance and below 95%, as in the middle of a training
DOUBTFUL = "doubtful"  # as it was assumed to compute, it is not the network that was trained
SOLVED = "solved, it is hidden how"  # right, not pair by pair, and nothing shows how
BEHAVIOUR = "behaviour only"  # no operation that waves explain, or no hypothesis that predicts interventions
# Of networks on sequences, whose interventions come out as these predict.
COPIES, NEXT = "copies a token that it attends to", "attends to the next in order and copies it"
DIRECTION, MEAN = "reads one direction", "running mean along a direction"
COLUMNS = "adds column by column with a carry"
