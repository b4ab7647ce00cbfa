"""Lists that contain given numbers, and the answers of a sorting network behind one of them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.measurements import SequenceMeasurements
from modinterp.models import Network
from modinterp.tasks import Examples, SortedList


@dataclass(frozen=True)
class Asked:
    """Lists of numbers, and for each list a number whose successor in sorted order is the question.

    Attributes:
        examples: inputs and answers of the task.
        number: behind which is asked.
        position: at which it stands among the sorted numbers.
    """

    examples: Examples
    number: Int[Tensor, " input"]
    position: Int[Tensor, " input"]

    def source(self, number: Int[Tensor, " input"]) -> Int[Tensor, " input"]:
        """Return the position of a number in the list that is to be sorted."""
        return (self.examples.inputs[:, : self.examples.labels.shape[1]] == number.unsqueeze(1)).int().argmax(dim=1)


def lists_with(task: SortedList, given: Int[Tensor, "input k"], seed: int, none_between: bool = False) -> Asked:
    """Lists that hold given numbers, the others random, and are asked behind the first of those given.

    Args:
        given: different numbers of each list, in rising order.
        none_between: whether no other number lies between the first and the last of those given.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(len(given), task.limit, generator=generator)
    numbers = torch.arange(task.limit)
    if none_between:
        order[(numbers > given[:, :1]) & (numbers < given[:, -1:])] = 2
    order.scatter_(1, given, -1)
    chosen = order.argsort(dim=1)[:, : task.n]
    shuffled = chosen.gather(1, torch.rand(chosen.shape, generator=generator).argsort(dim=1))
    examples = task.examples(shuffled)
    place = (examples.labels == given[:, :1]).int().argmax(dim=1)
    return Asked(examples, given[:, 0], place + task.n + 1)


def triples(task: SortedList, each: int = 30) -> Asked:
    """Lists that hold d, d + 1 and d + 2, a number of them for every d; the question stands behind d."""
    d = torch.arange(task.limit - 2).repeat_interleave(each).unsqueeze(1)
    return lists_with(task, d + torch.arange(3), seed=0)


def jumps(task: SortedList, gap: int, n: int = 1_500) -> Asked:
    """Make lists in which the next number above a given one lies `gap` above it, and is asked behind it."""
    generator = torch.Generator().manual_seed(gap)
    d = torch.randint(0, task.limit - gap, (n, 1), generator=generator)
    return lists_with(task, torch.cat([d, d + gap], dim=1), seed=gap + 1, none_between=True)


def answers_behind(network: Network, asked: Asked) -> Int[Tensor, " input"]:
    """Return the network's answer behind the number that is asked about."""
    with torch.no_grad():
        logits = network(asked.examples.inputs)
    return logits[torch.arange(len(logits)), asked.position].argmax(dim=-1)


def attention_from(m: SequenceMeasurements, asked: Asked) -> Float[Tensor, "input head key"]:
    """Return the attention from the position of the question."""
    hook = "blocks.0.attn.hook_pattern"
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(asked.examples.inputs, names_filter=[hook])
    return cache[hook][torch.arange(len(asked.number)), :, asked.position]
