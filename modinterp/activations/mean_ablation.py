"""Ablate heads and neurons: set heads to their mean output over inputs, and neurons to 0."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.models import Network
from modinterp.models.lens import HookPoint


def _hook(layer: int) -> str:
    return f"blocks.{layer}.attn.hook_z"


def mean_outputs(network: Network, inputs: Int[Tensor, "input pos"]) -> Float[Tensor, "layer pos head d_head"]:
    """Return the mean output of every head over all inputs, before W_O, at each position."""
    hooks = [_hook(layer) for layer in range(len(network.blocks))]
    with torch.no_grad():
        _, cache = network.run_with_cache(inputs.to(network.device), names_filter=hooks)
    return torch.stack([cache[hook].mean(dim=0) for hook in hooks])


@contextmanager
def heads_at_mean(
    network: Network,
    means: Float[Tensor, "layer pos head d_head"],
    heads: Collection[tuple[int, int]],
    positions: Collection[int] | None = None,
) -> Iterator[Network]:
    """Replace the outputs of some heads by their means until the `with` statement ends.

    Unlike zeros, means keep the constant part of a head's output, on which later components may rely.

    Args:
        means: mean outputs of the heads, from `mean_outputs`.
        heads: pairs (layer, index), one for each head.
        positions: positions at which the outputs are replaced; all positions by default.
    Raises:
        ValueError: the network does not have one of the heads or positions.
    """
    n_layers, n_pos, n_heads, _ = means.shape
    where = range(n_pos) if positions is None else positions
    if not all(0 <= layer < n_layers and 0 <= head < n_heads for layer, head in heads):
        raise ValueError(f"each head must be a layer below {n_layers} and a number below {n_heads}, got {heads!r}")
    if not all(0 <= position < n_pos for position in where):
        raise ValueError(f"positions must be numbers from 0 to below {n_pos}, got {positions!r}")

    def replace(z: Tensor, hook: HookPoint) -> Tensor:
        layer, z = int((hook.name or "").split(".")[1]), z.clone()
        for head in (number for at, number in heads if at == layer):
            z[:, list(where), head] = means[layer, list(where), head].to(z)
        return z

    with network.hooks(fwd_hooks=[(_hook(layer), replace) for layer in {layer for layer, _ in heads}]) as hooked:
        yield hooked


@contextmanager
def without_neurons(network: Network, layer: int, neurons: Collection[int] | None = None) -> Iterator[Network]:
    """Set some neurons of a layer to 0 after their nonlinearity until the `with` statement ends.

    Args:
        neurons: indices of the neurons; all neurons by default.
    """

    def silence(post: Tensor, hook: HookPoint) -> Tensor:
        post = post.clone()
        post[..., slice(None) if neurons is None else list(neurons)] = 0
        return post

    with network.hooks(fwd_hooks=[(f"blocks.{layer}.mlp.hook_post", silence)]) as hooked:
        yield hooked
