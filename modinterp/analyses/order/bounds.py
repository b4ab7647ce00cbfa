"""Prove from the weights alone a lower bound on the accuracy of a network that finds the largest number.

The inputs are cut into boxes. A box has the largest number m, the number of times that m occurs, and an interval for
each other number. The order of the numbers is free. A box is proven if for every input in it and every other answer j
the logit of m is larger. The proof has three steps, and each step can only make the bound weaker:

1. The input of a neuron is linear in what every head writes, and a head writes a weighted mean of OV outputs. The
   smallest and the largest mean over the box bound each neuron.
2. A ReLU within known bounds lies above one line and below another. A linear function of the heads' outputs therefore
   bounds the margin of m over j from below.
3. The smallest value of that function over the box is again a smallest weighted mean for each head. Weight and value of
   each number are now taken together.

The smallest weighted mean sum w f / sum w is the root t of sum min w (f - t), where each number takes its own minimum
(Dinkelbach). At any t, this sum bounds the error of t. A box that is not proven is cut in two, the largest boxes first.
If every interval of a box has a single number, the network runs on all orders of its numbers (up to seven). The bound
is therefore sound whenever the search stops, and grows to the accuracy itself.

Linear bounds of ReLUs: Zhang et al. 2018 (CROWN). The source has no such bound.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.order.extremes import Extremes
from modinterp.analyses.order.lookups import QueryPosition, lookups
from modinterp.models import Network
from modinterp.tasks import Ordering

ROUNDING = 1e-9  # a margin below this is no proof [nats]
MOST_ORDERS = 5040  # 7!, that are run one by one
_NEWTON = 4  # steps of Dinkelbach's method


@dataclass(frozen=True)
class AccuracyBound:
    """A proven lower bound on a network's accuracy over all inputs.

    Attributes:
        proven: number of inputs on which the answer is proven correct.
        inputs: number of all inputs, limit^n.
        boxes: number of boxes that were bounded.
        evaluated: number of inputs that were run one by one, because their box has a single choice of numbers.
        wrong: number of evaluated inputs with a wrong answer; the accuracy is at most 1 - wrong / inputs.
        by_largest: share of the inputs on which the answer is proven correct, by their largest number.
    """

    proven: int
    inputs: int
    boxes: int
    evaluated: int
    wrong: int
    by_largest: tuple[float, ...]

    @property
    def accuracy(self) -> float:
        """Lower bound on the accuracy: the share of all inputs on which the answer is proven correct, in [0, 1]."""
        return self.proven / self.inputs


Box = tuple[tuple[int, int], ...]  # (lowest, highest) of every number, in falling order; the first is (m, m)


def _size(box: Box) -> int:
    """Return the number of inputs in a box, in all orders.

    >>> _size(((7, 7), (0, 2), (0, 2))), _size(((7, 7), (7, 7)))
    (27, 1)
    """
    counts = Counter(box)
    orders = factorial(len(box)) // prod(factorial(k) for k in counts.values())
    return orders * prod((high - low + 1) ** k for (low, high), k in counts.items())


def _sub_boxes(box: Box, interval: tuple[int, int]) -> list[Box]:
    """Return the boxes that result when an interval of a box is halved and each of its numbers falls into one half.

    >>> _sub_boxes(((7, 7), (0, 3), (0, 3)), (0, 3))
    [((7, 7), (2, 3), (2, 3)), ((7, 7), (2, 3), (0, 1)), ((7, 7), (0, 1), (0, 1))]
    """
    (low, high), times = interval, box.count(interval)
    middle = (low + high) // 2
    rest = [other for other in box if other != interval]
    halves = ((middle + 1, high), (low, middle))
    return [tuple(sorted(rest + [halves[0]] * (times - k) + [halves[1]] * k, reverse=True)) for k in range(times + 1)]


class Bounder:
    """Lower bounds on the margins of boxes at one query position; results that do not depend on the box are computed
    once.

    Args:
        query: query position after the n numbers.
        n: how many numbers each input has.
    Raises:
        ValueError: the neurons are not ReLUs.
    """

    def __init__(self, query: QueryPosition, n: int):
        logit_map = query.logit_map
        if logit_map.act_fn != "relu" and logit_map.W_in.shape[1]:
            raise ValueError(f"bounds of neurons are known only for ReLU, got {logit_map.act_fn}")
        self.query, self.n, self.limit = query, n, logit_map.W_U.shape[1]
        scores = query.scores
        self_score = scores[n, query.token]
        shift = torch.maximum(scores[:n, : self.limit].amax(dim=(0, 1)), self_score)
        self.weight = (scores[:n, : self.limit] - shift).exp().permute(2, 0, 1)  # [head, pos, token]
        self.self_weight = (self_score - shift).exp()  # [head]
        # [head, pos, token, d_model], a sum of a part by token and one by position
        ov = query.ov[:n, : self.limit].permute(2, 0, 1, 3)
        self.ov_by_token, self.ov_by_pos = ov[:, 0].contiguous(), ov[:, :, 0] - ov[:, :1, 0]
        self.self_ov = query.ov[n, query.token]  # [head, d_model]
        by_number = self.weight.permute(2, 0, 1)
        self.least_weight, self.least_minus_weight = Extremes(by_number.amin(2)), Extremes(-by_number.amax(2))
        into, by_pos = self.ov_by_token.transpose(0, 1) @ logit_map.W_in, self.ov_by_pos @ logit_map.W_in
        self.least_in, self.least_minus_in = Extremes(into + by_pos.amin(1)), Extremes(-into - by_pos.amax(1))
        self.self_in = self.self_ov @ logit_map.W_in  # [head, neuron]
        self.start_in = query.start @ logit_map.W_in + logit_map.b_in
        self.by_output = (logit_map.W_out @ logit_map.W_U).T.contiguous(), logit_map.W_U.T.contiguous()
        self.bias = logit_map.b_out @ logit_map.W_U + logit_map.b_U

    def weights(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Return the smallest and largest unnormalised attention weight of every number of every box: [batch, n, head]
        each.

        Args:
            low, high: ends of the interval of every number of every box, `[batch, n]`.
        """
        return self.least_weight.minima(low, high), -self.least_minus_weight.minima(low, high)

    def _least_in(self, values: Tensor, own: Tensor, least: Tensor, most: Tensor) -> Float[Tensor, "batch neuron"]:
        """Return a lower bound on the sum over heads of weighted means of values, with weights between bounds."""
        least, most, own_weight = least.unsqueeze(3), most.unsqueeze(3), self.self_weight[:, None]
        t = (most * values).sum(dim=1) + own_weight * own
        t = t / (most.sum(dim=1) + own_weight)
        for step in range(_NEWTON):
            w = torch.where(values > t.unsqueeze(1), least, most)
            excess = (w * (values - t.unsqueeze(1))).sum(dim=1) + own_weight * (own - t)
            if step < _NEWTON - 1:
                t = t + excess / (w.sum(dim=1) + own_weight)
        return (t + excess.clamp(max=0) / (least.sum(dim=1) + own_weight)).sum(dim=1)

    def neurons(self, low: Tensor, high: Tensor, weights: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the lower and upper bounds on every neuron before its ReLU in every box: [batch, neuron] each.

        Args:
            low, high: ends of the interval of every number of every box, `[batch, n]`.
            weights: smallest and largest attention weights, from the method `weights`.
        """
        least = self._least_in(self.least_in.minima(low, high), self.self_in, *weights)
        minus_most = self._least_in(self.least_minus_in.minima(low, high), -self.self_in, *weights)
        return self.start_in + least, self.start_in - minus_most

    def margins(
        self,
        low: Int[Tensor, "batch n"],
        high: Int[Tensor, "batch n"],
        weights: tuple[Tensor, Tensor],
        box: Int[Tensor, " pair"],
        other: Int[Tensor, " pair"],
    ) -> Float[Tensor, " pair"]:
        """Return lower bounds on the logit of a box's largest number minus the logit of another answer. [nats]

        Args:
            low, high: ends of the interval of every number of every box.
            weights: smallest and largest attention weights, from the method `weights`.
            box, other: the pairs of box and other answer for which the margin is bounded, box by box.
        """
        least, most = self.neurons(low, high, weights)
        alive, unsure = least >= 0, (least < 0) & (most > 0)
        slope = torch.where(unsure, most / (most - least).clamp(min=1e-300), alive.double())
        below = torch.where(unsure, (most > -least).double(), alive.double())
        offset = torch.where(unsure, -least * slope, 0.0)
        logit_map, bounds, (W_L, W_U) = self.query.logit_map, [], self.by_output
        for b, j in enumerate(other.split(box.bincount(minlength=len(low)).tolist())):
            m = low[b, 0]
            D = W_L[m] - W_L[j]
            by_neuron = torch.where(D > 0, below[b], slope[b]) * D
            direction = W_U[m] - W_U[j] + by_neuron @ logit_map.W_in.T
            fixed = D.clamp(max=0) @ offset[b] + by_neuron @ logit_map.b_in
            fixed = fixed + direction @ self.query.start + self.bias[m] - self.bias[j]
            intervals = Counter(zip(low[b].tolist(), high[b].tolist(), strict=True))
            bounds.append(self._with_heads(fixed, direction, intervals, weights[0][b]))
        return torch.cat(bounds)

    def _with_heads(
        self,
        fixed: Float[Tensor, " pair"],
        direction: Float[Tensor, "pair d_model"],
        intervals: Mapping[tuple[int, int], int],
        least: Float[Tensor, "n head"],
    ) -> Float[Tensor, " pair"]:
        """Return `fixed` plus a lower bound on the output of all heads along a direction.

        The bound is only made as tight as the proof needs.

        Args:
            intervals: intervals of one box with their counts of numbers; the interval of the largest number is first.
            least: smallest attention weight of each number.
        """
        times, spans = list(intervals.values()), [slice(low, high + 1) for low, high in intervals]
        weights, heads = [self.weight[:, :, span] for span in spans], torch.arange(len(self.self_weight))
        by_token, by_pos = (torch.einsum("im,hxm->ihx", direction, ov) for ov in (self.ov_by_token, self.ov_by_pos))
        values = [by_token[:, :, None, span] + by_pos[..., None] for span in spans]  # [pair, head, pos, token] each
        own, w, least = direction @ self.self_ov.T, self.self_weight, least.sum(dim=0) + self.self_weight
        t, best, rest = values[0][..., 0].mean(dim=2), torch.full_like(fixed, -torch.inf), torch.arange(len(fixed))
        for step in range(_NEWTON):
            weighted = [part * (x - t[..., None, None]) for part, x in zip(weights, values, strict=True)]
            smallest = [part.flatten(2).min(dim=2) for part in weighted]  # [pair, head], and where in [pos, token]
            excess = w * (own - t) + sum(count * low.values for count, low in zip(times, smallest, strict=True))
            bound = fixed[rest] + (t + excess.clamp(max=0) / least).sum(dim=1)
            best[rest] = torch.maximum(best[rest], bound)
            if step == _NEWTON - 1:
                break
            weight = w
            for count, part, low in zip(times, weights, smallest, strict=True):
                weight = weight + count * part.flatten(1)[heads, low.indices]
            t = t + excess / weight  # what the heads add where these are the numbers: no bound lies above
            undecided = ((bound <= ROUNDING) & (fixed[rest] + t.sum(dim=1) > ROUNDING)).nonzero()[:, 0]
            if not len(undecided):
                break
            values, (own, t, rest) = [x[undecided] for x in values], (x[undecided] for x in (own, t, rest))
        return best


@checked
def accuracy_bound(network: Network, task: Ordering, boxes: int = 10_000) -> AccuracyBound:
    """Prove a lower bound on a network's accuracy on its own task; see `proven_accuracy`.

    Args:
        boxes: largest number of boxes to bound; more boxes give a larger bound.
    Raises:
        ValueError: the task is not to find the largest or smallest number, or the network is not one layer with ReLUs.
    """
    if task.ask not in ("max", "min"):
        raise ValueError(
            f"bounds of the accuracy are known only for the largest or smallest of several numbers, got {task.name}"
        )
    query = lookups(network).query_position(task.n, task.limit)
    return proven_accuracy(query if task.ask == "max" else query.mirror_image(), task.n, boxes)


@checked
def proven_accuracy(query: QueryPosition, n: int, boxes: int = 10_000, batch_size: int = 64) -> AccuracyBound:
    """Prove a lower bound on the accuracy over all limit^n inputs when the answer is the largest of n numbers.

    Args:
        query: query position CLS after the n numbers; its `mirror_image` if the answer is the smallest number.
        boxes: largest number of boxes to bound; more boxes give a larger bound.
        batch_size: number of boxes that are bounded at once.
    Raises:
        ValueError: the neurons are not ReLUs.
    """
    bounder, limit = Bounder(query, n), query.logit_map.W_U.shape[1]
    heap: list[tuple[int, Box, Tensor]] = []
    for m in range(limit):
        others = torch.arange(limit) != m
        for times in range(1, n + 1 if m else 1):
            box = ((m, m),) * times + ((0, m - 1),) * (n - times)
            heap.append((-_size(box), box, others))
    if n >= 1:
        heap.append((-1, ((0, 0),) * n, torch.arange(limit) != 0))
    heapq.heapify(heap)
    done, evaluated, wrong, proven = 0, 0, 0, [0] * limit
    while heap and done < boxes:
        batch = [heapq.heappop(heap) for _ in range(min(batch_size, len(heap), boxes - done))]
        done += len(batch)
        bounds = torch.tensor([box for _, box, _ in batch])
        low, high = bounds[..., 0], bounds[..., 1]
        weights = bounder.weights(low, high)
        unproven = _unproven(bounder, low, high, weights, torch.stack([others for *_, others in batch]))
        share = (weights[1] / (weights[0].sum(dim=1, keepdim=True) + bounder.self_weight)).sum(dim=2)
        widest = share.masked_fill(low == high, -1).argmax(dim=1).tolist()
        for (volume, box, _), others, k in zip(batch, unproven, widest, strict=True):
            m = box[0][0]
            if not others.any():
                proven[m] -= volume
            elif box[k][0] < box[k][1]:
                for child in _sub_boxes(box, box[k]):
                    heapq.heappush(heap, (-_size(child), child, others))
            elif -volume <= MOST_ORDERS:
                correct = _correct_orders(query, box)
                evaluated, wrong, proven[m] = evaluated - volume, wrong - volume - correct, proven[m] + correct
    of_each = [(m + 1) ** n - m**n for m in range(limit)]
    shares = tuple(p / total for p, total in zip(proven, of_each, strict=True))
    return AccuracyBound(sum(proven), limit**n, done, evaluated, wrong, shares)


def _unproven(
    bounder: Bounder, low: Tensor, high: Tensor, weights: tuple[Tensor, Tensor], others: Bool[Tensor, "batch output"]
) -> Bool[Tensor, "batch output"]:
    """Mask of the answers that are not proven to have a smaller logit than the correct answer."""
    box, other = others.nonzero(as_tuple=True)
    unproven = others.clone()
    unproven[box, other] = ~(bounder.margins(low, high, weights, box, other) > ROUNDING)
    return unproven


def _correct_orders(query: QueryPosition, box: Box) -> int:
    """Return the number of orders with a correct answer, for a box in which every interval is a single number."""
    orders = sorted(set(permutations(number for number, _ in box)))
    tokens = torch.tensor([[*order, query.token] for order in orders])
    return int((query.logits(tokens).argmax(dim=1) == box[0][0]).sum())


@checked
def gap_threshold_share(limit: int, n: int, gap: int) -> float:
    """Return the share of inputs with a unique largest number that leads by at least `gap`; a simple gap proof covers
    these.

    >>> gap_threshold_share(10, 2, 1)
    0.9
    """
    return sum(n * max(m - gap + 1, 0) ** (n - 1) for m in range(limit)) / limit**n
