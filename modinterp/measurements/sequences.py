"""What is measured of a network on sequences, whose inputs form no grid: its heads by what they attend to."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import patterns, without_heads
from modinterp.analyses.attention.induction import induction_scores, previous_token_scores
from modinterp.measurements.network import NetworkMeasurements
from modinterp.training.loss import OutputLayout, losses

HELD_OUT = 256  # inputs that are measured
Place = tuple[int, int]  # layer of a head, and its number there


def _heads_of_a_kind(scores: Float[Tensor, " head"], layer: int) -> list[Place]:
    """Heads of one layer with at least half the highest score."""
    return [(layer, head) for head in (scores >= scores.max() / 2).nonzero()[:, 0].tolist()]


class SequenceMeasurements(NetworkMeasurements):
    """The measurements of one run on sequences, on the first of the inputs that were held out."""

    @cached_property
    def inputs(self) -> Int[Tensor, "input pos"]:
        """The first of the inputs that were held out."""
        return self.task.inputs()[self.split.test[:HELD_OUT]]

    @cached_property
    def answers(self) -> Int[Tensor, "input answer"]:
        """Labels of the first inputs held out; -1 where nothing is asked."""
        return self.task.labels()[self.split.test[:HELD_OUT]]

    @cached_property
    def patterns(self) -> Float[Tensor, "layer input head query key"]:
        """Attention between all positions, of every layer."""
        return patterns(self.model, self.inputs).cpu()

    @cached_property
    def previous(self) -> Float[Tensor, " head"]:
        """Mean attention to the token before, of the heads of the first layer."""
        return previous_token_scores(self.patterns[0])

    def induction(self, latest: bool = True) -> Float[Tensor, " head"]:
        """Mean attention to the token that followed an earlier copy of the current one, of the heads of the last layer.

        Args:
            latest: whether the latest of the earlier copies counts alone, or all of them.
        """
        return induction_scores(self.patterns[-1], self.inputs, self.answers >= 0, latest)

    @cached_property
    def previous_token_heads(self) -> list[Place]:
        """Heads of the first layer that attend to the token before."""
        return _heads_of_a_kind(self.previous, 0)

    @cached_property
    def induction_heads(self) -> list[Place]:
        """Heads of the last layer that attend to what followed any earlier copy of the current token."""
        return _heads_of_a_kind(self.induction(latest=False), len(self.model.blocks) - 1)

    @cached_property
    def losses_without(self) -> dict[str, float]:
        """Loss with previous token heads, induction heads, both or none put to 0, by what is taken out. [nats]"""
        first, last = self.previous_token_heads, self.induction_heads
        parts = {"none": [], "previous token": first, "induction": last, "both": [*first, *last]}
        return {name: self.loss_without(heads) for name, heads in parts.items()}

    def loss_without(self, heads: Collection[Place] = ()) -> float:
        """Mean cross-entropy of the answers, with the outputs of some heads put to 0. [nats]"""
        with torch.no_grad(), without_heads(self.model, heads) as network:
            logits = network(self.inputs.to(network.W_E.device))[:, -self.task.n_read :].cpu()
        each = losses(logits, self.answers, OutputLayout.of(self.task.output_sizes))
        return float(each.sum() / (self.answers >= 0).sum())
