"""Replace activations of a network inside a `with` block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations.capture import LOGITS, at_last_position, logits_on_grid
from modinterp.models import Network
from modinterp.models.lens import ActivationCache, HookPoint
from modinterp.tasks import Task


@contextmanager
def replaced(network: Network, values: Mapping[str, Tensor]) -> Iterator[Network]:
    """Replace activations of the network at the last position until the `with` statement ends.

    Args:
        values: map from the name of a hook to the new values, which broadcast to the shape that `activations` returns.
            Inside the `with` statement, the network must be run on all inputs of the task at once.
    Raises:
        ValueError: a name is not a hook of this network.
    """
    unknown = sorted(set(values) - set(network.hook_dict))
    if unknown:
        raise ValueError(f"no hook {', '.join(unknown)}; this network has {', '.join(network.hook_dict)}")

    def put(activation: Tensor, hook: HookPoint) -> Tensor:
        changed = activation.clone()
        part = at_last_position(hook.name or "", changed)
        value = values[hook.name or ""].to(part)
        part.copy_(value.flatten(0, value.ndim - part.ndim) if value.ndim > part.ndim else value)
        return changed

    with network.hooks(fwd_hooks=[(name, put) for name in values]) as hooked:
        yield hooked


def logits_with(
    network: Network, task: Task, values: Mapping[str, Tensor], grid: ActivationCache | None = None
) -> Float[Tensor, "*grid output"]:
    """Return logits for every input `[*task.grid, output]`, with some activations replaced as in `replaced`.

    Args:
        grid: all activations of the network, from `modinterp.activations.activations`, if they are already computed.
            After the last nonlinearity, the network is an affine map. For a change after the last nonlinearity, the
            change of the logits follows from the weights, without a forward pass.

    >>> import torch
    >>> from modinterp import models, tasks
    >>> task = tasks.addition(5)
    >>> config = models.TransformerConfig.of(task)
    >>> network = models.hooked(config, models.initial_weights(config, seed=0))
    >>> dead = logits_with(network, task, {"blocks.0.mlp.hook_post": torch.zeros(512)})
    """
    last = f"blocks.{len(network.blocks) - 1}"
    affine = (f"{last}.mlp.hook_post", f"{last}.hook_mlp_out", f"{last}.hook_resid_post")
    if grid is not None and len(values) == 1 and set(values) <= {*affine}:
        ((name, value),) = values.items()
        precise = cast(Network, grid.model)
        return grid[LOGITS] + (value - grid[name]) @ (precise.W_L if name == affine[0] else precise.W_U.detach())
    with replaced(network, values):
        return logits_on_grid(network, task)


@contextmanager
def without_heads(network: Network, heads: Collection[tuple[int, int]]) -> Iterator[Network]:
    """Set the outputs of some heads to 0 at every position until the `with` statement ends.

    Args:
        heads: pairs (layer, index), one for each head.
    Raises:
        ValueError: the network does not have one of the heads.
    """
    heads_of_layer: dict[int, list[int]] = defaultdict(list)
    for layer, head in heads:
        if not (0 <= layer < len(network.blocks) and 0 <= head < len(network.blocks[layer].attn.W_O)):
            raise ValueError(f"this network has no head {head} in layer {layer}")
        heads_of_layer[layer].append(head)

    def zeroing(numbers: list[int]) -> Callable[[Tensor, HookPoint], Tensor]:
        def put(z: Tensor, hook: HookPoint) -> Tensor:
            return z.index_fill(2, torch.tensor(numbers, device=z.device), 0)

        return put

    hooks = [(f"blocks.{layer}.attn.hook_z", zeroing(numbers)) for layer, numbers in heads_of_layer.items()]
    with network.hooks(fwd_hooks=hooks) as hooked:
        yield hooked
