"""Define views of one neuron, one head or one circle of a network, and of the network without some parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import pandas as pd
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.attention.components import Ablation
from modinterp.analyses.circles import circle as circles
from modinterp.measurements.quantity import number_text
from modinterp.measurements.score import Score

DRAWERS: dict[type, Callable[[Any], Any]] = {}  # filled by `modinterp.figures.views`


class View:
    """Base class of results for one part of a network: numbers, a text and a figure."""

    def figure(self) -> Any:
        """Return a plotly figure of the view.

        Raises:
            LookupError: `modinterp.figures.views`, which draws the figure, was not imported.
        """
        if type(self) not in DRAWERS:
            raise LookupError("import modinterp.figures.views, which draws it")
        return DRAWERS[type(self)](self)

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"


@dataclass(frozen=True)
class Without(View):
    """Accuracy and loss of a network without some of its parts.

    Attributes:
        parts: text that names the removed parts.
        site: where the parts were removed: `embedding`, `heads`, `neurons` or `logits`.
        before, after: map from `all`, `train` and `test` pairs to accuracy and loss [nats]; `train` and `test` only if
            the split is known.
        ablation: accuracy and loss as a row of the ablation table.
        logits: the logits of the network without the parts, in the order of the basis.
    """

    parts: str
    site: str
    before: dict[str, Score]
    after: dict[str, Score]
    ablation: Ablation = field(repr=False)
    logits: Float[Tensor, "a b output"] = field(repr=False)

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each set of pairs: accuracy and loss [nats] before and after."""
        return pd.DataFrame(
            {
                "pairs": name,
                "accuracy before": self.before[name].accuracy,
                "accuracy after": after.accuracy,
                "loss before [nats]": self.before[name].loss,
                "loss after [nats]": after.loss,
            }
            for name, after in self.after.items()
        )

    def __str__(self) -> str:
        lines = [f"without {self.parts} (at the {self.site}):"]
        for name, after in self.after.items():
            was = self.before[name]
            lines.append(
                f"  {name:<6} accuracy {was.accuracy:.2%} -> {after.accuracy:.2%}, "
                f"loss {number_text(was.loss)} -> {number_text(after.loss)} nats"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Neuron(View):
    """View of one neuron of the last layer.

    Attributes:
        index: index of the neuron.
        map: activation after the nonlinearity, over all pairs.
        block: the frequency that explains most of the neuron, or the name of the representation that does.
        explained: share of the neuron's variance that `block` explains; NaN for a constant neuron.
        w_in: input weights of the neuron; None if the network hides them.
        w_out: the neuron's row of W_L, its effect on each answer's logit.
        without: the network with the neuron set to its mean.
    """

    index: int
    map: Float[Tensor, "a b"] = field(repr=False)
    block: int | str
    explained: float
    w_in: Float[Tensor, " d"] | None = field(repr=False)
    w_out: Float[Tensor, " output"] = field(repr=False)
    without: Without = field(repr=False)

    def __str__(self) -> str:
        change = self.without.ablation.loss - self.without.before["all"].loss
        return (
            f"neuron {self.index}: {self.explained:.1%} of its variance at {self.block}; active on "
            f"{(self.map > 0).double().mean():.0%} of the pairs; norm of its output weights "
            f"{self.w_out.norm():.3g}; replacing the neuron by its mean changes the loss by {change:+.3g} "
            "nats"
        )


@dataclass(frozen=True)
class Head(View):
    """View of one head of the first layer.

    Attributes:
        index: index of the head.
        pattern: attention from the last position to a, over all pairs.
        block: the frequency that explains most of the attention [cycles per p], or the name of the representation.
        explained: share of the attention's variance that `block` explains; NaN for constant attention.
        without: the network with the head's output set to its mean.
    """

    index: int
    pattern: Float[Tensor, "a b"] = field(repr=False)
    block: int | str
    explained: float
    without: Without = field(repr=False)

    def __str__(self) -> str:
        low, high = float(self.pattern.min()), float(self.pattern.max())
        change = self.without.ablation.loss - self.without.before["all"].loss
        varies = f"from {low:.2f} to {high:.2f}, {self.explained:.1%} of its variance at {self.block}"
        seen = f"always {low:.2f}" if isnan(self.explained) else varies
        return (
            f"head {self.index}: attention to a {seen}; replacing the head by its mean changes the loss by "
            f"{change:+.3g} nats"
        )


@dataclass(frozen=True)
class CircleOf(View):
    """View of one frequency's circle in the embedding, for a key frequency or any other.

    Attributes:
        freq: frequency of the circle. [cycles per p]
        is_key: True if `freq` is a key frequency.
        points: the embedding of every number, projected onto the plane of the circle.
        circle: measures of how round the circle is, and how evenly its points are spaced.
        share: the circle's share of the embedding's energy, with the constant left out.
        without: the network without the waves of the answer at this frequency in its logits.
    """

    freq: int
    is_key: bool
    points: Float[Tensor, "element 2"] = field(repr=False)
    circle: circles.Circle
    share: float
    without: Without = field(repr=False)

    def __str__(self) -> str:
        change = self.without.ablation.loss - self.without.before["all"].loss
        return (
            f"circle {self.freq}{' (key)' if self.is_key else ''}: {self.share:.1%} of the embedding's "
            f"energy; removing its waves from the logits changes the loss by {change:+.3g} nats"
        )
