"""Ablations of the logits: some of their frequencies taken out, or all others (definition D6)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier.neurons import terms_of
from modinterp.analyses.fourier.transforms import (
    components_of,
    fourier_basis,
    sum_means,
    sum_wave_part,
    sums,
)
from modinterp.models import Network
from modinterp.training import accuracy, cross_entropy

Terms = Literal["sums", "products", "polynomial"]


def part_at(logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1) -> Tensor:
    """The part of the logits at the given frequencies of the inputs, in the shape of the logits.

    Args:
        freqs: from 1 to p // 2. [cycles per p]
        terms: which Fourier components count as those of a frequency. Papers count them three ways: `sums`, the 2
            directions cos and sin of w(a + b), as the code of Nanda et al. 2023 does; `products`, the 4 products of a
            wave of a and one of b; `polynomial`, those and the 4 linear terms, the "40" of its section 4.4.
        sign: 1 for waves of a + b, -1 for waves of a - b; products and linear terms are the same for both.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    if terms == "sums":
        return sum_wave_part(logits, tuple(freqs), sign)
    p, rows = len(logits), [0, *components_of(tuple(freqs), len(logits))]  # all other components are left out
    waves = fourier_basis(p)[rows].to(logits.device)
    mask = terms_of(p, freqs, linear=terms == "polynomial")[rows][:, rows].to(logits.device)
    spectrum = torch.einsum("ia,jb,abo->ijo", waves, waves, logits.double()) * mask[..., None]
    return torch.einsum("ia,jb,ijo->abo", waves, waves, spectrum)


def restricted_logits(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1
) -> Tensor:
    """Logits restricted to the given frequencies, each class's mean over all inputs added.

    Args:
        freqs, terms, sign: as in `part_at`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1 and its released code (the mean is the code's bias correction).
    """
    return part_at(logits, freqs, terms, sign) + logits.double().mean(dim=(0, 1))


def excluded_logits(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1
) -> Tensor:
    """Logits with the given frequencies taken out, everything else left as it is.

    Args:
        freqs, terms, sign: as in `part_at`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1.
    """
    return logits.double() - part_at(logits, freqs, terms, sign)


def restricted_embedding(network: Network, p: int, freqs: Sequence[int]) -> Network:
    """A copy of the network whose embedding of the residues has only the given frequencies and the mean embedding left.

    Args:
        p: modulus; the first p tokens are the residues.
        freqs: from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    changed = copy.deepcopy(network)
    W_E = changed.W_E.detach()
    basis = fourier_basis(p)[[0, *components_of(tuple(freqs), p)]].to(W_E.device)
    W_E[:p] = (basis.T @ (basis @ W_E[:p].double())).to(W_E.dtype)
    return changed


def loss_on(
    logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"], rows: Int[Tensor, " row"] | None = None
) -> float:
    """Mean cross-entropy of the logits over all pairs (a, b). [nats]

    Args:
        labels: `Task.labels()`.
        rows: rows of `Task.inputs()` that the mean is taken over; all by default.
    """
    return cross_entropy(*_with_labels(logits, labels, rows)).item()


def accuracy_on(
    logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"], rows: Int[Tensor, " row"] | None = None
) -> float:
    """Share of all pairs (a, b) whose largest logit is that of the answer, in [0, 1].

    Args:
        labels: `Task.labels()`.
        rows: rows of `Task.inputs()` that the share is taken over; all by default.
    """
    return accuracy(*_with_labels(logits, labels, rows))


def _with_labels(logits: Tensor, labels: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
    """Logits, one row an input, and their answers; of all inputs or of some rows."""
    flat, answers = logits.flatten(0, 1), labels[:, 0].to(logits.device)
    return (flat, answers) if rows is None else (flat[rows.to(flat.device)], answers[rows.to(flat.device)])


def restricted_loss(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
    terms: Terms = "sums",
    sign: int = 1,
) -> float:
    """Restricted loss: mean cross-entropy of `restricted_logits` over all pairs, trained on or not. [nats]

    Args:
        labels: `Task.labels()`.
        freqs, terms, sign: as in `part_at`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1.
    """
    return loss_on(restricted_logits(logits, freqs, terms, sign), labels)


def excluded_loss(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
    train: Int[Tensor, " row"],
    terms: Terms = "sums",
) -> float:
    """Excluded loss: mean cross-entropy of `excluded_logits` over the pairs trained on. [nats]

    Args:
        labels: `Task.labels()`.
        freqs, terms: as in `part_at`.
        train: rows of `Task.inputs()` that were trained on.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1.
    """
    return loss_on(excluded_logits(logits, freqs, terms), labels, train)


def loss_without_each(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    terms: Terms = "products",
    sign: int = 1,
    rows: Int[Tensor, " row"] | None = None,
) -> Float[Tensor, " freq"]:
    """Mean cross-entropy with one frequency taken out of the logits; entry k - 1 belongs to frequency k. [nats]

    Args:
        labels: `Task.labels()`.
        terms, sign: as in `part_at`.
        rows: rows of `Task.inputs()` that the loss is taken over; all by default.
    Source: Nanda et al. 2023, figure 6.
    """
    logits, every = logits.double(), slice(None) if rows is None else rows.to(logits.device)
    flat, answers = _with_labels(logits, labels, rows)
    means, pairs = sum_means(logits, sign), sums(len(logits), sign).flatten().to(logits.device)[every]

    def part(freq: int) -> Float[Tensor, "row output"]:
        if terms != "sums":
            return part_at(logits, [freq], terms, sign).flatten(0, 1)[every]
        waves = fourier_basis(len(logits))[components_of(freq, len(logits))].to(logits.device)
        return (waves.T @ (waves @ means))[pairs]  # so that the other rows need not be computed

    return torch.tensor([cross_entropy(flat - part(k), answers).item() for k in range(1, len(logits) // 2 + 1)])
