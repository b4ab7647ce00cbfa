"""Ablate the logits: remove some of their frequencies, or all others (definition D6)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.neurons import terms_of
from modinterp.analyses.fourier.transforms import (
    components_of,
    fourier_basis,
    sum_means,
    sum_wave_part,
    sums,
    transform,
    transform_2d,
)
from modinterp.models import Network
from modinterp.training import accuracy, cross_entropy

Terms = Literal["sums", "products", "polynomial"]


@checked
def part_at(logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1) -> Tensor:
    """Return the part of the logits at the given frequencies of the inputs, in the shape of the logits.

    Args:
        freqs: frequencies from 1 to p // 2. [cycles per p]
        terms: the Fourier components that count for a frequency: `sums`, `products` or `polynomial`. `sums` are the 2
            directions cos and sin of w(a + b), as in the code of Nanda et al. 2023. `products` are the 4 products of a
            wave of a and a wave of b. `polynomial` adds the 4 linear terms, which gives the "40" of the paper's
            section 4.4.
        sign: 1 for waves of a + b, -1 for waves of a - b; products and linear terms are the same for both.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    if terms == "sums":
        return sum_wave_part(logits, tuple(freqs), sign)
    return _product_part(transform_2d(logits), freqs, terms)


def _product_part(
    spectrum: Float[Tensor, "component_a component_b output"], freqs: Sequence[int], terms: Terms
) -> Tensor:
    """Return the part of the logits in products of waves, and optionally in linear terms."""
    p, rows = len(spectrum), [0, *components_of(tuple(freqs), len(spectrum))]  # all other components are left out
    waves = fourier_basis(p)[rows].to(spectrum.device)
    mask = terms_of(p, freqs, linear=terms == "polynomial")[rows][:, rows].to(spectrum.device)
    return torch.einsum("ia,jb,ijo->abo", waves, waves, spectrum[rows][:, rows] * mask[..., None])


@checked
def restricted_logits(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1
) -> Tensor:
    """Return the logits restricted to the given frequencies, plus each class's mean over all inputs.

    Args:
        freqs, terms, sign: the frequencies, Fourier components and sign of the waves, as in `part_at`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1 and its released code (the mean is the code's bias correction).
    """
    return part_at(logits, freqs, terms, sign) + logits.double().mean(dim=(0, 1))


@checked
def excluded_logits(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], terms: Terms = "sums", sign: int = 1
) -> Tensor:
    """Return the logits without the given frequencies.

    Args:
        freqs, terms, sign: the frequencies, Fourier components and sign of the waves, as in `part_at`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1.
    """
    return logits.double() - part_at(logits, freqs, terms, sign)


@checked
def without_each_on(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], rows: Int[Tensor, " row"], sign: int = 1
) -> Iterator[Float[Tensor, "row output"]]:
    """Return the `excluded_logits` of some inputs without one frequency, for each of the frequencies.

    Args:
        freqs, sign: the frequencies and the sign of the waves, as in `part_at`.
        rows: rows of `Task.inputs()`.
    """
    some = rows.to(logits.device)
    flat, of_sum = logits.double().flatten(0, 1)[some], sums(len(logits), sign).flatten().to(logits.device)[some]
    for part in _waves_of_sum(logits, freqs, sign):
        yield flat - part[of_sum]


def _waves_of_sum(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], sign: int
) -> Iterator[Float[Tensor, "sum output"]]:
    """Return, for each frequency, the value of its waves of a + b at every sum."""
    p = len(logits)
    spectrum, waves = transform(sum_means(logits, sign)), fourier_basis(p).to(logits.device)
    for own in (components_of(freq, p) for freq in freqs):
        yield waves[own].T @ spectrum[own]


@checked
def restricted_embedding(network: Network, p: int, freqs: Sequence[int]) -> Network:
    """Return a copy of the network whose embedding keeps only the given frequencies and the mean embedding.

    Args:
        p: modulus; the first p tokens are the residues.
        freqs: frequencies from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    changed = copy.deepcopy(network)
    W_E = changed.W_E.detach()
    basis = fourier_basis(p)[[0, *components_of(tuple(freqs), p)]].to(W_E.device)
    W_E[:p] = (basis.T @ (basis @ W_E[:p].double())).to(W_E.dtype)
    return changed


@checked
def loss_on(
    logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"], rows: Int[Tensor, " row"] | None = None
) -> float:
    """Return the mean cross-entropy of the logits over all pairs (a, b). [nats]

    Args:
        labels: `Task.labels()`.
        rows: rows of `Task.inputs()` for the mean; all rows by default.
    """
    return cross_entropy(*_with_labels(logits, labels, rows)).item()


@checked
def accuracy_on(
    logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"], rows: Int[Tensor, " row"] | None = None
) -> float:
    """Return the share of all pairs (a, b) whose largest logit is at the answer, in [0, 1].

    Args:
        labels: `Task.labels()`.
        rows: rows of `Task.inputs()` for the share; all rows by default.
    """
    return accuracy(*_with_labels(logits, labels, rows))


@checked
def each_loss_on(logits: Float[Tensor, "a b output"], labels: Int[Tensor, "input 1"]) -> Float[Tensor, " input"]:
    """Return the cross-entropy of the logits on every pair (a, b); use it for means over several sets of pairs. [nats]

    Args:
        labels: `Task.labels()`.
    """
    return cross_entropy(*_with_labels(logits, labels, None), mean=False)


def _with_labels(logits: Tensor, labels: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return logits, with one row per input, and the answers, for all inputs or for some rows."""
    flat, answers = logits.flatten(0, 1), labels[:, 0].to(logits.device)
    return (flat, answers) if rows is None else (flat[rows.to(flat.device)], answers[rows.to(flat.device)])


