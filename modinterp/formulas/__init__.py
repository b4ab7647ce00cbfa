"""Networks over pairs written as formulas of waves or matrices, evaluated by numpy and compared with the network.

`Distilled.of(measurements)` is the ladder of formulas of one network; `modinterp.distill` makes a ladder from any
network.
"""

from modinterp.formulas.distilled import Distilled
from modinterp.formulas.formula import Formula
from modinterp.formulas.rung import Rung

__all__ = ["Distilled", "Formula", "Rung"]
