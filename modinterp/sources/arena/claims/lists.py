"""Make lists that contain given numbers, and evaluate a network that sorts lists on the successor of one number."""

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
    """Lists of numbers with one chosen number each; the network has to answer the next larger number of the list.

    Attributes:
        examples: the lists, as inputs and right answers of the task.
        number: the chosen number of each list.
        position: position of the chosen number in the sorted part of the input.
    """

    examples: Examples
    number: Int[Tensor, " input"]
    position: Int[Tensor, " input"]

    def source(self, number: Int[Tensor, " input"]) -> Int[Tensor, " input"]:
        """Return the position of a number in the unsorted part of the input."""
        return (self.examples.inputs[:, : self.examples.labels.shape[1]] == number.unsqueeze(1)).int().argmax(dim=1)


def lists_with(task: SortedList, given: Int[Tensor, "input k"], seed: int, none_between: bool = False) -> Asked:
    """Return lists that contain the given numbers and random others; the first given number is the chosen number.

    Args:
        given: the numbers that each list must contain, all different, in ascending order.
        none_between: True to allow no other number between the first and the last given number.
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
    """Return `each` lists for every d that contain d, d + 1 and d + 2; the chosen number is d."""
    d = torch.arange(task.limit - 2).repeat_interleave(each).unsqueeze(1)
    return lists_with(task, d + torch.arange(3), seed=0)


def jumps(task: SortedList, gap: int, n: int = 1_500) -> Asked:
    """Return lists with a random chosen number, whose successor in the list is larger by `gap`."""
    generator = torch.Generator().manual_seed(gap)
    d = torch.randint(0, task.limit - gap, (n, 1), generator=generator)
    return lists_with(task, torch.cat([d, d + gap], dim=1), seed=gap + 1, none_between=True)


def answers_behind(network: Network, asked: Asked) -> Int[Tensor, " input"]:
    """Return the network's answer at the position of the chosen number, which should be the next larger number."""
    with torch.no_grad():
        logits = network(asked.examples.inputs)
    return logits[torch.arange(len(logits)), asked.position].argmax(dim=-1)


def attention_from(m: SequenceMeasurements, asked: Asked) -> Float[Tensor, "input head key"]:
    """Return the attention of each head from the position of the chosen number."""
    hook = "blocks.0.attn.hook_pattern"
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(asked.examples.inputs, names_filter=[hook])
    return cache[hook][torch.arange(len(asked.number)), :, asked.position]
