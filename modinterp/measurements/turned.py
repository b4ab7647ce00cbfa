"""Define the result of rotating a network's circles: the answers after the rotation, with controls."""

from __future__ import annotations

from dataclasses import dataclass, field

from modinterp.interventions.answered import Answered, Logits
from modinterp.interventions.embedded import Changed
from modinterp.measurements.views import View


@dataclass(frozen=True)
class Turned(View):
    """The answers of a network after its circles were rotated, with controls.

    Attributes:
        freqs: frequencies of the rotated circles. [cycles per p]
        step_a, step_b: rotation of the circles of a and of b, in residues.
        moved_by: predicted change of the answer, in residues; None if the prediction is not an integer.
        moved: share of the pairs whose answer changed by exactly `moved_by` residues.
        kept: fit of the shifted formula to the logits after the rotation, divided by the formula's fit before the
            rotation.
        network: the network after the rotation.
        answered: answers of the network after the rotation, and sums of its logits.
        controls: map from the name of a control change of equal size to the share of pairs whose answer changes as
            predicted.
    """

    freqs: tuple[int, ...]
    step_a: float
    step_b: float
    moved_by: int | None
    moved: float
    kept: float
    network: Changed = field(repr=False)
    answered: Answered = field(repr=False)
    controls: dict[str, float] = field(default_factory=dict)

    @property
    def logits(self) -> Logits:
        """Logits after the rotation, in the order of the basis; the logits are computed again at each access."""
        return self.network.logits

    @property
    def largest_control(self) -> float:
        """Largest share of pairs whose answer a control changes as predicted; NaN without controls."""
        return max(self.controls.values(), default=float("nan"))

    def __str__(self) -> str:
        turned = f"circles {', '.join(map(str, self.freqs))} rotated by {self.step_a:g} and {self.step_b:g} steps"
        moved = (
            "" if self.moved_by is None else (f"the answer changes by {self.moved_by} on {self.moved:.1%} of pairs, ")
        )
        controls = "".join(f"\n  {name}: {share:.1%}" for name, share in self.controls.items())
        return f"{turned}: {moved}{self.kept:.1%} of the formula's fit is kept{controls}"
