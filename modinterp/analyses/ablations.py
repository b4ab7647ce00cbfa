"""Logits with some of their frequencies taken out, or nothing but them left in (definition D6)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import components_of, fourier_basis, inverse_2d, sum_wave_part, sum_waves, transform_2d
from modinterp.analyses.neurons import terms_of
from modinterp.models import Network
from modinterp.training import accuracy, cross_entropy

Terms = Literal["sums", "products", "polynomial"]


def part_at(logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1) -> Tensor:
    """The part of the logits at the given frequencies of the inputs, shape of the logits.

    Args:
        terms: which components count. The sources count them three ways: `sums`, the 2 directions cos and sin of
            w(a + b) of each frequency, as the paper's code does; `products`, the 4 products of a wave of a and one of
            b; `polynomial`, those and the 4 linear terms, the "40" of section 4.4.
        sign: -1 for waves of a - b; products and linear terms are the same for both.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    if terms == "sums":
        return sum_wave_part(logits, tuple(freqs), sign)
    mask = terms_of(len(logits), freqs, linear=terms == "polynomial").to(logits.device)
    return inverse_2d(transform_2d(logits) * mask[..., None])


def restricted_logits(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1
) -> Tensor:
    """Nothing but the given frequencies, and each class's mean over all inputs.

    Source: Nanda et al. 2023, section 5.1 and its released code (the mean is the code's bias correction).
    """
    return part_at(logits, freqs, terms, sign) + logits.double().mean(dim=(0, 1))


def excluded_logits(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1
) -> Tensor:
    """Everything but the given frequencies. Source: Nanda et al. 2023, section 5.1."""
    return logits.double() - part_at(logits, freqs, terms, sign)


def restricted_embedding(network: Network, p: int, freqs: Sequence[int]) -> Network:
    """A copy of the network that embeds the residues by nothing but the given frequencies and the mean embedding.

    Args:
        p: the first so many tokens are the residues.
        freqs: from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    changed = copy.deepcopy(network)
    W_E = changed.W_E.detach()
    kept = fourier_basis(p)[[0, *components_of(tuple(freqs), p)]].to(W_E.device)
    W_E[:p] = (kept.T @ (kept @ W_E[:p].double())).to(W_E.dtype)
    return changed


def loss_on(
    logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"], rows: Int[Tensor, " row"] | None = None
) -> float:
    """Cross-entropy over all inputs, or over some rows of `Task.inputs()`. [nats]"""
    return cross_entropy(*_with_labels(logits, labels, rows)).item()


def accuracy_on(
    logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"], rows: Int[Tensor, " row"] | None = None
) -> float:
    """Share of all inputs, or of some rows of `Task.inputs()`, that are answered rightly."""
    return accuracy(*_with_labels(logits, labels, rows))


def _with_labels(logits: Tensor, labels: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
    flat, right = logits.flatten(0, 1), labels[:, 0].to(logits.device)
    return (flat, right) if rows is None else (flat[rows.to(flat.device)], right[rows.to(flat.device)])


def restricted_loss(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
    terms: Terms = "sums",
    sign: int = 1,
) -> float:
    """Loss of the restricted logits over all pairs, trained on or not. [nats]

    Source: Nanda et al. 2023, section 5.1.
    """
    return loss_on(restricted_logits(logits, freqs, terms, sign), labels)


def excluded_loss(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
    train: Int[Tensor, " train"],
    terms: Terms = "sums",
) -> float:
    """Loss of the excluded logits over the pairs trained on. [nats]

    Source: Nanda et al. 2023, section 5.1.
    """
    return loss_on(excluded_logits(logits, freqs, terms), labels, train)


def _without(logits: Tensor, freq: int, terms: Terms, sign: int, rows: Tensor) -> Float[Tensor, "row output"]:
    """Some rows of the excluded logits; of sums of waves the others need not be made."""
    if terms != "sums":
        return excluded_logits(logits, [freq], terms, sign).flatten(0, 1)[rows]
    flat, waves = logits.flatten(0, 1).double(), sum_waves(len(logits), freq, sign).flatten(1).to(logits.device)
    return flat[rows] - waves[:, rows].T @ (waves @ flat)


def loss_without_each(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    terms: Terms = "products",
    sign: int = 1,
    rows: Int[Tensor, " row"] | None = None,
) -> Float[Tensor, " freq"]:
    """Loss with one frequency taken out; entry k - 1 belongs to frequency k. [nats]

    Args:
        rows: of `Task.inputs()`, that the loss is taken over; all by default.
    Source: Nanda et al. 2023, figure 6.
    """
    right = labels[:, 0].to(logits.device)
    rows = torch.arange(len(right)) if rows is None else rows
    each = range(1, len(logits) // 2 + 1)
    return torch.tensor([cross_entropy(_without(logits, k, terms, sign, rows), right[rows]).item() for k in each])
