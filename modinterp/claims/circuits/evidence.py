"""What claims and figures ask of a run that orders numbers, each analysis done once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import generated
from modinterp.analyses import bounds, copying, ordering, permutations, similarity, sorting
from modinterp.analyses.lines import Lines, lines
from modinterp.analyses.lookups import Lookups, Reading, lookups
from modinterp.claims.claim import Measure, each
from modinterp.claims.evidence import PATTERN, kept
from modinterp.runs import TrainedRun
from modinterp.tasks import Examples, Ordering
from modinterp.training import accuracy, cross_entropy

QUERIES = "blocks.0.attn.hook_q"
UNIFORM, SMALL, TUPLES, BOXES = 10_000, 2_000, 50, 3_000


class OrderingEvidence:
    """The analyses of one run on `Ordering`; each attribute is measured when it is first asked for and then kept.

    Attributes:
        first: the smallest number that lines and copying are held against: the limit of small numbers, or a fifth of
            all where there are few.
    """

    def __init__(self, run: TrainedRun):
        if not isinstance(run.task, Ordering):
            raise ValueError(f"{run.name} was trained on {run.task.name}, not on the order of numbers")
        self.run, self.task, self.n, self.limit = run, run.task, run.task.n, run.task.limit
        self.first = min(run.task.small_limit, max(run.task.limit // 5, 1))

    @cached_property
    def seen(self) -> Int[Tensor, "input pos"]:
        """The inputs trained on; none where they are not known."""
        inputs = self.task.inputs()
        return inputs[:0] if self.run.spec is None else inputs[self.run.split.train]

    @cached_property
    def uniform(self) -> Examples:
        """Uniform inputs that were not trained on."""
        return self.task.unseen(UNIFORM, 1, self.seen)

    @cached_property
    def small(self) -> Examples:
        """Inputs of small numbers alone that were not trained on."""
        return self.task.unseen(SMALL, 2, self.seen, self.first)

    @property
    def numbers(self) -> Int[Tensor, "input n"]:
        """The numbers of the uniform inputs."""
        return self.uniform.inputs[:, : self.n]

    @cached_property
    def logits(self) -> Float[Tensor, "input read output"]:
        """On the uniform inputs, where the answers are read; in a sort every answer follows the right ones."""
        return self.answered(self.uniform.inputs)

    def answered(self, inputs: Int[Tensor, "input pos"]) -> Float[Tensor, "input read output"]:
        """Logits where the answers are read."""
        with torch.no_grad():
            return self.run.model(inputs.to(self.run.model.W_E.device))[:, -self.task.n_read :].cpu().double()

    @cached_property
    def accuracy(self) -> float:
        """Share of right answers on the uniform inputs."""
        return accuracy(self.logits, self.uniform.labels)

    @cached_property
    def loss(self) -> float:
        """Cross-entropy on the uniform inputs. [nats]"""
        return float(cross_entropy(self.logits, self.uniform.labels))

    @cached_property
    def small_accuracy(self) -> float:
        """Share of right answers on the small inputs."""
        return accuracy(self.answered(self.small.inputs), self.small.labels)

    @cached_property
    def generated(self) -> Int[Tensor, "input output"]:
        """Answers to the uniform inputs, each read after those that the network gave itself."""
        return generated(self.run.model, self.uniform.inputs[:, : self.n + 1], self.task.n_read)

    @cached_property
    def lookups(self) -> Lookups:
        """The network as look-ups."""
        return lookups(self.run.model)

    @cached_property
    def positions(self) -> Float[Tensor, "pos pos"]:
        """Cosines between the embeddings of the positions; NaN where there are none."""
        if not self.run.model.cfg.positional:
            return torch.full((self.task.n_ctx, self.task.n_ctx), torch.nan, dtype=torch.float64)
        return similarity.cosines(self.run.model.pos_embed.W_pos.cpu())

    @cached_property
    def reading(self) -> Reading:
        """At CLS."""
        return self.lookups.reading(self.n, self.limit)

    @cached_property
    def pattern(self) -> Float[Tensor, "input head pos"]:
        """Attention from CLS on the uniform inputs."""
        return self.reading.pattern(self.uniform.inputs)

    @cached_property
    def patterns(self) -> Float[Tensor, "input head query key"]:
        """Attention between all positions on the first 2,000 uniform inputs."""
        precise = copy.deepcopy(self.run.model).cpu().double()
        with torch.no_grad():
            _, cache = precise.run_with_cache(self.uniform.inputs[:2000], names_filter=PATTERN)
        return cache[PATTERN]

    @cached_property
    def ranks(self) -> sorting.RankAttention:
        """Which of the sorted numbers each position attends to, on the first 2,000 uniform inputs."""
        return sorting.rank_attention(self.patterns, self.numbers[:2000])

    @cached_property
    def scores(self) -> Float[Tensor, "number head"]:
        """Of every number with CLS, averaged over the positions of the inputs. [nats]"""
        return self.reading.scores[: self.n, : self.limit].mean(dim=0)

    @cached_property
    def score_lines(self) -> Lines:
        """Through the scores, by head."""
        return lines(self.scores, self.first)

    @cached_property
    def mutual_scores(self) -> Float[Tensor, "head query_number key_number"]:
        """Of every number with every number, less the means of rows and columns. [nats]

        What positions add goes with the means, so that these are the same wherever the numbers stand.
        """
        scores = self.lookups.number_scores[:, : self.limit, : self.limit]
        scores = scores - scores.mean(dim=2, keepdim=True)
        return scores - scores.mean(dim=1, keepdim=True)

    @cached_property
    def by_lines(self) -> Reading:
        """The reading with every number's score on its head's line."""
        return ordering.scored_by_lines(self.reading, self.score_lines, self.n)

    @cached_property
    def gap(self) -> Int[Tensor, " input"]:
        """Between the largest and the next largest of the uniform inputs."""
        return ordering.gaps(self.numbers)

    def right(self, logits: Float[Tensor, "input output"]) -> Tensor:
        """Whether the first answer to the uniform inputs is right."""
        return logits.argmax(dim=1) == self.uniform.labels[:, 0]

    @cached_property
    def copying(self) -> copying.Copying:
        """Whether what the heads hand on at CLS comes out as the number they attend to."""
        return copying.copying(self.reading, self.n)

    @cached_property
    def tolerance(self) -> copying.Tolerance:
        """At the last position, where the largest number is due: after CLS, or in a sort after the other number."""
        both = copying.pairs(self.limit, self.first)
        if self.task.ask != "sort":
            return copying.tolerance(self.reading.copies(self.n), self.reading.start[None], both, self.reading)
        last = self.lookups.reading(self.task.n_ctx - 1, self.limit)
        start = self.lookups.resid[-1, both.amin(dim=1)] + self.lookups.b_O
        return copying.tolerance(last.copies(self.n), start, both, last)

    @cached_property
    def orders(self) -> Int[Tensor, "input order pos"]:
        """Some of the uniform inputs up to CLS, in all orders of their numbers."""
        numbers = permutations.in_all_orders(self.numbers[:TUPLES])
        return torch.cat([numbers, torch.full_like(numbers[..., :1], self.limit)], dim=2)

    @cached_property
    def pre_in_all_orders(self) -> Float[Tensor, "input order neuron"]:
        """Neurons at CLS before their nonlinearity, in all orders."""
        resid = self.reading.resid(self.orders.flatten(0, 1))
        return self.reading.head.pre(resid).view(*self.orders.shape[:2], -1)

    def change_by_other_queries(self) -> float:
        """Largest change of the logits at CLS when the queries of all positions before it are put to 0."""
        inputs = self.uniform.inputs[:500, : self.n + 1].to(self.run.model.W_E.device)

        def silenced(queries: Tensor, hook: object) -> Tensor:
            return torch.cat([0 * queries[:, :-1], queries[:, -1:]], dim=1)

        with torch.no_grad():
            changed = self.run.model.run_with_hooks(inputs, fwd_hooks=[(QUERIES, silenced)])[:, -1]
            return float((changed - self.run.model(inputs)[:, -1]).abs().max())

    @cached_property
    def bound(self) -> bounds.AccuracyBound:
        """What the weights alone prove of the accuracy of a network that is asked for the largest."""
        return bounds.accuracy_bound(self.run.model, self.task, BOXES)


def ordering_evidence(run: TrainedRun) -> OrderingEvidence:
    """The evidence of a run, kept with the run."""
    return kept(OrderingEvidence, run)


def of_each(measure: Callable[[Any], dict[str, float]], of: Callable[[TrainedRun], Any] = ordering_evidence) -> Measure:
    """Every number of a measure, once a run.

    Args:
        measure: from the evidence of one run to named numbers.
        of: from a run to its evidence.
    """
    return each(lambda run: measure(of(run)))
