"""Build networks with hand-written weights, whose algorithm is therefore known in advance."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.models import Network, TransformerConfig, Weights, hooked
from modinterp.tasks import ModularArithmetic, addition

SHARP = 60.0  # attention that is one position, to e^-60
PHASES = 12  # neurons a frequency


def clock(
    p: int, freqs: tuple[int, ...], size: float = 40.0, decoys: tuple[int, ...] = ()
) -> tuple[ModularArithmetic, Network]:
    """Return a hand-written one-layer transformer that adds mod p with the clock algorithm, and its task.

    Head 0 copies the token at position a, and head 1 the token at position b. Each frequency has twelve neurons,
    relu(cos(w a + x) + cos(w b + x)) at evenly spread x. The unembedding reads the neurons as cos(w(a + b - c)).

    Args:
        freqs: frequencies, from 1 to (p - 1) / 2.
        size: factor of the logits; larger values give smaller losses.
        decoys: frequencies whose circles are in the embedding, but which no head reads.
    Raises:
        ValueError: no frequency is given, a frequency occurs twice, or one is not from 1 to (p - 1) / 2.
    """
    if not freqs or len(set(freqs)) < len(freqs) or not all(0 < k <= p // 2 for k in freqs):
        raise ValueError(f"frequencies must be different numbers from 1 to {p // 2}, got {freqs}")
    phases = 2 * math.pi / PHASES * torch.arange(PHASES)
    turn = torch.block_diag(*[torch.stack([phases.cos(), -phases.sin()])] * len(freqs))
    circles = _circles(p, freqs)
    c = torch.arange(p)
    read = [(2 * math.pi / p * k * c + 2 * phases[:, None]).cos() for k in freqs]
    task = addition(p)
    weights = _routed(circles, turn, size / PHASES * torch.cat(read))
    if decoys:
        weights = _with_unread(weights, _circles(p, decoys))
    sizes = {"d_model": weights["embed.W_E"].shape[1], "n_heads": 2, "d_head": circles.shape[1] + 1}
    return task, hooked(TransformerConfig.of(task, **sizes, d_mlp=PHASES * len(freqs)), weights)


def _circles(p: int, freqs: tuple[int, ...]) -> Tensor:
    angles = 2 * math.pi / p * torch.outer(torch.arange(p), torch.tensor(freqs))
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)


def _with_unread(weights: Weights, content: Tensor) -> Weights:
    """Add dimensions to the residual stream that hold functions of the numbers but that no weight reads."""
    extra = content.shape[1]
    axes = {"W_E": 1, "W_pos": 1, "W_Q": 1, "W_K": 1, "W_V": 1, "W_O": 2, "W_in": 0, "W_out": 1, "W_U": 0, "b_out": 0}
    wider = dict(weights)
    for name, weight in weights.items():
        axis = axes.get(name.rpartition(".")[2])
        if axis is not None:
            shape = [extra if place == axis else size for place, size in enumerate(weight.shape)]
            wider[name] = torch.cat([weight, torch.zeros(shape)], dim=axis)
    wider["embed.W_E"][: len(content), -extra:] = content
    return wider


def _routed(content: Tensor, turn: Tensor, W_L: Tensor) -> Weights:
    """Return weights in which two heads carry content[a] and content[b] to neurons relu((content[a] + content[b])
    turn).
    """
    (p, m), outputs = content.shape, W_L.shape[1]
    token, from_a, from_b = (slice(i * m, (i + 1) * m) for i in range(3))
    out, position = slice(3 * m, 3 * m + outputs), 3 * m + outputs
    d_model, d_head, neurons = position + 3, m + 1, turn.shape[1]
    W_E, W_pos = torch.zeros(p + 1, d_model), torch.zeros(3, d_model)
    W_E[:p, token], W_pos[:, position:] = content, torch.eye(3)
    W_Q, W_K, W_V = (torch.zeros(2, d_model, d_head) for _ in range(3))
    W_O, W_in, W_out = torch.zeros(2, d_head, d_model), torch.zeros(d_model, neurons), torch.zeros(neurons, d_model)
    for head, place in enumerate((from_a, from_b)):
        W_Q[head, position + 2, m], W_K[head, position + head, m] = SHARP, math.sqrt(d_head)
        W_V[head, token, :m], W_O[head, :m, place] = torch.eye(m), torch.eye(m)
        W_in[place] = turn
    W_U = torch.zeros(d_model, outputs)
    W_out[:, out], W_U[out] = W_L, torch.eye(outputs)
    attention = {f"blocks.0.attn.{n}": w for n, w in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O))}
    biases = {"blocks.0.mlp.b_in": torch.zeros(neurons), "blocks.0.mlp.b_out": torch.zeros(d_model)}
    mlp = {"blocks.0.mlp.W_in": W_in, "blocks.0.mlp.W_out": W_out}
    return {"embed.W_E": W_E, "pos_embed.W_pos": W_pos, "unembed.W_U": W_U} | attention | mlp | biases
