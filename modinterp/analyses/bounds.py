"""A lower bound, from the weights alone, on how often a network answers the largest of several numbers.

The inputs are cut into boxes: the largest number m and how often it stands, and an interval for each of the others,
whatever the order of all. A box is proven if for every input in it and every other answer j the logit of m is larger.
That is shown in three steps, each of which errs on the safe side alone:

1. A neuron's input is linear in what every head hands on, and a head hands on a weighted mean; the smallest and largest
   such mean over the box bound each neuron.
2. A ReLU within known bounds lies above one line and below another, so the margin of m over j is at least a linear
   function of what the heads hand on.
3. The smallest value of that function over the box is again a smallest weighted mean for each head, now with every
   number's weight and value taken together.

A smallest weighted mean sum w f / sum w is found as the root of sum min w (f - t), which the numbers share out among
themselves (Dinkelbach); whatever t is reached, what is left over bounds the error. A box that is not proven is cut in
two, the largest boxes first; one with a single number in every interval is settled by running the network on all its
orders (of up to seven numbers). So the bound is sound whenever it is stopped, and grows to the accuracy itself.

Linear bounds of ReLUs: Zhang et al. 2018 (CROWN). The source has no such bound.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.lookups import Reading, lookups
from modinterp.models import Network
from modinterp.tasks import Ordering

ROUNDING = 1e-9  # a margin below this is no proof [nats]
MOST_ORDERS = 5040  # of single numbers, that are run one by one
_NEWTON = 4


@dataclass(frozen=True)
class AccuracyBound:
    """What was proven.

    Attributes:
        proven: inputs on which the answer is shown to be right.
        inputs: all there are, limit^n.
        boxes: how many boxes were bounded.
        evaluated: inputs that were run one by one, where a box was down to one choice of numbers.
        wrong: those of them that are answered wrongly; the accuracy is at most 1 - wrong / inputs.
        by_largest: share of the inputs proven, by their largest number.
    """

    proven: int
    inputs: int
    boxes: int
    evaluated: int
    wrong: int
    by_largest: tuple[float, ...]

    @property
    def accuracy(self) -> float:
        """The accuracy on uniform inputs is at least this."""
        return self.proven / self.inputs


Box = tuple[tuple[int, int], ...]  # (lowest, highest) of every number, in falling order; the first is (m, m)


def size(box: Box) -> int:
    """Inputs in a box, in all orders.

    >>> size(((7, 7), (0, 2), (0, 2))), size(((7, 7), (7, 7)))
    (27, 1)
    """
    counts = Counter(box)
    orders = factorial(len(box)) // prod(factorial(k) for k in counts.values())
    return orders * prod((high - low + 1) ** k for (low, high), k in counts.items())


def cut(box: Box, interval: tuple[int, int]) -> list[Box]:
    """The boxes that result when an interval is halved and each of its numbers falls into one half.

    >>> cut(((7, 7), (0, 3), (0, 3)), (0, 3))
    [((7, 7), (2, 3), (2, 3)), ((7, 7), (2, 3), (0, 1)), ((7, 7), (0, 1), (0, 1))]
    """
    (low, high), times = interval, box.count(interval)
    middle = (low + high) // 2
    rest = [other for other in box if other != interval]
    halves = ((middle + 1, high), (low, middle))
    return [tuple(sorted(rest + [halves[0]] * (times - k) + [halves[1]] * k, reverse=True)) for k in range(times + 1)]


class Extremes:
    """Smallest values over any interval of the first axis, each from two overlapping powers of two."""

    def __init__(self, x: Float[Tensor, "number *rest"]):
        self.levels = [x]
        while 2 ** len(self.levels) <= len(x):
            last, step = self.levels[-1], 2 ** (len(self.levels) - 1)
            self.levels.append(torch.minimum(last[:-step], last[step:]))

    def over(self, low: Int[Tensor, "*box"], high: Int[Tensor, "*box"]) -> Float[Tensor, "*box *rest"]:
        """Smallest values from `low` to `high`, both included, elementwise."""
        found = self.levels[0].new_empty(*low.shape, *self.levels[0].shape[1:])
        level = (high - low + 1).double().log2().floor().long()
        for k in level.unique().tolist():
            own = level == k
            found[own] = torch.minimum(self.levels[k][low[own]], self.levels[k][high[own] - 2**k + 1])
        return found


class Bounder:
    """Margins of boxes for one reading; everything that does not depend on the box is worked out once."""

    def __init__(self, reading: Reading, n: int):
        head = reading.head
        if head.act_fn != "relu" and head.W_in.shape[1]:
            raise ValueError(f"neurons are bounded for ReLU alone, got {head.act_fn}")
        self.reading, self.n, self.limit = reading, n, head.W_U.shape[1]
        scores = reading.scores
        self_score = scores[n, reading.own]
        shift = torch.maximum(scores[:n, : self.limit].amax(dim=(0, 1)), self_score)
        self.weight = (scores[:n, : self.limit] - shift).exp().permute(2, 0, 1)  # [head, pos, number]
        self.self_weight = (self_score - shift).exp()  # [head]
        self.written = reading.written[:n, : self.limit].permute(2, 0, 1, 3)  # [head, pos, number, d_model]
        self.self_written = reading.written[n, reading.own]  # [head, d_model]
        by_number = self.weight.permute(2, 0, 1)
        self.least_weight, self.least_minus_weight = Extremes(by_number.amin(2)), Extremes(-by_number.amax(2))
        into = (self.written @ head.W_in).transpose(1, 2).transpose(0, 1)  # [number, head, pos, neuron]
        self.least_in, self.least_minus_in = Extremes(into.amin(2)), Extremes(-into.amax(2))
        self.self_in = self.self_written @ head.W_in  # [head, neuron]
        self.start_in = reading.start @ head.W_in + head.b_in
        self.W_L, self.bias = head.W_out @ head.W_U, head.b_out @ head.W_U + head.b_U

    def weights(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Smallest and largest weight of every number of every box: [box, member, head] each."""
        return self.least_weight.over(low, high), -self.least_minus_weight.over(low, high)

    def _least_in(self, values: Tensor, own: Tensor, least: Tensor, most: Tensor) -> Float[Tensor, "box neuron"]:
        """A lower bound on the sum over heads of the weighted means of values, weights between least and most."""
        least, most, own_weight = least.unsqueeze(3), most.unsqueeze(3), self.self_weight[:, None]
        t = (most * values).sum(dim=1) + own_weight * own
        t = t / (most.sum(dim=1) + own_weight)
        for step in range(_NEWTON):
            w = torch.where(values > t.unsqueeze(1), least, most)
            over = (w * (values - t.unsqueeze(1))).sum(dim=1) + own_weight * (own - t)
            if step < _NEWTON - 1:
                t = t + over / (w.sum(dim=1) + own_weight)
        return (t + over.clamp(max=0) / (least.sum(dim=1) + own_weight)).sum(dim=1)

    def neurons(self, low: Tensor, high: Tensor, weights: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Bounds of every neuron before its ReLU: [box, neuron] each."""
        least = self._least_in(self.least_in.over(low, high), self.self_in, *weights)
        minus_most = self._least_in(self.least_minus_in.over(low, high), -self.self_in, *weights)
        return self.start_in + least, self.start_in - minus_most

    def margins(
        self, low: Int[Tensor, "box n"], high: Int[Tensor, "box n"], weights: tuple[Tensor, Tensor],
        box: Int[Tensor, " pair"], other: Int[Tensor, " pair"],
    ) -> Float[Tensor, " pair"]:  # fmt: skip
        """Lower bounds on the logit of a box's largest number less that of another answer. [nats]"""
        least, most = self.neurons(low, high, weights)
        alive, unsure = least >= 0, (least < 0) & (most > 0)
        slope = torch.where(unsure, most / (most - least).clamp(min=1e-300), alive.double())
        below = torch.where(unsure, (most > -least).double(), alive.double())
        offset = torch.where(unsure, -least * slope, 0.0)
        found = []
        for part in torch.arange(len(box)).split(256):
            b, j, m = box[part], other[part], low[box[part], 0]
            D = (self.W_L[:, m] - self.W_L[:, j]).T
            by_neuron = torch.where(D > 0, below[b], slope[b]) * D
            fixed = (D.clamp(max=0) * offset[b]).sum(dim=1) + by_neuron @ self.reading.head.b_in
            direction = (self.reading.head.W_U[:, m] - self.reading.head.W_U[:, j]).T
            direction = direction + by_neuron @ self.reading.head.W_in.T
            fixed = fixed + direction @ self.reading.start + self.bias[m] - self.bias[j]
            found.append(self._with_heads(fixed, direction, low[b], high[b], weights[0][b]))
        return torch.cat(found)

    def _with_heads(
        self, fixed: Float[Tensor, " pair"], direction: Float[Tensor, "pair d_model"], low: Tensor, high: Tensor,
        least: Tensor,
    ) -> Float[Tensor, " pair"]:  # fmt: skip
        """`fixed` plus a lower bound on what all heads hand on along a direction; no tighter than proof needs."""
        values = torch.einsum("im,hpym->ihpy", direction, self.written)
        own, w, numbers = direction @ self.self_written.T, self.self_weight, torch.arange(self.limit)
        outside = ((numbers < low[..., None]) | (numbers > high[..., None])).unsqueeze(2)  # [pair, member, 1, number]
        t = values.mean(dim=2).gather(2, low[:, :1, None].expand(-1, values.shape[1], 1)).squeeze(2)
        found, still, least = torch.full_like(fixed, -torch.inf), torch.arange(len(fixed)), least.sum(dim=1) + w
        for _ in range(_NEWTON):
            excess, pos = (self.weight * (values - t[..., None, None])).min(dim=2)  # [pair, head, number]
            over, number = excess.unsqueeze(1).masked_fill(outside, torch.inf).min(dim=3)  # [pair, member, head]
            over = over.sum(dim=1) + w * (own - t)
            bound = fixed[still] + (t + over.clamp(max=0) / least).sum(dim=1)
            found[still] = torch.maximum(found[still], bound)
            at = pos.gather(2, number.transpose(1, 2))  # [pair, head, member]
            chosen = self.weight[torch.arange(len(w))[:, None], at, number.transpose(1, 2)]
            t = t + over / (chosen.sum(dim=2) + w)
            open_ = (bound <= ROUNDING).nonzero()[:, 0]
            values, own, outside, t, least, still = (x[open_] for x in (values, own, outside, t, least, still))
        return found


def accuracy_bound(network: Network, task: Ordering, boxes: int = 10_000) -> AccuracyBound:
    """`proven_accuracy` of a network on the task that it was trained on.

    Raises:
        ValueError: another question than the largest or the smallest number, another network than one layer of ReLUs.
    """
    if task.ask not in ("max", "min"):
        raise ValueError(f"the accuracy is bounded for the largest or smallest of several numbers, got {task.name}")
    reading = lookups(network).reading(task.n, task.limit)
    return proven_accuracy(reading if task.ask == "max" else reading.mirrored(), task.n, boxes)


def proven_accuracy(reading: Reading, n: int, boxes: int = 10_000, together: int = 64) -> AccuracyBound:
    """A sound lower bound on the accuracy over all limit^n inputs when the largest of n numbers is asked.

    Args:
        reading: at CLS, behind the n numbers; `reading.mirrored()` where the smallest is asked.
        boxes: how many to bound at most; more prove more.
        together: how many are bounded at once.
    Raises:
        ValueError: neurons that are no ReLUs.
    """
    bounder, limit = Bounder(reading, n), reading.head.W_U.shape[1]
    heap: list[tuple[int, Box, Tensor]] = []
    for m in range(limit):
        others = torch.arange(limit) != m
        for times in range(1, n + 1 if m else 1):
            box = ((m, m),) * times + ((0, m - 1),) * (n - times)
            heap.append((-size(box), box, others))
    if n >= 1:
        heap.append((-1, ((0, 0),) * n, torch.arange(limit) != 0))
    heapq.heapify(heap)
    done, evaluated, wrong, proven = 0, 0, 0, [0] * limit
    while heap and done < boxes:
        batch = [heapq.heappop(heap) for _ in range(min(together, len(heap), boxes - done))]
        done += len(batch)
        bounds = torch.tensor([box for _, box, _ in batch])
        low, high = bounds[..., 0], bounds[..., 1]
        weights = bounder.weights(low, high)
        still = _unproven(bounder, low, high, weights, torch.stack([others for *_, others in batch]))
        share = (weights[1] / (weights[0].sum(dim=1, keepdim=True) + bounder.self_weight)).sum(dim=2)
        widest = share.masked_fill(low == high, -1).argmax(dim=1).tolist()
        for (volume, box, _), others, k in zip(batch, still, widest, strict=True):
            m = box[0][0]
            if not others.any():
                proven[m] -= volume
            elif box[k][0] < box[k][1]:
                for child in cut(box, box[k]):
                    heapq.heappush(heap, (-size(child), child, others))
            elif -volume <= MOST_ORDERS:
                right = _right_orders(reading, box)
                evaluated, wrong, proven[m] = evaluated - volume, wrong - volume - right, proven[m] + right
    of_each = [(m + 1) ** n - m**n for m in range(limit)]
    shares = tuple(p / total for p, total in zip(proven, of_each, strict=True))
    return AccuracyBound(sum(proven), limit**n, done, evaluated, wrong, shares)


def _unproven(
    bounder: Bounder, low: Tensor, high: Tensor, weights: tuple[Tensor, Tensor], others: Bool[Tensor, "box output"]
) -> Bool[Tensor, "box output"]:
    """The answers of which it was not shown that the right one beats them."""
    box, other = others.nonzero(as_tuple=True)
    still = others.clone()
    still[box, other] = ~(bounder.margins(low, high, weights, box, other) > ROUNDING)
    return still


def _right_orders(reading: Reading, box: Box) -> int:
    """How many orders of single numbers are answered rightly."""
    orders = sorted(set(permutations(number for number, _ in box)))
    tokens = torch.tensor([[*order, reading.own] for order in orders])
    return int((reading.logits(tokens).argmax(dim=1) == box[0][0]).sum())


def gap_threshold_share(limit: int, n: int, gap: int) -> float:
    """Share of all inputs whose largest number stands alone and leads by `gap` or more; what a plain gap proof covers.

    >>> gap_threshold_share(10, 2, 1)
    0.9
    """
    return sum(n * max(m - gap + 1, 0) ** (n - 1) for m in range(limit)) / limit**n
