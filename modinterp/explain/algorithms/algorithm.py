"""Define a hypothesis about the algorithm of a network: its predictions for interventions, and a sentence if they come
true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from modinterp.claims.band import Band


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, with its predictions for interventions inside a network that uses it.

    Attributes:
        name: the algorithm's name, such as `circles`.
        label: the verdict on a network that uses the algorithm.
        foretells: predictions: map from the key of a quantity to the tolerance in which it must lie, with the reason.
        says: function from the measurements of a network that uses the algorithm to a sentence with the numbers.
        shows_in_logits: True if the logits must also fit the algorithm, because a lookup table of tokens would pass the
            algorithm's interventions.
    """

    name: str
    label: str
    foretells: Mapping[str, Band]
    says: Callable[[Any], str] = field(repr=False)
    shows_in_logits: bool = False

    def is_tested_on(self, m: Any) -> bool:
        """Return True if every number that the algorithm predicts can be measured on the network."""
        keys = {each.key for each in m.quantities()}
        return all(key in keys and m.reading(key).value is not None for key in self.foretells)

    def holds_for(self, m: Any) -> bool:
        """Return True if every number that the algorithm predicts was measured and lies in its tolerance."""
        return self.is_tested_on(m) and all(band.holds(m[key]) for key, band in self.foretells.items())
