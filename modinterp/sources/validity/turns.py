"""Measure the half turn of the key circles, even of networks whose logits use many circles, such as untrained ones."""

from __future__ import annotations

from functools import cached_property

from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.interventions.turning import is_turnable
from modinterp.measurements import CyclicMeasurements, GroupMeasurements
from modinterp.measurements.causal import Causal
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.turned import Turned

Adds = CyclicMeasurements | GroupMeasurements
HALF = "half turn: the answer moves by one"
SEEN = "we chose this tolerance after seeing measured numbers"


class CausalOfKeys(Causal):
    """Interventions on the key frequencies of W_L, for a network whose logits use many circles.

    For a network on a group, interventions are on all circles that its logits use, since W_L has other directions.
    """

    @cached_property
    def circles(self) -> tuple[int, ...]:
        """Return the key frequencies, or all circles that the logits of a network on a group use."""
        return tuple(self.m.freqs) if self.basis is self.m.basis else super().circles

    @property
    def _few(self) -> tuple[int, ...]:
        return self.circles


def causal(m: Adds) -> Causal:
    """Return interventions on the circles that the logits use; if these are many, on the key frequencies.

    The logits of a network that has not learned to add use many circles. The numbers of a network that has not learned
    are those of a control, and should miss their tolerances.
    """
    return m.causal if is_turnable(m.causal.circles, m.causal.basis.n) else m.part(CausalOfKeys)


def half_turn(m: Adds) -> Turned:
    """Return the half turn of the circles that the logits use; if these are many, of the key frequencies of W_L."""
    return causal(m).half_turn


def half_turn_alone(m: Adds) -> Turned:
    """Return the half turn without its controls, which would take three times as long."""
    return causal(m).half_turn_alone


def counter_turn(m: Adds) -> Turned:
    """Return the counter turn of the circles that `half_turn` rotates."""
    return causal(m).counter_turn


def circles_between(m: Adds) -> float:
    """Return the number of circles that are neither clock nor pizza; NaN if the network uses too many circles."""
    try:
        return m.causal.count_of_kind("between")
    except NoSuchPart:
        return float("nan")


def circles_by_method(m: CyclicMeasurements) -> dict[str, tuple[int, ...]]:
    """Return the circles that weights, activations, removal, answers and the embedding each single out."""
    costs: dict[int, float] = m.causal.without_each["margin lost"].to_dict()
    norms = frequency_norms(component_norms(m.W_E))
    return {
        "weights": tuple(m.freqs),
        "activations": m.neurons.key_frequencies(),
        "removal": tuple(k for k, fall in costs.items() if fall > 0.1 * max(costs.values())),
        "behaviour": m.causal.circles,
        "embedding": tuple((norms > norms.max() / 4).nonzero().flatten().add(1).tolist()),
    }
