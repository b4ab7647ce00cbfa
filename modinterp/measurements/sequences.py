"""Measure a network on sequences: answers, heads, and the loss without parts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import heads_at_mean, mean_outputs, patterns, without_heads, without_neurons
from modinterp.analyses.attention.induction import induction_scores, previous_token_scores
from modinterp.analyses.sequences.answers import Answers, answers
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.positions import PositionMeasurements
from modinterp.models import Network, folded
from modinterp.tasks import Examples
from modinterp.training.loss import OutputLayout, losses

HELD_OUT = 256  # inputs that are measured
MOST_ANSWERED, SAMPLED = 10_000, 2_000  # inputs whose answers are looked at; on which parts are taken out
_AT_ONCE = 1_000  # inputs of a forward pass
Place = tuple[int, int]  # layer of a head, and its number there


def _heads_of_a_kind(scores: Float[Tensor, " head"], layer: int) -> list[Place]:
    """Return the heads of one layer that have at least half of the highest score."""
    return [(layer, head) for head in (scores >= scores.max() / 2).nonzero()[:, 0].tolist()]


class SequenceMeasurements(PositionMeasurements):
    """The measurements of one run on sequences, on the first held-out inputs."""

    lacks = PositionMeasurements.lacks | {"logits"}

    @property
    def rows(self) -> Int[Tensor, " row"]:
        """Indices of the held-out inputs, or of all inputs if the training inputs are unknown."""
        return self.split.test if self.run.knows_split else torch.arange(len(self.task.inputs()))

    @cached_property
    def inputs(self) -> Int[Tensor, "input pos"]:
        """The first held-out inputs."""
        return self.task.inputs()[self.rows[:HELD_OUT]]

    @cached_property
    def answers(self) -> Int[Tensor, "input answer"]:
        """Labels of the first held-out inputs; -1 at positions without an answer."""
        return self.task.labels()[self.rows[:HELD_OUT]]

    def as_of(self, epoch: int) -> SequenceMeasurements:
        """Return the measurements of the network at the snapshot of an epoch; the measurements are computed once.

        Raises:
            KeyError: the run has no snapshot of that epoch.
        """
        known = vars(self).setdefault("_as_of", {})
        if epoch not in known:
            known[epoch] = type(self)(replace(self.run, model=self.at(epoch)), self.as_published, self.draws)
        return known[epoch]

    @cached_property
    def precise(self) -> Network:
        """The network in float64."""
        return self.model.in_float64()

    @cached_property
    def folded(self) -> Network:
        """The network in float64 with folded weights; see `modinterp.models.folded`."""
        return folded(self.precise)

    def examples(self, most: int) -> Examples:
        """Return at most `most` held-out inputs, with the right answers at the answer positions.

        Raises:
            NoSuchPart: the positions of the answers depend on the input.
        """
        rows, task = self.rows[:most], self.task
        columns = [position - task.n_ctx + task.n_read for position in task.read_positions]
        right = task.labels()[rows][:, columns]
        if bool((right < 0).any()):
            raise NoSuchPart(f"the answers of {self.name} stand at positions that depend on the input")
        return Examples(task.inputs()[rows], right)

    def answers_to(self, examples: Examples, network: Network | None = None) -> Answers:
        """Return the network's answers to the given inputs, at the answer positions.

        Args:
            examples: the inputs with their labels.
            network: another network, such as this network with a part removed; by default this network in float64.
        """
        network = self.precise if network is None else network
        with torch.no_grad():
            logits = [network(part.to(network.device)).cpu() for part in examples.inputs.split(_AT_ONCE)]
        return answers(torch.cat(logits), examples.labels, self.task.read_positions)

    @cached_property
    def answered(self) -> Answers:
        """Answers of the network to the held-out inputs."""
        return self.answers_to(self.examples(MOST_ANSWERED))

    @cached_property
    def sampled(self) -> Examples:
        """The held-out inputs on which ablations are measured."""
        return self.examples(SAMPLED)

    @cached_property
    def sample_loss(self) -> float:
        """Loss of the unchanged network on the inputs of `sampled`. [nats]"""
        return self.answers_to(self.sampled).loss

    @cached_property
    def means(self) -> Float[Tensor, "layer pos head d_head"]:
        """Mean output of every head over the sampled inputs, before W_O, at each position."""
        return mean_outputs(self.precise, self.sampled.inputs)

    @cached_property
    def head_rises(self) -> Float[Tensor, "layer head"]:
        """Rise of the loss with each head set to its mean at every position. [nats]"""
        n_layers, _, n_heads, _ = self.means.shape
        losses = torch.zeros(n_layers, n_heads, dtype=torch.float64)
        for layer in range(n_layers):
            for head in range(n_heads):
                with heads_at_mean(self.precise, self.means, [(layer, head)]) as network:
                    losses[layer, head] = self.answers_to(self.sampled, network).loss
        return losses - self.sample_loss

    @cached_property
    def neuron_rises(self) -> Float[Tensor, " neuron"]:
        """Rise of the loss with each neuron of the last layer set to 0. [nats]"""
        layer, losses = len(self.model.blocks) - 1, []
        if not hasattr(self.model.blocks[layer], "mlp"):
            raise NoSuchPart(f"{self.name} has no neurons")
        for neuron in range(self.model.blocks[layer].mlp.W_in.shape[1]):
            with without_neurons(self.precise, layer, [neuron]) as network:
                losses.append(self.answers_to(self.sampled, network).loss)
        return torch.tensor(losses, dtype=torch.float64) - self.sample_loss

    @cached_property
    def patterns(self) -> Float[Tensor, "layer input head query key"]:
        """Attention patterns between all positions, for every layer."""
        return self.pattern_of(self.inputs)

    def pattern_of(self, inputs: Int[Tensor, "input pos"]) -> Float[Tensor, "layer input head query key"]:
        """Return the attention patterns between all positions of the given inputs, for every layer."""
        return patterns(self.model, inputs).cpu()

    @cached_property
    def previous(self) -> Float[Tensor, " head"]:
        """Mean attention of each first-layer head to the preceding token."""
        return previous_token_scores(self.patterns[0])

    def induction(self, latest: bool = True) -> Float[Tensor, " head"]:
        """Return the mean attention of each last-layer head to the token that followed an earlier copy of the current
        token.

        Args:
            latest: True to count only the latest earlier copy, False to count all earlier copies.
        """
        return induction_scores(self.patterns[-1], self.inputs, self.answers >= 0, latest)

    @cached_property
    def losses_without(self) -> dict[str, float]:
        """Loss for each set of removed heads: previous-token heads, induction heads, both, or none. [nats]

        The output of removed heads is set to 0. Previous-token heads are in the first layer. Induction heads are in the
        last layer, and attend to the token after any earlier copy of the current token.
        """
        first = _heads_of_a_kind(self.previous, 0)
        last = _heads_of_a_kind(self.induction(latest=False), len(self.model.blocks) - 1)
        parts = {"none": [], "previous token": first, "induction": last, "both": [*first, *last]}
        return {name: self._loss_without(heads) for name, heads in parts.items()}

    def _loss_without(self, heads: Collection[Place] = ()) -> float:
        """Return the mean cross-entropy of the answers, with the outputs of the given heads set to 0. [nats]"""
        with torch.no_grad(), without_heads(self.model, heads) as network:
            logits = network(self.inputs.to(network.W_E.device))[:, -self.task.n_read :].cpu()
        each = losses(logits, self.answers, OutputLayout.of(self.task.output_sizes))
        return float(each.sum() / (self.answers >= 0).sum())
