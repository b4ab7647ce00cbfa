"""Every activation of a network on all inputs, those of many inputs one hook at a time, when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from modinterp.activations.blocks import INPUTS
from modinterp.activations.capture import LOGITS, activations, at_the_end
from modinterp.models import Network
from modinterp.models.lens import ActivationCache
from modinterp.tasks import Task

FEW = 16  # inputs, of which the size of all activations follows
LARGE = 2**30  # bytes of all activations in float64, 1 GiB


def all_activations(network: Network, task: Task) -> ActivationCache:
    """`activations` of all hooks: captured at once in float64, or where they are large one by one as they are computed.

    Use it for the activations that measurements are taken from. Those that would take more than 1 GiB beside one
    another have the network's own dtype, and each is captured when it is first asked for.
    """
    if len(task.inputs()) <= INPUTS or size_of_all(network, task) <= LARGE:
        return activations(network, task)
    return ActivationCache(_WhenAsked(network, task), network)


def size_of_all(network: Network, task: Task) -> int:
    """Bytes that the activations of all hooks would take in float64, as a forward pass of a few inputs says."""
    inputs = task.inputs()
    with torch.no_grad(), network.at_last_position():
        logits, cache = network.run_with_cache(inputs[:FEW].to(network.device))
    numbers = sum(x.numel() for x in at_the_end({**cache.cache_dict, LOGITS: logits}).values())
    return 8 * numbers * len(inputs) // FEW


class _WhenAsked(dict[str, Tensor]):
    """Activations by the name of their hook, each captured when it is first asked for."""

    def __init__(self, network: Network, task: Task):
        super().__init__()
        self.network, self.task = network, task

    def __missing__(self, name: str) -> Tensor:
        if name not in self:
            raise KeyError(name)
        found = activations(self.network, self.task, [name] * (name != LOGITS), precise=False).cache_dict
        for each, x in found.items():
            self.setdefault(each, x)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name == LOGITS or name in self.network.hook_dict

    def __iter__(self) -> Iterator[str]:
        return iter([LOGITS, *self.network.hook_dict])

    def keys(self) -> Any:
        """Names of all hooks."""
        return list(self)
