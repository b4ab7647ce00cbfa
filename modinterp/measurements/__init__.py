"""Measure one network; each result is computed once and cached: `measure(run).keys`, `m["logit_fve"]`, `m.neuron(17)`.

Each family of tasks has its class: any pairs (`PairMeasurements`), pairs of residues (`CyclicMeasurements`), pairs of
group elements (`GroupMeasurements`), numbers to order (`OrderMeasurements`), and sequences (`SequenceMeasurements`).
Claims, figures and explanations take all their numbers from measurements.
"""

from modinterp.measurements import causal_quantities, position_quantities, quantities  # noqa: F401 - which register them
from modinterp.measurements.cyclic import CyclicMeasurements
from modinterp.measurements.families import family, measure, measure_as_published
from modinterp.measurements.groups import GroupMeasurements
from modinterp.measurements.network import NetworkMeasurements, NoSuchPart, one_at_a_time
from modinterp.measurements.orders import OrderMeasurements
from modinterp.measurements.pairs import PairMeasurements
from modinterp.measurements.positions import PositionMeasurements
from modinterp.measurements.quantity import REGISTRY, Quantity, quantity
from modinterp.measurements.sequences import SequenceMeasurements

__all__ = [
    "REGISTRY",
    "CyclicMeasurements",
    "GroupMeasurements",
    "NetworkMeasurements",
    "NoSuchPart",
    "OrderMeasurements",
    "PairMeasurements",
    "PositionMeasurements",
    "Quantity",
    "SequenceMeasurements",
    "family",
    "measure",
    "measure_as_published",
    "one_at_a_time",
    "quantity",
]
