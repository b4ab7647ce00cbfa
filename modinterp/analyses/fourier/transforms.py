"""Compute Fourier transforms over the residues mod p, in an orthonormal real basis.

Components are ordered constant, cos 1, sin 1, cos 2, sin 2, and so on. An even modulus ends in one alternating row, the
cosine of p / 2, which has no sine. All computations use float64.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import factors_of, row_blocks
from modinterp.analyses.checked import checked


@checked
def check_modulus(p: int) -> None:
    """Raise a ValueError unless the modulus p is at least 2."""
    if p < 2:
        raise ValueError(f"the modulus must be at least 2, got {p}")


@checked
def check_frequency(freq: int, p: int) -> None:
    """Raise a ValueError unless freq is a frequency of residues mod p: 1 <= freq <= p // 2. [cycles per p]"""
    if not 1 <= freq <= p // 2:
        raise ValueError(f"frequencies of residues mod {p} run from 1 to {p // 2}, got {freq}")


@checked
@lru_cache(maxsize=16)
def fourier_basis(p: int) -> Float[Tensor, "component a"]:
    """Return the orthonormal Fourier basis with one wave per row: constant, then cos and sin of 2 pi k x / p for k = 1
    .. p // 2.

    Args:
        p: modulus, odd or even.
    Raises:
        ValueError: p < 2.
    Source: Nanda et al. 2023, appendix C.1 (definition D1); the alternating row of even p is ours.

    >>> basis = fourier_basis(5)
    >>> torch.allclose(basis @ basis.T, torch.eye(5, dtype=torch.float64))
    True
    """
    check_modulus(p)
    # k x is reduced mod p before the cosine is taken, which keeps full precision at any p
    k, x = torch.arange(1, p // 2 + 1), torch.arange(p)
    angles = 2 * torch.pi / p * (torch.outer(k, x) % p).double()
    waves = torch.stack([angles.cos(), angles.sin()], dim=1).flatten(0, 1)
    rows = torch.cat([torch.ones(1, p, dtype=torch.float64), waves])[:p]
    return rows / rows.norm(dim=1, keepdim=True)


@checked
def component_names(p: int) -> list[str]:
    """Return the names of the rows of `fourier_basis`, such as "cos 1".

    >>> component_names(4)
    ['const', 'cos 1', 'sin 1', 'cos 2']
    """
    check_modulus(p)
    return ["const", *(f"{wave} {k}" for k in range(1, p // 2 + 1) for wave in ("cos", "sin"))][:p]


@checked
def sine_first(p: int) -> list[int]:
    """Return the rows of `fourier_basis` in the order constant, sin 1, cos 1, sin 2, cos 2, ..., used by other code.

    Source: Kissane's notebook; Syrkis & Søgaard 2024 (definition D1).

    >>> [component_names(5)[row] for row in sine_first(5)]
    ['const', 'sin 1', 'cos 1', 'sin 2', 'cos 2']
    """
    check_modulus(p)
    return [0, *(row for k in range(1, p // 2 + 1) for row in (2 * k, 2 * k - 1) if row < p)]


@checked
def component_frequencies(p: int) -> Int[Tensor, " component"]:
    """Return the frequency of each row of `fourier_basis`, 0 for the constant. [cycles per p]

    >>> component_frequencies(5).tolist()
    [0, 1, 1, 2, 2]
    """
    check_modulus(p)
    return (torch.arange(p) + 1) // 2


@checked
def components_of(freqs: list[int] | tuple[int, ...] | int, p: int) -> list[int]:
    """Return the indices of the rows of `fourier_basis` with the given frequencies, in the order of the frequencies.

    Args:
        freqs: one frequency or several. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.

    >>> components_of([1, 2], 5)
    [1, 2, 3, 4]
    """
    freqs = [freqs] if isinstance(freqs, int) else freqs
    for freq in freqs:
        check_frequency(freq, p)
    return [row for freq in freqs for row in (2 * freq - 1, 2 * freq) if row < p]


@checked
def transform(x: Float[Tensor, "a *rest"]) -> Float[Tensor, "component *rest"]:
    """Fourier coefficients of a tensor along its first axis, which runs over the residues, in `fourier_basis`."""
    return torch.tensordot(fourier_basis(len(x)).to(x.device), x.double(), dims=1)


@checked
def transform_2d(x: Float[Tensor, "a b *rest"]) -> Float[Tensor, "component_a component_b *rest"]:
    """Return the Fourier coefficients of a function of (a, b) along both axes; the sum of squares is preserved (D2)."""
    return transform(transform(x).transpose(0, 1)).transpose(0, 1)


@checked
def inverse_2d(coefficients: Float[Tensor, "component_a component_b *rest"]) -> Float[Tensor, "a b *rest"]:
    """Return the function of (a, b) that has the given coefficients: the inverse of `transform_2d`."""
    basis = fourier_basis(len(coefficients)).to(coefficients.device)
    over_a = torch.tensordot(basis.T, coefficients.double(), dims=1)
    return torch.tensordot(basis.T, over_a.transpose(0, 1), dims=1).transpose(0, 1)


@checked
def component_norms(x: Float[Tensor, "a *rest"]) -> Float[Tensor, " component"]:
    """Return the norm of each Fourier component of a matrix whose rows belong to the residues, such as W_E or W_L
    transposed.

    Source: Nanda et al. 2023, figures 3 and 11.
    """
    return transform(x).reshape(len(x), -1).norm(dim=1)


@checked
def frequency_norms(norms: Float[Tensor, "component *rest"]) -> Float[Tensor, "freq *rest"]:
    """Return the norm at each frequency, the root of the summed squares of cosine and sine; entry k - 1 belongs to
    frequency k.

    Args:
        norms: norm or coefficient of each Fourier component, from `component_norms` or `transform`.

    >>> frequency_norms(torch.tensor([9.0, 3.0, 4.0, 0.0, 1.0])).tolist()
    [5.0, 1.0]
    """
    energy = norms.new_zeros(len(norms) // 2, *norms.shape[1:], dtype=torch.float64)
    freqs = component_frequencies(len(norms))[1:].to(norms.device)
    return energy.index_add(0, freqs - 1, norms[1:].double() ** 2).sqrt()


@checked
def sum_waves(p: int, freq: int, sign: int = 1) -> Float[Tensor, "component a b"]:
    """Functions of (a, b) of norm 1 proportional to cos(w(a + b)) and sin(w(a + b)), w = 2 pi freq / p.

    The two functions are the directions C_k = (cos cos - sin sin) / sqrt 2 and S_k = (sin cos + cos sin) / sqrt 2 of
    the 2D basis (definition D2). At freq = p / 2, only C_k exists.

    Args:
        sign: 1 for waves of a + b, -1 for waves of a - b.
    Raises:
        ValueError: freq outside 1..p // 2.
    """
    check_frequency(freq, p)
    waves = fourier_basis(p)[components_of(freq, p)][:, sums(p, sign)]
    return waves / waves.flatten(1).norm(dim=1)[:, None, None]


@checked
def sum_wave_part(x: Float[Tensor, "a b *rest"], freqs: list[int] | tuple[int, ...], sign: int = 1) -> Tensor:
    """Return the part of a function of (a, b) in waves of a + b at the given frequencies, in the shape of x.

    Args:
        x: values for every pair (a, b), with any further axes.
        sign: 1 for waves of a + b, -1 for waves of a - b.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    return sum_wave_table(x, freqs, sign)[sums(len(x), sign).to(x.device)]


@checked
def sum_wave_table(
    x: Float[Tensor, "a b *rest"], freqs: list[int] | tuple[int, ...], sign: int = 1
) -> Float[Tensor, "sum *rest"]:
    """Return the values of `sum_wave_part`, one for each value of a + b.

    Args:
        x, freqs, sign: the arguments of `sum_wave_part`.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    waves = fourier_basis(len(x))[components_of(tuple(freqs), len(x))].to(x.device)
    means = sum_means(x, sign)
    return (waves.T @ (waves @ means.reshape(len(x), -1))).view(means.shape)


@checked
def sums(p: int, sign: int = 1) -> Int[Tensor, "a b"]:
    """Return a + b mod p for every pair of residues, or a - b mod p if the sign is -1."""
    x = torch.arange(p)
    return (x[:, None] + sign * x) % p


@checked
def sum_means(x: Float[Tensor, "a b *rest"], sign: int = 1) -> Float[Tensor, "sum *rest"]:
    """Replace a function of (a, b) by its mean over all pairs with the same `sums`; waves of a + b stay unchanged."""
    factors = factors_of(x)
    if factors is not None:
        return sum_means(factors[0], sign) @ factors[1].double()
    pairs, total = sums(len(x), sign).to(x.device), x.new_zeros(len(x), *x.shape[2:], dtype=torch.float64)
    for a in row_blocks(x.shape):
        total.index_add_(0, pairs[a].flatten(), x[a].double().flatten(0, 1))
    return total / len(x)
