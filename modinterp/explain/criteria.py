"""What a verdict may be, and the numbers that it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from modinterp.claims.band import Band, at_least, at_most

FOURIER, MEMORISED, PERIODIC, UNSOLVED = "Fourier multiplication", "memorised", "other periodic", "not solved"
DOUBTFUL = "doubtful"  # as it was assumed to compute, it is not the network that was trained
SOLVED = "solved, it is hidden how"  # right, not pair by pair, and not to be told how
BEHAVIOUR = "behaviour only"  # no operation that waves explain

ACCURACY = "accuracy"
P_VALUE = "p-value of the key frequencies"
KEYS_ALONE = "accuracy of the key frequencies alone"
WITHOUT_KEYS = "accuracy without them, over the accuracy"
FORMULA = "accuracy of the formula"
FORMULA_FIT = "logits explained by the formula"
NEURONS = "neurons explained by the key frequencies"  # where they are seen, and most of the logits come from them

# What each number must reach, and why just that.
BANDS: dict[str, Band] = {
    ACCURACY: at_least(0.95, "a table of the training pairs alone is right on the share that was trained on"),
    P_VALUE: at_most(0.01, "the largest over the three nulls"),
    KEYS_ALONE: at_least(0.95, "they suffice"),
    WITHOUT_KEYS: at_most(
        0.75, "they are needed; a pizza of one frequency keeps 0.56 of its answers, where its slices exceed their mean"
    ),
    FORMULA: at_least(0.95, "it answers in the network's place"),
    FORMULA_FIT: at_least(
        0.5, "more of the logits than everything else together, up to what no softmax sees and a bias would supply"
    ),
    NEURONS: at_least(
        0.5, "more than everything else together; a table with a neuron for every pair may hold such logits"
    ),
}


@dataclass(frozen=True)
class Criterion:
    """One number that the verdict rests on.

    Attributes:
        name: what is measured.
        value: the number.
        band: what it must reach.
    """

    name: str
    value: float
    band: Band

    @property
    def met(self) -> bool:
        """Whether the number lies in its band."""
        return self.band.holds(self.value)
