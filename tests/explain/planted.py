"""Networks whose way of answering is known, because they are written down weight by weight."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.models import Weights

SHARP = 60.0  # attention that is one position, to e^-60


def routed(content: Tensor, on_a: Tensor, on_b: Tensor, bias: Tensor, W_L: Tensor) -> Weights:
    """A one-layer transformer on `a b =` with neurons relu(content[a] on_a + content[b] on_b + bias) and logits by W_L.

    Two heads attend to one position each and carry what stands there to a place of its own in the residual stream.

    Args:
        content: [residue, feature]. on_a, on_b: [feature, neuron]. W_L: [neuron, output].
    """
    (p, m), outputs = content.shape, W_L.shape[1]
    d_model, d_head = 3 * m + outputs + 3, m + 1
    places = {"token": 0, "a": m, "b": 2 * m, "out": 3 * m, "pos": 3 * m + outputs}

    def part(name: str, size: int) -> slice:
        return slice(places[name], places[name] + size)

    W_E, W_pos = torch.zeros(p + 1, d_model), torch.zeros(3, d_model)
    W_E[:p, part("token", m)] = content
    W_pos[:, part("pos", 3)] = torch.eye(3)
    W_Q, W_K, W_V = (torch.zeros(2, d_model, d_head) for _ in range(3))
    W_O = torch.zeros(2, d_head, d_model)
    for head, name in enumerate(("a", "b")):
        W_Q[head, places["pos"] + 2, m] = SHARP
        W_K[head, places["pos"] + head, m] = math.sqrt(d_head)
        W_V[head, part("token", m), :m] = torch.eye(m)
        W_O[head, :m, part(name, m)] = torch.eye(m)
    W_in, W_out = torch.zeros(d_model, len(bias)), torch.zeros(len(bias), d_model)
    W_in[part("a", m)], W_in[part("b", m)] = on_a, on_b
    W_out[:, part("out", outputs)] = W_L
    W_U = torch.zeros(d_model, outputs)
    W_U[part("out", outputs)] = torch.eye(outputs)
    attn, mlp = "blocks.0.attn.", "blocks.0.mlp."
    return {
        "embed.W_E": W_E,
        "pos_embed.W_pos": W_pos,
        "unembed.W_U": W_U,
        f"{attn}W_Q": W_Q,
        f"{attn}W_K": W_K,
        f"{attn}W_V": W_V,
        f"{attn}W_O": W_O,
        f"{mlp}W_in": W_in,
        f"{mlp}b_in": bias,
        f"{mlp}W_out": W_out,
        f"{mlp}b_out": torch.zeros(d_model),
    }


def circles(p: int, freqs: tuple[int, ...]) -> Tensor:
    """cos and sin of every frequency at every residue: [residue, 2 per frequency]."""
    angles = 2 * math.pi / p * torch.outer(torch.arange(p), torch.tensor(freqs))
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)


def clock(p: int, freqs: tuple[int, ...], sign: int = 1, answer: int = 1, size: float = 40.0) -> Weights:
    """Neurons relu(cos(w a + x) + cos(w b +- x)) at evenly spread x, read as cos(w(a +- b - answer * c)).

    The phases cancel what is no wave of a +- b. Both numbers are put on circles, their angles are added by the
    nonlinearity, the sum is read off: it answers (a +- b) / answer.
    """
    phases = 2 * math.pi / 12 * torch.arange(12)
    turn = torch.stack([phases.cos(), -phases.sin()])  # cos(x + phase) from cos x and sin x
    back = torch.stack([phases.cos(), -sign * phases.sin()])
    on_a, on_b = (torch.block_diag(*[t] * len(freqs)) for t in (turn, back))
    c = torch.arange(p)
    W_L = torch.cat([size / 12 * (2 * math.pi / p * k * answer * c + 2 * phases[:, None]).cos() for k in freqs])
    return routed(circles(p, freqs), on_a, on_b, torch.zeros(12 * len(freqs)), W_L)


def multiplier(p: int, freqs: tuple[int, ...], size: float = 40.0) -> Weights:
    """Neurons (x + y)^2 and (x - y)^2 for x = cos or sin of wa and y of wb, whose difference is 4xy: for squares.

    The products are read as cos(w(a + b - c)), which is as large for every pair: an ideal clock.
    """
    on_a = torch.tensor([[1.0, 1, 0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1, 0, 0]])  # cc, ss, sc, cs, each twice
    on_b = torch.tensor([[1.0, -1, 0, 0, 1, -1, 0, 0], [0, 0, 1, -1, 0, 0, 1, -1]])
    x = 2 * math.pi / p * torch.arange(p)
    signs = torch.tensor([1.0, -1]).repeat(4)[:, None] / 4
    W_L = torch.cat(
        [size * signs * torch.stack([(k * x).cos()] * 2 + [-(k * x).cos()] * 2 + [(k * x).sin()] * 4) for k in freqs]
    )
    on_a, on_b = (torch.block_diag(*[t] * len(freqs)) for t in (on_a, on_b))
    return routed(circles(p, freqs), on_a, on_b, torch.zeros(8 * len(freqs)), W_L)


def table(p: int, known: float = 1.0, seed: int = 0, size: float = 20.0, sign: int = 1) -> Weights:
    """A table of pairs: one neuron a pair, relu([a] + [b] - 1), which writes the pair's answer and nothing else.

    Args:
        known: share of the pairs that are in the table.
    """
    rows = torch.randperm(p * p, generator=torch.Generator().manual_seed(seed))[: int(known * p * p)]
    a, b = rows // p, rows % p
    one = torch.eye(p)
    return routed(one, one[a].T, one[b].T, -torch.ones(len(rows)), size * one[(a + sign * b) % p])


def table_of_waves(p: int, freqs: tuple[int, ...], size: float = 40.0) -> Weights:
    """The table of all pairs, each of which writes the cosines cos(w(a + b - c)) of some frequencies.

    Its logits and W_L are those of a network that adds angles, and no neuron is a wave.
    """
    one, a, b = torch.eye(p), *torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij")
    a, b = a.flatten(), b.flatten()
    angles = 2 * math.pi / p * ((a + b)[:, None] - torch.arange(p))
    return routed(one, one[a].T, one[b].T, -torch.ones(p * p), size * sum((k * angles).cos() for k in freqs))


def table_with_idle_circles(p: int, freq: int, size: float = 4000.0) -> Weights:
    """The table of all pairs, beside neurons that are periodic and strongly weighted, but hardly ever on.

    It has circles that decide nothing.
    """
    table_a, table_b, table_bias, table_W_L = _neurons(table(p), p)
    idle_a, idle_b, idle_bias, idle_W_L = _neurons(clock(p, (freq,), size=size), 2)
    content = torch.cat([torch.eye(p), 1e-4 * circles(p, (freq,))], dim=1)
    on_a, on_b = torch.block_diag(table_a, idle_a), torch.block_diag(table_b, idle_b)
    return routed(content, on_a, on_b, torch.cat([table_bias, idle_bias]), torch.cat([table_W_L, idle_W_L]))


def _neurons(weights: Weights, features: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """on_a, on_b, bias and W_L of a network that `routed` made of so many features."""
    W_in, W_L = weights["blocks.0.mlp.W_in"], weights["blocks.0.mlp.W_out"] @ weights["unembed.W_U"]
    on_a, on_b = W_in[features : 2 * features], W_in[2 * features : 3 * features]
    return on_a, on_b, weights["blocks.0.mlp.b_in"], W_L
