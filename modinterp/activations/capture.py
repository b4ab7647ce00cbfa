"""Capture all activations of one forward pass over all inputs of a task, in the shape of the input grid."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import INPUTS
from modinterp.models import Network
from modinterp.models.lens import ActivationCache
from modinterp.models.with_numbers import check_default_device
from modinterp.tasks import Task

LOGITS = "logits"
_PER_QUERY, _PER_KEY = ("hook_attn_scores", "hook_pattern"), ("hook_k", "hook_v")


def at_last_position(name: str, activation: Tensor) -> Tensor:
    """Return an activation at the last position: the last query of attention, and the last row of other activations."""
    return activation[:, :, -1] if name.endswith(_PER_QUERY) else activation[:, -1]


def at_the_end(found: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return activations at the last position, except keys and values, which keep all positions."""
    return {name: x if name.endswith(_PER_KEY) else at_last_position(name, x) for name, x in found.items()}


def _grid(task: Task) -> tuple[int, ...]:
    if task.grid is None:
        raise ValueError(f"the inputs of {task.name} do not form a grid of pairs")
    return task.grid


def logits_on_grid(network: Network, task: Task) -> Float[Tensor, "*grid output"]:
    """Return logits at the last position for every input, shape `[*task.grid, output]`, in the network's own dtype.

    Raises:
        ValueError: the task's inputs form no grid, or the default device of torch is `meta`.
    """
    check_default_device()
    grid = _grid(task)
    with torch.no_grad(), network.at_last_position():
        logits = network(task.inputs().to(network.device))
    return at_last_position(LOGITS, logits).unflatten(0, grid)


def activations(
    network: Network,
    task: Task,
    names: Collection[str] | None = None,
    precise: bool = True,
    with_logits: bool = True,
) -> ActivationCache:
    """Return all activations at the last position, for every input, in float64 on the network's device.

    The cache maps the name of each hook to a tensor `[*task.grid, ...]`. For example, `blocks.0.mlp.hook_post` has the
    shape `[a, b, neuron]`, and `blocks.0.attn.hook_pattern` has `[a, b, head, key]`. The entry `logits` of the cache
    has the shape `[a, b, output]`. Keys and values keep all positions: `[a, b, pos, head, d_head]`.

    Args:
        names: names of the hooks to capture in addition to the logits; all hooks by default.
        precise: True to compute in float64; False for the network's own dtype, which suffices for pictures.
        with_logits: True to keep the logits.
    Raises:
        ValueError: the task's inputs form no grid, or torch's default device is `meta`.
    """
    check_default_device()
    grid = _grid(task)
    model, captured, began = network.in_float64() if precise else network, dict[str, Tensor](), 0
    inputs, hooks = task.inputs(), None if names is None else list(names)
    for some in inputs.split(INPUTS if len(inputs) <= INPUTS else INPUTS // 4):
        with torch.no_grad(), model.at_last_position():
            logits, cache = model.run_with_cache(some.to(network.device), names_filter=hooks)
        for name, x in at_the_end(cache.cache_dict | ({LOGITS: logits} if with_logits else {})).items():
            if len(some) == len(inputs):
                captured[name] = x.contiguous()
            else:
                captured.setdefault(name, x.new_empty(len(inputs), *x.shape[1:]))[began : began + len(some)] = x
        began += len(some)
    return ActivationCache({name: x.unflatten(0, grid) for name, x in captured.items()}, model)


def patterns(network: Network, inputs: Int[Tensor, "input pos"]) -> Float[Tensor, "layer input head query key"]:
    """Return the attention pattern of every head between all positions, for every input, in float64."""
    precise, layers = network.in_float64(), range(len(network.blocks))
    hooks = [f"blocks.{layer}.attn.hook_pattern" for layer in layers]
    with torch.no_grad():
        _, cache = precise.run_with_cache(inputs.to(network.device), names_filter=hooks)
    return torch.stack([cache[hook] for hook in hooks])
