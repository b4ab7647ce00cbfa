"""What is measured of one run, each analysis done once and kept: `measure(run).keys`, `.readoff`, `.phases`.

One class a family of tasks: pairs of residues (`PairMeasurements`), pairs of which several things are asked
(`GridMeasurements`), pairs of elements of a group (`GroupMeasurements`), numbers to order (`OrderMeasurements`),
sequences (`SequenceMeasurements`). Claims, figures and explanations ask measurements, and nothing else.
"""

from modinterp.measurements.families import family, measure
from modinterp.measurements.grid import GridMeasurements
from modinterp.measurements.groups import GroupMeasurements
from modinterp.measurements.network import NetworkMeasurements, NoSuchPart, one_at_a_time
from modinterp.measurements.orders import OrderMeasurements
from modinterp.measurements.pairs import PairMeasurements
from modinterp.measurements.sequences import SequenceMeasurements

__all__ = [
    "GridMeasurements",
    "GroupMeasurements",
    "NetworkMeasurements",
    "NoSuchPart",
    "OrderMeasurements",
    "PairMeasurements",
    "SequenceMeasurements",
    "family",
    "measure",
    "one_at_a_time",
]
