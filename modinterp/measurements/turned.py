"""The answers of a network whose circles were turned inside it, beside controls."""

from __future__ import annotations

from dataclasses import dataclass, field

from modinterp.interventions.answered import Answered, Logits
from modinterp.interventions.embedded import Changed
from modinterp.measurements.views import View


@dataclass(frozen=True)
class Turned(View):
    """The answers of a network whose circles were turned inside it.

    Attributes:
        freqs: circles that were turned. [cycles per p]
        step_a, step_b: how far each number was moved, in residues.
        moved_by: how far the answer is predicted to move; None for a fraction, where no token stands.
        moved: share of the pairs whose answer moved by exactly this many residues.
        kept: fit of the moved formula to the logits after the turn, over the fit of the formula before.
        network: the network after the turn.
        answered: its answers, and sums of its logits.
        controls: name of a change of equal size to the share of the pairs whose answer moved as predicted under it.
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
        """Logits after the turn, in the order of the basis; computed again at each access."""
        return self.network.logits

    @property
    def largest_control(self) -> float:
        """The largest share that a control moves; NaN without controls."""
        return max(self.controls.values(), default=float("nan"))

    def __str__(self) -> str:
        turned = f"circles {', '.join(map(str, self.freqs))} turned by {self.step_a:g} and {self.step_b:g} steps"
        moved = "" if self.moved_by is None else f"the answer moves by {self.moved_by} on {self.moved:.1%} of pairs, "
        controls = "".join(f"\n  {name}: {share:.1%}" for name, share in self.controls.items())
        return f"{turned}: {moved}{self.kept:.1%} of the formula is kept{controls}"
