"""Networks on sequences whose way of answering is known, because they are written down weight by weight."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.models import Network, TransformerConfig, Weights, hooked
from modinterp.tasks import ColumnSum, Ordering, SignOfSum, SortedList, Task

SHARP, SURE = 40.0, 20.0


def _attention(scores: Tensor, values: Tensor, read: Tensor) -> Weights:
    """One head: scores[query, key] of tokens, what each token writes, and how that is read as logits.

    The residual stream holds the token as one-hot, and beside it what the head writes.
    """
    tokens, features = values.shape
    d_model = tokens + features
    W_E, W_Q, W_K, W_V = (torch.zeros(n, m) for n, m in ((tokens, d_model), *[(d_model, d_model)] * 3))
    W_E[:, :tokens] = torch.eye(tokens)
    W_Q[:tokens, :tokens] = scores * math.sqrt(d_model)
    W_K[:tokens, :tokens] = torch.eye(tokens)
    W_V[:tokens, :features] = values
    W_O = torch.zeros(d_model, d_model)
    W_O[:features, tokens:] = torch.eye(features)
    W_U = torch.zeros(d_model, read.shape[1])
    W_U[tokens:] = read
    attn = {
        f"blocks.0.attn.{n}": w.unsqueeze(0)
        for n, w in zip(("W_Q", "W_K", "W_V", "W_O"), (W_Q, W_K, W_V, W_O), strict=True)
    }
    return {"embed.W_E": W_E, "unembed.W_U": W_U} | attn


def _network(task: Task, weights: Weights) -> Network:
    d_model = weights["embed.W_E"].shape[1]
    config = TransformerConfig(
        d_vocab=task.d_vocab,
        d_vocab_out=weights["unembed.W_U"].shape[1],
        n_ctx=task.n_ctx,
        d_model=d_model,
        n_heads=1,
        d_head=d_model,
        d_mlp=None,
        positional=False,
    )
    return hooked(config, weights)


def copies_the_largest(n: int = 4, limit: int = 12, ask: str = "max") -> tuple[Ordering, Network]:
    """Scores that rise, or fall, with the number, and values that are the number."""
    task = Ordering(ask, n=n, limit=limit)
    scores = torch.zeros(limit + 1, limit + 1)
    order = torch.arange(limit) - limit // 2
    scores[limit, :limit] = SHARP / 4 * (order if ask == "max" else -order)
    scores[limit, limit] = -4 * SHARP
    values = torch.eye(limit + 1)[:, :limit]
    return task, _network(task, _attention(scores, values, SURE * torch.eye(limit)))


def largest_of_a_plain_list(n: int, limit: int, start: bool) -> Weights:
    """Every token asks for the largest number so far; positions that say nothing tell how many tokens are read."""
    tokens = limit + start
    scores = SHARP / 4 * (torch.arange(tokens) - limit // 2).expand(tokens, -1).clone()
    scores[:, limit:] = -4 * SHARP
    scores[limit:] = 0  # a token before the list asks for nothing, so that it cannot stand behind
    weights = _attention(scores, torch.eye(tokens)[:, :limit], SURE * torch.eye(limit))
    return weights | {"pos_embed.W_pos": torch.full((n + start, weights["embed.W_E"].shape[1]), 1e-9)}


def counts_then_chooses(n: int = 3, limit: int = 6) -> tuple[Ordering, Network]:
    """Uniform attention counts every number, and the largest that is there has by far the largest weight."""
    task = Ordering("max", n=n, limit=limit)
    read = torch.diag(float(n + 1) ** torch.arange(limit))
    values = torch.eye(limit + 1)[:, :limit]
    return task, _network(task, _attention(torch.zeros(limit + 1, limit + 1), values, read))


def attends_to_the_next(n: int = 4, limit: int = 12) -> tuple[SortedList, Network]:
    """From each number the score of the next larger ones falls, so that the smallest of them is copied."""
    task = SortedList(n=n, limit=limit, size=2, held_out=2)
    tokens = torch.arange(limit + 1)
    above = tokens[None, :] - torch.where(tokens == limit, -1, tokens)[:, None]
    scores = torch.where((above > 0) & (tokens < limit), -SHARP / 4 * above, -16 * SHARP)
    values = torch.eye(limit + 1)
    return task, _network(task, _attention(scores, values, SURE * torch.eye(limit + 1)))


def running_mean(n: int = 8, largest: int = 3) -> tuple[SignOfSum, Network]:
    """Uniform attention writes the mean of the numbers along one direction, and the bias of one makes room for 0."""
    task = SignOfSum(n=n, largest=largest, size=2, held_out=2)
    tokens = torch.arange(task.d_vocab)
    numbers = torch.where(tokens > largest, tokens - task.d_vocab, tokens).float()
    values = torch.stack([numbers, torch.ones(task.d_vocab)], dim=1)
    read = 40 * torch.tensor([[-1.0, 0, 1], [0, 1 / (2 * n), 0]])
    return task, _network(task, _attention(torch.zeros(task.d_vocab, task.d_vocab), values, read))


def columns_with_carry(has_carry: bool = True) -> tuple[ColumnSum, Network]:
    """Two digits by two heads a digit, a carry made in the first layer, and a table of column and carry in the second.

    Args:
        has_carry: whether the carry is read; without it, the digits of the columns alone are answered.
    """
    task = ColumnSum(digits=2, size=2, held_out=2)
    tokens, positions = 12, task.n_ctx
    # places in the residual stream: token, position, digits of the column, sum of the next column, carry, logits
    at = {"token": 0, "pos": 12, "a": 20, "b": 30, "next": 40, "carry": 41, "one": 42, "out": 43}
    d_model, heads, d_head = 53, 4, 21
    weights = {"embed.W_E": torch.zeros(tokens, d_model), "pos_embed.W_pos": torch.zeros(positions, d_model)}
    weights["embed.W_E"][:, :12] = torch.eye(12)
    weights["embed.W_E"][:, at["one"]] = 1
    weights["pos_embed.W_pos"][:, at["pos"] : at["pos"] + positions] = torch.eye(positions)
    fetched = {5: (0, 3, 1, 4), 6: (1, 4, 2, 2)}  # from the position of each answer: both digits, both of the next
    for layer in range(2):
        W_Q, W_K, W_V = (torch.zeros(heads, d_model, d_head) for _ in range(3))
        W_O = torch.zeros(heads, d_head, d_model)
        for head in range(heads if layer == 0 else 0):
            for query, keys in fetched.items():
                W_Q[head, at["pos"] + query, 10 + keys[head]] = SHARP * math.sqrt(d_head)
            W_K[head, at["pos"] : at["pos"] + positions, 10 : 10 + positions] = torch.eye(positions)
            W_V[head, :10, :10] = torch.eye(10)
            if head < 2:
                W_O[head, :10, (at["a"], at["b"])[head] : (at["a"], at["b"])[head] + 10] = torch.eye(10)
            else:
                W_O[head, :10, at["next"]] = torch.arange(10).float() / 10
        for name, w in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O)):
            weights[f"blocks.{layer}.attn.{name}"] = w
    neurons = 200
    W_in, b_in, W_out = torch.zeros(d_model, neurons), torch.zeros(neurons), torch.zeros(neurons, d_model)
    W_in[at["next"], :2], b_in[:2] = 10, torch.tensor([-9.0, -10])  # relu(s - 9) - relu(s - 10) is the carry
    W_out[0, at["carry"]], W_out[1, at["carry"]] = float(has_carry), -float(has_carry)
    weights |= {"blocks.0.mlp.W_in": W_in, "blocks.0.mlp.b_in": b_in, "blocks.0.mlp.W_out": W_out}
    W_in, b_in, W_out = torch.zeros(d_model, neurons), torch.zeros(neurons), torch.zeros(neurons, d_model)
    for neuron in range(neurons):
        a, b, carry = neuron // 20, neuron // 2 % 10, neuron % 2
        W_in[at["a"] + a, neuron] = W_in[at["b"] + b, neuron] = 1
        W_in[at["carry"], neuron], b_in[neuron] = (1, -2) if carry else (-1, -1)
        W_out[neuron, at["out"] + (a + b + carry) % 10] = SURE
    weights |= {"blocks.1.mlp.W_in": W_in, "blocks.1.mlp.b_in": b_in, "blocks.1.mlp.W_out": W_out}
    for layer in range(2):
        weights[f"blocks.{layer}.mlp.b_out"] = torch.zeros(d_model)
    weights["unembed.W_U"] = torch.zeros(d_model, 12)
    weights["unembed.W_U"][at["out"] :, :10] = torch.eye(10)
    weights["unembed.W_U"][at["one"], 10:] = -SURE
    config = TransformerConfig(
        d_vocab=12, d_vocab_out=12, n_ctx=positions, n_layers=2, d_model=d_model, n_heads=heads, d_head=d_head,
        d_mlp=neurons,
    )  # fmt: skip
    return task, hooked(config, weights)
