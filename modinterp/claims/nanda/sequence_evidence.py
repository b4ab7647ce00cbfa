"""What claims ask of a network on sequences, whose inputs form no grid, each measured once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import patterns, without_heads
from modinterp.analyses.induction import induction_scores, previous_token_scores
from modinterp.claims.evidence import kept
from modinterp.runs import TrainedRun
from modinterp.training.loss import Heads, losses

HELD_OUT = 256
Place = tuple[int, int]  # layer and number of a head


def _present(scores: Float[Tensor, " head"], layer: int) -> list[Place]:
    """Heads that share a work: all with at least half the score of the one that has most."""
    return [(layer, head) for head in (scores >= scores.max() / 2).nonzero()[:, 0].tolist()]


class SequenceEvidence:
    """What is asked of a network of attention on sequences, on the first inputs held out, each measured once."""

    def __init__(self, run: TrainedRun):
        self.run, self.network = run, run.model
        rows = run.split.test[:HELD_OUT]
        self.inputs: Int[Tensor, "input pos"] = run.task.inputs()[rows]
        self.labels: Int[Tensor, "input answer"] = run.task.labels()[rows]

    @cached_property
    def patterns(self) -> Float[Tensor, "layer input head query key"]:
        """Attention between all positions."""
        return patterns(self.network, self.inputs).cpu()

    @cached_property
    def previous(self) -> Float[Tensor, " head"]:
        """Of the heads of the first layer, attention to the token before."""
        return previous_token_scores(self.patterns[0])

    def induction(self, latest: bool = True) -> Float[Tensor, " head"]:
        """Of the heads of the last layer, attention to what followed the same token, where that is asked for."""
        return induction_scores(self.patterns[-1], self.inputs, self.labels >= 0, latest)

    @cached_property
    def previous_token_heads(self) -> list[Place]:
        """Of the first layer."""
        return _present(self.previous, 0)

    @cached_property
    def induction_heads(self) -> list[Place]:
        """Of the last layer; all earlier copies count."""
        return _present(self.induction(latest=False), len(self.network.blocks) - 1)

    @cached_property
    def losses_without(self) -> dict[str, float]:
        """Loss without either kind of head, by what is taken out. [nats]"""
        first, last = self.previous_token_heads, self.induction_heads
        parts = {"none": [], "previous token": first, "induction": last, "both": [*first, *last]}
        return {name: self.loss_without(heads) for name, heads in parts.items()}

    def loss_without(self, heads: Collection[Place] = ()) -> float:
        """Cross-entropy of the answers asked for, with some heads put to 0. [nats]"""
        with torch.no_grad(), without_heads(self.network, heads) as network:
            logits = network(self.inputs.to(network.W_E.device))[:, -self.run.task.n_read :].cpu()
        each = losses(logits, self.labels, Heads.of(self.run.task.heads))
        return float(each.sum() / (self.labels >= 0).sum())


def sequence_evidence(run: TrainedRun) -> SequenceEvidence:
    """The evidence of a run, kept with the run."""
    return kept(SequenceEvidence, run)
