"""Write networks over pairs as formulas of waves or matrices, evaluate the formulas by numpy, and compare them with the
network.

`Distilled.of(measurements)` returns the ladder of one network: formulas of growing size, called rungs.
`modinterp.distill` returns the ladder of any network.
"""

from modinterp.formulas.distilled import Distilled
from modinterp.formulas.formula import Formula
from modinterp.formulas.rung import Rung

__all__ = ["Distilled", "Formula", "Rung"]
