"""Measure a network that orders numbers, such as one that finds the largest number."""

from __future__ import annotations

import copy
from functools import cached_property, lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations import generated
from modinterp.analyses.order import bounds, copying, largest_number, permutations, sorting
from modinterp.analyses.order.lookups import Lookups, QueryPosition, lookups
from modinterp.analyses.statistics import similarity
from modinterp.analyses.statistics.lines import Lines, lines
from modinterp.measurements.network import PATTERN, NoSuchPart
from modinterp.measurements.positions import PositionMeasurements
from modinterp.models import TransformerConfig
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Examples, Ordering
from modinterp.training import RunSpec, accuracy, cross_entropy

QUERIES = "blocks.0.attn.hook_q"
UNIFORM, SMALL = 10_000, 2_000  # inputs that are drawn anew, uniformly and of small numbers alone
UNIFORM_SEED = 1
PATTERNS = 2_000  # of the uniform inputs, those whose attention between all positions is kept
TUPLES = 50  # of the uniform inputs, those that are put in all orders
BOXES = 3_000  # sets of inputs that the proof may look at


def _trained_on(task: Ordering, spec: RunSpec | None) -> Int[Tensor, "input pos"]:
    if spec is None:
        return torch.empty(0, task.n_ctx, dtype=torch.long)
    return task.inputs()[spec.split.train]


@lru_cache(maxsize=4)
def _unseen(task: Ordering, spec: RunSpec | None, n: int, seed: int, below: int | None = None) -> Examples:
    """Return held-out inputs of a run; the untrained and the trained network of a run get the same inputs."""
    return task.unseen(n, seed, _trained_on(task, spec), below)


