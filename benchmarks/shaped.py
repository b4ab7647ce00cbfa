"""A planted network that adds by circles, in the shape of the mainline: what an explanation of a trained one takes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.models import Network, TransformerConfig, hooked
from modinterp.models.planted import clock
from modinterp.tasks import ModularArithmetic

NOISE = 1e-3  # standard deviation of what is added to each weight, so that no two neurons are alike
AXES = {"W_E": "ve", "W_pos": "pe", "W_Q": "hed", "W_K": "hed", "W_V": "hed", "W_O": "hde", "W_in": "en", "b_in": "n",
        "W_out": "ne", "b_out": "e", "W_U": "ev"}  # fmt: skip


def shaped_clock(
    p: int, n_freqs: int = 5, d_model: int = 128, n_heads: int = 4, d_head: int = 32, d_mlp: int = 512
) -> tuple[ModularArithmetic, Network]:
    """`clock` at evenly spread frequencies with more dimensions, heads and neurons, which hold little but noise."""
    freqs = tuple(sorted({1 + (2 * i + 1) * (p // 2) // (2 * n_freqs) for i in range(n_freqs)}))
    task, network = clock(p, freqs)
    own, circles = network.cfg, 2 * len(freqs)
    weights = {name: weight.detach() for name, weight in network.state_dict().items()}
    kept = [*range(3 * circles), *range(own.d_model - 3, own.d_model)]  # all but a dimension a logit
    U, S, V = torch.linalg.svd(network.W_L, full_matrices=False)
    written = slice(len(kept), len(kept) + circles)
    sizes, generator = {"e": d_model, "h": n_heads, "d": d_head, "n": d_mlp}, torch.Generator().manual_seed(0)
    found = {}
    for name, weight in weights.items():
        axes = AXES[name.rpartition(".")[2]]
        if "e" in axes:
            weight = weight.index_select(axes.index("e"), torch.tensor(kept))
        for axis, letter in enumerate(axes):
            weight = _padded(weight, axis, sizes.get(letter, weight.shape[axis]))
        found[name] = weight
    found["blocks.0.mlp.W_out"][: len(U), written] = (U * S)[:, :circles]
    found["unembed.W_U"][written] = V[:circles]
    found["blocks.0.attn.W_K"] *= math.sqrt(d_head / own.d_head)
    noisy = {name: w + NOISE * torch.randn(w.shape, generator=generator) for name, w in found.items()}
    config = TransformerConfig.of(task, d_model=d_model, n_heads=n_heads, d_head=d_head, d_mlp=d_mlp)
    return task, hooked(config, noisy)


def _padded(weight: Tensor, axis: int, size: int) -> Tensor:
    shape = [size - weight.shape[axis] if i == axis else n for i, n in enumerate(weight.shape)]
    return torch.cat([weight, weight.new_zeros(shape)], dim=axis)
