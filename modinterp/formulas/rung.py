"""Compare one formula of the ladder with its network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modinterp.formulas.faithfulness import Faithfulness
from modinterp.formulas.group_ladder import READ_FROM as OF_GROUPS
from modinterp.formulas.ladder import Step
from modinterp.formulas.reading import READ_FROM
from modinterp.formulas.waves import DIGITS

SAME, KL = 0.999, 0.01  # of a faithful formula: pairs answered as the network does, and mean divergence [nats]


@dataclass(frozen=True)
class Rung(Step):
    """One formula of the ladder, compared with the network on all pairs.

    Attributes:
        faithfulness: accuracy, loss and KL divergence of the formula's logits.
    """

    faithfulness: Faithfulness = field(default_factory=lambda: Faithfulness(*[float("nan")] * 4))

    @property
    def is_faithful(self) -> bool:
        """True if the formula describes the computation and answers like the network: on 99.9% of pairs, with KL at
        most 0.01 nats.
        """
        return self.inside and is_faithful(self.faithfulness)

    def __call__(self, a: Any, b: Any) -> np.ndarray:
        """Return the logits of all classes for pairs of residues, `[..., class]`; see `Formula.__call__`."""
        return self.formula(a, b)

    def to_json(self, digits: int = DIGITS) -> dict[str, Any]:
        """Return plain data: the formula, its assumption, the sources of its numbers, and its faithfulness.

        Args:
            digits: number of significant digits of the formula's numbers.
        """
        read_from = {name: (READ_FROM | OF_GROUPS)[name] for name in self.read_from}
        found = {name: float(f"{value:.6g}") for name, value in vars(self.faithfulness).items()}
        formula = with_digits(self.formula.to_json(), digits)
        return {"rung": self.key, "assumption": self.assumption, "inside": self.inside, "read_from": read_from,
                "numbers": self.formula.numbers, **found, "formula": formula}  # fmt: skip


def is_faithful(found: Faithfulness) -> bool:
    """Return True if logits answer like a network on 99.9% of pairs, with a KL divergence of at most 0.01 nats."""
    return found.same >= SAME and found.kl <= KL


def with_digits(data: Any, digits: int) -> Any:
    """Round the floating-point numbers of plain data to some significant digits, except matrices of generators."""
    if isinstance(data, dict):
        return {key: x if key == "generators" else with_digits(x, digits) for key, x in data.items()}
    if isinstance(data, list):
        return [with_digits(x, digits) for x in data]
    if not isinstance(data, float):
        return data
    short = float(f"{data:.{digits}g}")
    return int(short) if short.is_integer() else short
