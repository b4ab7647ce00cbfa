"""Algebraic laws that hold for every modulus, odd or even."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from modinterp.analyses.fourier.neurons import terms_of
from modinterp.analyses.fourier.sparsity import fourier_gini, gini
from modinterp.analyses.fourier.transforms import (
    component_frequencies,
    component_names,
    component_norms,
    components_of,
    fourier_basis,
    frequency_norms,
    inverse_2d,
    sum_wave_part,
    sum_waves,
    transform,
    transform_2d,
)
from modinterp.analyses.statistics.explained import fraction_explained, fraction_explained_by_column, least_squares

MODULI = st.integers(2, 40)
SEEDS = st.integers(0, 10_000)


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(p=MODULI)
def test_basis_is_orthonormal_and_holds_the_waves_it_names(p: int) -> None:
    basis = fourier_basis(p)
    torch.testing.assert_close(basis @ basis.T, torch.eye(p, dtype=torch.float64), rtol=0, atol=1e-12)
    x = torch.arange(p, dtype=torch.float64)
    for row, name in zip(basis[1:], component_names(p)[1:], strict=True):
        wave, k = name.split()
        expected = getattr(torch, wave)(2 * torch.pi * int(k) * x / p)
        torch.testing.assert_close(row, expected / expected.norm(), rtol=0, atol=1e-12)
    assert component_frequencies(p).tolist() == [0, *(int(n.split()[1]) for n in component_names(p)[1:])]


@given(p=MODULI, seed=SEEDS)
def test_transform_is_the_dft(p: int, seed: int) -> None:
    x = drawn(seed, p, 3)
    ours = frequency_norms(component_norms(x))
    theirs = torch.fft.rfft(x, dim=0, norm="ortho").norm(dim=1)[1:]
    theirs *= torch.tensor([1.0 if 2 * k == p else 2**0.5 for k in range(1, p // 2 + 1)])
    torch.testing.assert_close(ours, theirs)


@given(p=MODULI, seed=SEEDS)
def test_two_dimensional_transform_keeps_energy_and_comes_back(p: int, seed: int) -> None:
    x = drawn(seed, p, p, 2)
    torch.testing.assert_close(transform_2d(x).square().sum(), x.square().sum())
    torch.testing.assert_close(inverse_2d(transform_2d(x)), x)
    torch.testing.assert_close(transform_2d(x)[:, :, 0], transform(transform(x[:, :, 0]).T).T)


@given(p=MODULI, seed=SEEDS, a=st.integers(0, 50), factor=st.floats(-5, 5, allow_subnormal=False))
def test_transform_is_linear_and_norms_do_not_feel_a_shift(p: int, seed: int, a: int, factor: float) -> None:
    x, y = drawn(seed, p, 2), drawn(seed + 1, p, 2)
    torch.testing.assert_close(transform(x + factor * y), transform(x) + factor * transform(y))
    shifted = frequency_norms(component_norms(x.roll(a, dims=0)))
    torch.testing.assert_close(shifted, frequency_norms(component_norms(x)))


@given(p=MODULI, sign=st.sampled_from([1, -1]), data=st.data())
def test_sum_waves_are_the_normalised_waves_of_the_sum(p: int, sign: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, p // 2))
    waves = sum_waves(p, k, sign)
    x = torch.arange(p, dtype=torch.float64)
    angle = 2 * torch.pi * k / p * (x[:, None] + sign * x)
    for wave, expected in zip(waves, (angle.cos(), angle.sin()), strict=False):
        torch.testing.assert_close(wave, expected / expected.norm(), rtol=0, atol=1e-9)
    assert len(waves) == (1 if 2 * k == p else 2)
    spectrum = transform_2d(waves[0])
    outside = spectrum[~terms_of(p, [k], linear=False)]
    torch.testing.assert_close(outside, torch.zeros_like(outside), rtol=0, atol=1e-9)


@given(p=MODULI, seed=SEEDS)
def test_part_in_sum_waves_is_a_projection(p: int, seed: int) -> None:
    x, freqs = drawn(seed, p, p, 2), list(range(1, p // 2 + 1))
    part = sum_wave_part(x, freqs)
    torch.testing.assert_close(sum_wave_part(part, freqs), part)
    torch.testing.assert_close((part * (x - part)).sum(), torch.zeros((), dtype=torch.float64), rtol=0, atol=1e-8)
    diagonals = torch.stack([torch.stack([x[a, (s - a) % p] for a in range(p)]).mean(dim=0) for s in range(p)])
    by_hand = diagonals[(torch.arange(p)[:, None] + torch.arange(p)) % p] - x.mean(dim=(0, 1))
    torch.testing.assert_close(part, by_hand)


@given(p=MODULI)
def test_terms_partition_as_counted_in_the_paper(p: int) -> None:
    for k in range(1, p // 2 + 1):
        size = len(components_of(k, p))
        assert int(terms_of(p, [k], linear=False).sum()) == size**2
        assert int(terms_of(p, [k], products=False).sum()) == 2 * size
        assert int(terms_of(p, [k]).sum()) == size**2 + 2 * size
    assert not any(terms_of(p, [])[0])


@given(n=st.integers(2, 50), seed=SEEDS, factor=st.floats(0.01, 100))
def test_gini_lies_between_its_ends_and_feels_neither_scale_nor_order(n: int, seed: int, factor: float) -> None:
    x = drawn(seed, n).abs()
    assert 0 <= gini(x) <= 1 - 1 / n
    assert gini(factor * x) == pytest.approx(gini(x))
    assert gini(x.flip(0)) == pytest.approx(gini(x))
    by_hand = float((x[:, None] - x).abs().sum() / (2 * n * x.sum()))
    assert gini(x) == pytest.approx(by_hand)


def test_gini_ends() -> None:
    assert gini(torch.ones(7)) == pytest.approx(0)
    assert gini(torch.tensor([0.0, 0, 0, 5])) == pytest.approx(0.75)
    assert gini(torch.zeros(3)) != gini(torch.zeros(3))
    with pytest.raises(ValueError, match="non-negative"):
        gini(torch.tensor([-1.0, 2.0]))
    assert fourier_gini(fourier_basis(11)[3]) == pytest.approx(0.9)


@given(seed=SEEDS)
@settings(max_examples=20)
def test_least_squares_leaves_a_residual_at_right_angles(seed: int) -> None:
    X, y = drawn(seed, 30, 3), drawn(seed + 1, 30)
    coefficients, fit = least_squares(X, y)
    torch.testing.assert_close(X.T @ (y - fit), torch.zeros(3, dtype=torch.float64), rtol=0, atol=1e-9)
    torch.testing.assert_close(fit, X @ coefficients)
    assert fraction_explained(y, y) == 1
    assert fraction_explained(y, torch.full_like(y, float(y.mean()))) == pytest.approx(0)


def test_columns_are_explained_about_their_own_means() -> None:
    y = drawn(0, 4, 5, 3) + torch.tensor([0.0, 10.0, 1000.0])
    assert fraction_explained_by_column(y, y) == 1
    assert fraction_explained_by_column(y, y.mean(dim=(0, 1)).expand_as(y)) == pytest.approx(0)
    halfway = (y + y.mean(dim=(0, 1))) / 2
    assert fraction_explained_by_column(y, halfway) == pytest.approx(0.75)
    assert math.isnan(fraction_explained_by_column(torch.full((31, 2), 0.1), torch.ones(31, 2)))


@pytest.mark.parametrize(
    "call", [lambda: fourier_basis(1), lambda: sum_waves(7, 4), lambda: sum_waves(7, 0), lambda: components_of([9], 7)]
)
def test_what_is_out_of_range_is_named(call) -> None:
    with pytest.raises(ValueError, match="2, 4096.*got 1|run from 1 to 3, got"):
        call()
