"""A network over pairs in the order of the cyclic group that its task is, and the matrix that its logits come from."""

from __future__ import annotations

from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import ablations
from modinterp.analyses.fourier.transforms import sums
from modinterp.explain.behaviour import Score
from modinterp.explain.parts import Parts
from modinterp.measurements import PairMeasurements
from modinterp.runs import TrainedRun
from modinterp.tasks import cyclic


class CyclicMeasurements(Parts, PairMeasurements):
    """A network whose task is addition or subtraction, perhaps under other names, in the order of the cyclic group.

    Waves are those of the cyclic group: numbers stand in its order, and pairs of others take no part. Of a network that
    is seen from outside alone the logits themselves are what the frequencies are looked for in.

    Args:
        run: of a task for which there is a `Cyclic`.
    Raises:
        ValueError: the task is addition under no names.
    """

    def __init__(self, run: TrainedRun):
        found = cyclic(run.task)
        if found is None:
            raise ValueError(f"{run.name} learned {run.task.name}, which is addition mod n under no names")
        super().__init__(run)
        self.cyclic = found

    @property
    def sign(self) -> int:
        """1 for a + b, -1 for a - b."""
        return self.cyclic.sign

    @property
    def p(self) -> int:
        """Order of the cyclic group; for a + b and a - b, the modulus."""
        return self.cyclic.n

    @cached_property
    def labels(self) -> Int[Tensor, "input output"]:
        """The right answers to the pairs of the cyclic group, in its order."""
        return sums(self.p, self.sign).reshape(-1, 1)

    @cached_property
    def _renamed(self) -> dict[str, Tensor]:
        return {}

    def activation(self, name: str) -> Tensor:
        """An activation at the last position over the pairs of the cyclic group, in its order, by the hook's name.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        activation = super().activation(name)
        if not self.cyclic.is_renamed:
            return activation
        if name not in self._renamed:
            self._renamed[name] = self.cyclic.arranged(activation, is_logits=name == "logits")
        return self._renamed[name]

    @property
    def operation(self) -> str:
        """What the answer is a wave of: such as `a + b`, or places i and j in the cyclic group."""
        return super().operation if not self.cyclic.is_renamed else f"i {'+' if self.sign > 0 else '-'} j"

    @property
    def output_order(self) -> Int[Tensor, " output"]:
        """The outputs in the order of the cyclic group."""
        return self.cyclic.order.to(self.model.device)

    @property
    def W_E(self) -> Float[Tensor, "a d_model"]:
        """Embedding of the first numbers in the order of the cyclic group, detached from the graph of gradients."""
        return self.model.W_E[self.cyclic.order.to(self.model.device)].detach()

    def _rows(self, rows: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
        """Rows of the task's inputs as rows of the pairs of the cyclic group, those that are none of them left out."""
        if not self.cyclic.is_renamed:
            return rows
        order, size = self.cyclic.order, self.task.grid[1]
        place = torch.full((size * size,), -1)
        place[(order[:, None] * size + order).flatten()] = torch.arange(self.p**2)
        return place[rows][place[rows] >= 0]

    def score(self, logits: Float[Tensor, "a b output"], rows: Int[Tensor, " row"] | None = None) -> Score:
        """Accuracy and loss of some logits over the pairs of the cyclic group, or some rows of the task's inputs."""
        some = None if rows is None else self._rows(rows)
        return Score(ablations.accuracy_on(logits, self.labels, some), ablations.loss_on(logits, self.labels, some))
