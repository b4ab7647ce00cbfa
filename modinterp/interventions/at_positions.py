"""Replace activations at one position of each input of a network on sequences, and read the network's answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.models import Network
from modinterp.models.lens import HookPoint

Edit = Callable[[Tensor], Tensor]


def seen(network: Network, inputs: Int[Tensor, "input pos"], hooks: Collection[str]) -> dict[str, Tensor]:
    """Map each hook name to the activations `[input, pos, ...]` on the given inputs.

    Raises:
        ValueError: the network has no such hook.
    """
    if unknown := sorted(set(hooks) - set(network.hook_dict)):
        raise ValueError(f"no hook {', '.join(unknown)}; this network has {', '.join(network.hook_dict)}")
    with torch.no_grad():
        _, cache = network.run_with_cache(inputs.to(network.device), names_filter=list(hooks))
    return cache.cache_dict


def logits_with_edits(
    network: Network, inputs: Int[Tensor, "input pos"], position: int, edits: Mapping[str, Edit]
) -> Float[Tensor, "input output"]:
    """Return the logits at one position, after some activations are changed in the forward pass.

    Args:
        network: the network whose activations are changed.
        inputs: tokens of each input.
        position: position at which the logits are read.
        edits: map from hook name to a function from the activations at the hook to the new activations.
    """

    def hooked(edit: Edit) -> Callable[[Tensor, HookPoint], Tensor]:
        return lambda x, hook: edit(x.clone())

    with torch.no_grad(), network.hooks(fwd_hooks=[(name, hooked(edit)) for name, edit in edits.items()]) as changed:
        return changed(inputs.to(network.device))[:, position].cpu()


def put(values: Float[Tensor, "input *rest"], places: Int[Tensor, " input"]) -> Edit:
    """Return an edit that sets the activation at one position of each input to the given values."""

    def edit(x: Tensor) -> Tensor:
        x[torch.arange(len(x)), places] = values.to(x)
        return x

    return edit


def exchanged(places: Int[Tensor, " input"], others: Int[Tensor, " input"]) -> Edit:
    """Return an edit that exchanges the activations at two positions of each input."""

    def edit(x: Tensor) -> Tensor:
        rows = torch.arange(len(x))
        first, second = x[rows, places].clone(), x[rows, others].clone()
        x[rows, places], x[rows, others] = second, first
        return x

    return edit


def as_far(moves: Float[Tensor, "input *rest d"], seed: int) -> Float[Tensor, "input *rest d"]:
    """Return a control: changes in random directions, each as long as the original change."""
    random = torch.randn(moves.shape, generator=torch.Generator().manual_seed(seed)).to(moves)
    return random * moves.norm(dim=-1, keepdim=True) / random.norm(dim=-1, keepdim=True)
