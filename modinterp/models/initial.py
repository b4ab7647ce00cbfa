"""Draw initial weights, and remove the weights of outputs that are never the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

import torch
from torch import Tensor

from modinterp.models.base_config import Weights
from modinterp.models.config import Config, TransformerConfig
from modinterp.models.mlp_config import MLPConfig


def is_bias(name: str) -> bool:
    """Return True if a weight with this name, such as `blocks.0.mlp.b_in`, is a bias; most biases begin at 0."""
    last = name.rpartition(".")[2]
    return last == "b" or last.startswith("b_")


def is_norm_weight(name: str) -> bool:
    """Return True if a weight with this name, such as `ln_final.w`, is a normalisation's factor; factors begin at 1."""
    return name.endswith(".w")


def initial_weights(config: Config, seed: int, only: Collection[str] | None = None) -> Weights:
    """Return random initial weights, drawn in float32 on the CPU so that every device gets the same weights.

    Matrices are normally distributed with the standard deviations of `config.scales()`, and biases are 0. Weights that
    `config.uniform` names are uniformly distributed instead. Weights are drawn in the order of `config.shapes()`. The
    initialisation "left-facing" draws weights in the order and orientation of the code of Nanda et al. 2023, so that a
    seed gives the same weights as that code. In a "left-facing" pair MLP, each matrix is drawn transposed.

    Args:
        only: names of the weights to draw; by default all weights. With `only`, the result has the right distribution,
            but differs from the weights that the seed gives for the whole network.
    """
    generator = torch.Generator().manual_seed(seed)
    wanted = {name: shape for name, shape in config.shapes().items() if only is None or name in only}
    if isinstance(config, TransformerConfig) and config.init == "left-facing":
        return _left_facing_weights(config, wanted, generator)
    if isinstance(config, MLPConfig) and config.init == "single frequency":
        weights = _cosine_weights(config, generator)
        return {name: weights[name] for name in wanted}
    scales, left_facing = config.scales(), config.init == "left-facing"

    def drawn(name: str, shape: tuple[int, ...]) -> Tensor:
        if is_norm_weight(name):
            return torch.ones(shape)
        if name in config.uniform:
            return (2 * torch.rand(shape, generator=generator) - 1) * (math.sqrt(3) * scales[name])
        if is_bias(name):
            return torch.zeros(shape)
        if left_facing:
            return (torch.randn(shape[::-1], generator=generator) * scales[name]).T.contiguous()
        return torch.randn(shape, generator=generator) * scales[name]

    return {name: drawn(name, shape) for name, shape in wanted.items()}


def _left_facing_weights(
    config: TransformerConfig, wanted: dict[str, tuple[int, ...]], generator: torch.Generator
) -> Weights:
    """Draw weights in the orientation of code with column vectors, and transpose them into HookedTransformer's
    orientation.
    """
    m, heads, d_head = config.d_model, config.n_heads, config.d_head

    def draw(*shape: int, width: int = m) -> Tensor:
        return torch.randn(*shape, generator=generator) / math.sqrt(width)

    draws: dict[str, Callable[[], Tensor]] = {
        "embed.W_E": lambda: draw(m, config.d_vocab).T,
        "pos_embed.W_pos": lambda: draw(config.n_ctx, m),
    }
    for layer in range(config.n_layers):
        attn, mlp = f"blocks.{layer}.attn.", f"blocks.{layer}.mlp."
        draws |= {f"blocks.{layer}.{x}.w": lambda: torch.ones(m) for x in ("ln1", "ln2")}
        draws |= {f"{attn}W_{letter}": lambda: draw(heads, d_head, m).mT for letter in "KQV"}
        draws[f"{attn}W_O"] = lambda: draw(m, heads * d_head).T.reshape(heads, d_head, m)
        if d_mlp := config.d_mlp:
            draws[f"{mlp}W_in"] = lambda: draw(d_mlp, m).T
            draws[f"{mlp}W_out"] = lambda: draw(m, d_mlp).T
    draws["ln_final.w"] = lambda: torch.ones(m)
    draws["unembed.W_U"] = lambda: draw(*wanted["unembed.W_U"], width=config.d_vocab)
    weights = {name: drawn() for name, drawn in draws.items() if name in wanted}
    return {name: torch.zeros(shape) if is_bias(name) else weights[name].contiguous() for name, shape in wanted.items()}


def _cosine_weights(config: MLPConfig, generator: torch.Generator) -> Weights:
    """Return W_in and W_U in which each neuron reads and writes one cosine of one frequency, with random phases.

    Each frequency from 1 to (p - 1) / 2 gets an equal number of neurons, in random order.
    """
    p, neurons = config.d_vocab, config.d_mlp
    freqs = (torch.arange(neurons) % ((p - 1) // 2) + 1)[torch.randperm(neurons, generator=generator)]
    angles = 2 * torch.pi / p * (torch.arange(p).unsqueeze(1) * freqs % p)
    phases = 2 * torch.pi * torch.rand(2, neurons, generator=generator)
    read, written = (config.init_scale * (angles + phase).cos() for phase in phases)
    return {"blocks.0.mlp.W_in": read, "unembed.W_U": written.T.contiguous()}


def labelled_weights(config: Config, weights: Weights) -> Weights:
    """Return the weights without the columns of the unembedding that are never the answer.

    If the columns of never-right outputs are already missing, the weights are returned unchanged. See
    `TransformerConfig.unlabelled_outputs`.
    """
    if not config.unlabelled_outputs:
        return weights
    outputs = config.d_vocab_out
    return {name: w[..., :outputs] if name.startswith("unembed.") else w for name, w in weights.items()}