class OrderMeasurements(PositionMeasurements):
    """The measurements of one run on `Ordering`: lookup tables of scores, attention by rank, copying, and a proof.

    Attributes:
        n: how many numbers each input has.
        limit: upper bound of the numbers (excluded); the token CLS has this index.
        smallest_number: smallest number for which lines are fitted and copying is measured. The default of
            `smallest_number` is the limit of small numbers, or a fifth of `limit` if that is less.
    """

    def __init__(self, run: TrainedRun, as_published: bool = False, draws: int = 199):
        if not isinstance(run.task, Ordering):
            raise ValueError(f"{run.name} was trained on {run.task.name}, not on the order of numbers")
        super().__init__(run, as_published, draws)
        self.n, self.limit = run.task.n, run.task.limit
        self.smallest_number = min(run.task.small_limit, max(run.task.limit // 5, 1))

    @cached_property
    def uniform(self) -> Examples:
        """Held-out inputs, drawn uniformly, with their labels."""
        return self._unseen(UNIFORM, UNIFORM_SEED)

    @cached_property
    def small(self) -> Examples:
        """Held-out inputs that contain only small numbers, with their labels."""
        return self._unseen(SMALL, 2, self.smallest_number)

    @property
    def asked(self) -> Examples:
        """The inputs on which the network is evaluated; they are the inputs of `uniform`."""
        return self.uniform

    @property
    def seed_of_inputs(self) -> int:
        """The seed with which the uniform inputs are drawn."""
        return UNIFORM_SEED

    def _unseen(self, n: int, seed: int, below: int | None = None) -> Examples:
        """Held-out inputs for the network; for a run without weights, no inputs are drawn, to save a second."""
        if not self.has_weights:
            raise NotRecorded(f"the weights of {self.name} are not available")
        return _unseen(self.task, self.run.spec, n, seed, below)

    @property
    def numbers(self) -> Int[Tensor, "input n"]:
        """Numbers of the uniform inputs, without CLS and the following tokens."""
        return self.uniform.inputs[:, : self.n]

    @cached_property
    def logits(self) -> Float[Tensor, "input read output"]:
        """Logits on the uniform inputs at the answer positions; in a sort, the right answers precede each one."""
        return self.logits_on(self.uniform.inputs)

    def logits_on(self, inputs: Int[Tensor, "input pos"]) -> Float[Tensor, "input read output"]:
        """Return the logits on any inputs in float64, at the positions where the task has an answer."""
        n_read = self.task.n_read
        with torch.no_grad(), self.model.at_last_position(n_read):
            return self.model(inputs.to(self.model.device))[:, -n_read:].cpu().double()

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
        return accuracy(self.logits_on(self.small.inputs), self.small.labels)

    @cached_property
    def generated(self) -> Int[Tensor, "input output"]:
        """Answers to the uniform inputs, generated one by one from the network's own earlier answers."""
        return generated(self.model, self.uniform.inputs[:, : self.n + 1], self.task.n_read)

    @cached_property
    def lookups(self) -> Lookups:
        """Lookup tables by token and position: queries, keys and the output of each head.

        Raises:
            NoSuchPart: the network is not a one-layer transformer.
        """
        config = self.model.cfg
        if not isinstance(config, TransformerConfig) or config.n_layers != 1:
            raise NoSuchPart(f"{self.name} is not a transformer of one layer, so look-up tables cannot be made")
        return lookups(self.model)

    @cached_property
    def positions(self) -> Float[Tensor, "pos pos"]:
        """Cosines between the positional embeddings; NaN for a network without positional embeddings."""
        if not self.model.cfg.positional:
            return torch.full((self.task.n_ctx, self.task.n_ctx), torch.nan, dtype=torch.float64)
        return similarity.cosines(self.model.pos_embed.W_pos.cpu())

    @cached_property
    def cls(self) -> QueryPosition:
        """Scores, outputs of the heads and residual stream at the token CLS, which together give the answer."""
        return self.lookups.query_position(self.n, self.limit)

    @cached_property
    def pattern(self) -> Float[Tensor, "input head pos"]:
        """Attention of the token CLS to every position up to CLS itself, on held-out inputs drawn uniformly."""
        return self.cls.pattern(self.uniform.inputs)

    @cached_property
    def patterns(self) -> Float[Tensor, "input head query key"]:
        """Attention between all positions, on the first of the uniform inputs."""
        precise = copy.deepcopy(self.model).cpu().double()
        with torch.no_grad():
            _, cache = precise.run_with_cache(self.uniform.inputs[:PATTERNS], names_filter=PATTERN)
        return cache[PATTERN]

    @cached_property
    def ranks(self) -> sorting.RankAttention:
        """Attention of CLS and of the following outputs to each number by its rank, on the first uniform inputs."""
        return sorting.rank_attention(self.patterns, self.numbers[:PATTERNS])

    @cached_property
    def scores(self) -> Float[Tensor, "token head"]:
        """Attention score between CLS as query and every number as key, averaged over positions. [nats]"""
        return self.cls.scores[: self.n, : self.limit].mean(dim=0)

    @cached_property
    def score_lines(self) -> Lines:
        """For each head, the least-squares line of its CLS score against the number."""
        return lines(self.scores, self.smallest_number)

    @cached_property
    def mutual_scores(self) -> Float[Tensor, "head query_token key_token"]:
        """Attention score of every number with every number, minus the means of rows and columns. [nats]

        Subtracting the means removes the contributions of positions, so the mutual scores do not depend on the numbers'
        positions.
        """
        scores = self.lookups.number_scores[:, : self.limit, : self.limit]
        scores = scores - scores.mean(dim=2, keepdim=True)
        return scores - scores.mean(dim=1, keepdim=True)

    @cached_property
    def cls_by_lines(self) -> QueryPosition:
        """Scores, outputs and residual stream at CLS, if each head's scores lay on its line in `score_lines`."""
        return largest_number.with_line_scores(self.cls, self.score_lines, self.n)

    @cached_property
    def gap(self) -> Int[Tensor, " input"]:
        """Difference between the largest and the second largest number, for each uniform input."""
        return largest_number.gaps(self.numbers)

    def correct_first(self, logits: Float[Tensor, "input output"]) -> Bool[Tensor, " input"]:
        """Return True for each uniform input whose first answer is right, given the logits at the first answer's
        position.
        """
        return logits.argmax(dim=1) == self.uniform.labels[:, 0]

    @cached_property
    def copying(self) -> copying.Copying:
        """Mask of the numbers that the network answers at CLS when all heads attend to only this number."""
        return copying.copying(self.cls, self.n)

    @cached_property
    def tolerance(self) -> copying.Tolerance:
        """Accuracy of copying a number when part of another number's value is mixed in.

        Copying is measured at the position where the largest number is the answer: CLS, or the last position in a sort.
        """
        both = copying.pairs(self.limit, self.smallest_number)
        if self.task.ask != "sort":
            return copying.tolerance(self.cls.copies(self.n), self.cls.start[None], both, self.cls)
        last = self.lookups.query_position(self.task.n_ctx - 1, self.limit)
        start = self.lookups.resid[-1, both.amin(dim=1)] + self.lookups.b_O
        return copying.tolerance(last.copies(self.n), start, both, last)

    @cached_property
    def in_all_orders(self) -> Int[Tensor, "input order pos"]:
        """The first uniform inputs, cut after CLS, with their numbers in all orders."""
        numbers = permutations.in_all_orders(self.numbers[:TUPLES])
        return torch.cat([numbers, torch.full_like(numbers[..., :1], self.limit)], dim=2)

    @cached_property
    def pre_in_all_orders(self) -> Float[Tensor, "input order neuron"]:
        """Neurons at CLS before their nonlinearity, on `in_all_orders`."""
        resid = self.cls.resid(self.in_all_orders.flatten(0, 1))
        return self.cls.logit_map.pre(resid).view(*self.in_all_orders.shape[:2], -1)

    def change_by_other_queries(self) -> float:
        """Return the largest change of the logits at CLS when the queries of all positions before CLS are set to 0."""
        inputs = self.uniform.inputs[:500, : self.n + 1].to(self.model.device)

        def silenced(queries: Tensor, hook: object) -> Tensor:
            return torch.cat([0 * queries[:, :-1], queries[:, -1:]], dim=1)

        with torch.no_grad():
            changed = self.model.run_with_hooks(inputs, fwd_hooks=[(QUERIES, silenced)])[:, -1]
            return float((changed - self.model(inputs)[:, -1]).abs().max())

    @cached_property
    def bound(self) -> bounds.AccuracyBound:
        """Lower bound on the accuracy: share of all inputs for which the weights prove the right answer."""
        return bounds.accuracy_bound(self.model, self.task, BOXES)
