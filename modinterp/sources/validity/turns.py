"""The half turn of the key circles, also of networks that have no few circles, such as untrained ones."""

from __future__ import annotations

from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.measurements import CyclicMeasurements, GroupMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.turned import Turned

Adds = CyclicMeasurements | GroupMeasurements
HALF = "half turn: the answer moves by one"
SEEN = "chosen after numbers had been seen"


def half_turn(m: Adds) -> Turned:
    """The half turn of the circles that the logits use; of the key frequencies of W_L where these are no few."""
    try:
        return m.causal.half_turn
    except NoSuchPart:
        if not isinstance(m, CyclicMeasurements):
            raise
        return m.causal.half_turn_of_keys


def half_turn_alone(m: Adds) -> Turned:
    """The half turn without its controls, which cost three times as much."""
    try:
        return m.causal.half_turn_alone
    except NoSuchPart:
        if not isinstance(m, CyclicMeasurements):
            raise
        return m.causal.turned(freqs=m.freqs)


def counter_turn(m: Adds) -> Turned:
    """The counter turn of the same circles."""
    try:
        return m.causal.counter_turn
    except NoSuchPart:
        if not isinstance(m, CyclicMeasurements):
            raise
        return m.causal.turned(0.5, -0.5, m.freqs)


def circles_between(m: Adds) -> float:
    """How many circles are neither Clock nor Pizza; NaN where there are no few circles."""
    try:
        return m.causal.count_of_kind("between")
    except NoSuchPart:
        return float("nan")


def circles_by_method(m: CyclicMeasurements) -> dict[str, tuple[int, ...]]:
    """Circles as weights, activations, removal, answers and the embedding single them out."""
    costs: dict[int, float] = m.causal.without_each["margin lost"].to_dict()
    norms = frequency_norms(component_norms(m.W_E))
    return {
        "weights": tuple(m.freqs),
        "activations": m.neurons.key_frequencies(),
        "removal": tuple(k for k, fall in costs.items() if fall > 0.1 * max(costs.values())),
        "behaviour": m.causal.circles,
        "embedding": tuple((norms > norms.max() / 4).nonzero().flatten().add(1).tolist()),
    }