@checked
def restricted_loss(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
    terms: Terms = "sums",
    sign: int = 1,
) -> float:
    """Return the restricted loss: mean cross-entropy of `restricted_logits` over all pairs, training pairs included.
    [nats]

    Args:
        labels: `Task.labels()`.
        freqs, terms, sign: the frequencies, Fourier components and sign of the waves, as in `part_at`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1.
    """
    return loss_on(restricted_logits(logits, freqs, terms, sign), labels)


@checked
def excluded_loss(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
    train: Int[Tensor, " row"],
    terms: Terms = "sums",
) -> float:
    """Return the excluded loss: mean cross-entropy of `excluded_logits` over the training pairs. [nats]

    Args:
        labels: `Task.labels()`.
        freqs, terms: the frequencies and the Fourier components, as in `part_at`.
        train: rows of `Task.inputs()` used for training.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 5.1.
    """
    return loss_on(excluded_logits(logits, freqs, terms), labels, train)


@checked
def loss_without_each(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    terms: Terms = "products",
    sign: int = 1,
    rows: Int[Tensor, " row"] | None = None,
) -> Float[Tensor, " freq"]:
    """Return the mean cross-entropy of logits without one frequency; entry k - 1 belongs to frequency k. [nats]

    Args:
        labels: `Task.labels()`.
        terms, sign: the Fourier components and the sign of the waves, as in `part_at`.
        rows: rows of `Task.inputs()` for the loss; all rows by default.
    Source: Nanda et al. 2023, figure 6.
    """
    some = slice(None) if rows is None else rows.to(logits.device)
    if terms == "sums":
        for dtype in {logits.dtype: 0, torch.float64: 0}:  # exponentials overflow sooner in float32
            means = _losses_without_sum_waves(logits, labels, some, sign, dtype).cpu()
            if bool(means.isfinite().all()):
                return means
    flat, answers = _with_labels(logits.double(), labels, rows)
    parts = (part.flatten(0, 1)[some] for part in _part_at_each(logits, terms, sign))
    return torch.tensor([cross_entropy(flat - part, answers).item() for part in parts])


def _part_at_each(logits: Float[Tensor, "a b output"], terms: Terms, sign: int) -> Iterator[Tensor]:
    """Return `part_at` for every single frequency, computed with one transform."""
    p = len(logits)
    spectrum = transform_2d(logits) if terms != "sums" else None
    for freq in range(1, p // 2 + 1):
        yield sum_wave_part(logits, (freq,), sign) if spectrum is None else _product_part(spectrum, [freq], terms)


def _by_frequency(components: Float[Tensor, "component n"]) -> Float[Tensor, "freq 2 n"]:
    """Return the cosine and the sine of every frequency; the missing sine of p / 2 is 0."""
    missing = components.new_zeros(len(components) % 2, components.shape[1])
    return torch.cat([components, missing]).unflatten(0, (-1, 2))


def _losses_without_sum_waves(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    rows: Tensor | slice,
    sign: int,
    dtype: torch.dtype,
) -> Float[Tensor, " freq"]:
    """Return the mean loss of some pairs without one frequency's waves of a + b; not finite if exponentials overflow.

    The waves depend only on a + b, so each frequency needs only p x p exponentials. The sums over the outputs are one
    matrix product for all pairs with the same a + b and all frequencies. The right answer is left out of the sum, so
    that small losses keep their precision in float32.
    """
    p, flat, answers = len(logits), *_with_labels(logits, labels, None)
    by_sum = sums(p, sign).flatten().to(logits.device).argsort(stable=True).view(p, p)  # p pairs for each a + b
    spectrum, waves, counts = (
        transform(sum_means(logits, sign)),
        fourier_basis(p).to(logits.device),
        flat.new_zeros(p * p),
    )
    counts[rows] = 1
    own, of_waves = (_by_frequency(each[1:]) for each in (waves, spectrum))
    total = flat.new_zeros(p // 2, dtype=torch.float64)
    for some in row_blocks(logits.shape):
        parts = torch.bmm(own[..., some].transpose(1, 2), of_waves).to(dtype).permute(1, 2, 0)
        pairs = by_sum[some]  # parts are [sum, output, freq]
        of_pairs, right = flat[pairs.flatten()].to(dtype), answers[pairs]
        over_own = (of_pairs - of_pairs.gather(1, right.view(-1, 1))).exp_().scatter_(1, right.view(-1, 1), 0)
        own_part = parts.take_along_dim(right[..., None], dim=1)
        losses = (torch.bmm(over_own.view(*pairs.shape, -1), (-parts).exp()) * own_part.exp()).log1p()
        total += counts[pairs].flatten().double() @ losses.flatten(0, 1).double()
    return total / counts.sum()
