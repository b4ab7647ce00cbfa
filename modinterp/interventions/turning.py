"""Rotate circles by linear maps of token space: a wave f(t) of the numbers becomes f(t + x), also for a fraction x.

A rotation by half a step moves every number midway between two tokens. If the circles of both numbers are turned by
half a step, a network that adds angles answers one more. A lookup table of tokens has no entry for numbers that lie
midway between two tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, pi

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import components_of, fourier_basis

Map = Float[Tensor, "element element"]


@checked
def folded(freq: int, p: int) -> int:
    """Fold an integer frequency to the equivalent frequency between 0 and p // 2, which has the same cosine.

    >>> folded(82, 113)
    31
    """
    return min(freq % p, -freq % p)


@checked
def doubles(freqs: Sequence[int], p: int) -> dict[int, tuple[int, int]]:
    """Return the companions of some frequencies: twice each frequency, unless twice the frequency is one of the given
    frequencies.

    A nonlinearity creates waves of twice a frequency, which must rotate by twice the *unfolded* angle.

    Returns:
        map from each companion to the frequency that it doubles, and the sign of the companion's angle.

    >>> doubles([41, 42], 113)
    {31: (41, -1), 29: (42, -1)}
    """
    found: dict[int, tuple[int, int]] = {}
    for k in freqs:
        twice = folded(2 * k, p)
        if twice and twice not in freqs:
            found.setdefault(twice, (k, 1 if 2 * k <= p / 2 else -1))
    return found


@checked
def turn_angles(freqs: Sequence[int], p: int, step: float, companions: bool = True) -> dict[int, float]:
    """Return the angle by which each circle rotates when every number moves by a step.

    Args:
        freqs: frequencies of the circles. [cycles per p]
        p: the modulus.
        step: move of every number, in residues; 0.5 is the half turn.
        companions: True to also rotate circles of twice each frequency.
    Returns:
        Map from the frequency of each circle to its angle of rotation. [rad]
    """
    own = {k: 2 * pi * k / p * step for k in freqs}
    extra = doubles(freqs, p) if companions else {}
    return own | {f: sign * 4 * pi * k / p * step for f, (k, sign) in extra.items()}


@checked
def turn(p: int, angles: Mapping[int, float]) -> Map:
    """Return the linear map of token space that rotates some circles and leaves everything else unchanged.

    The alternating wave of even p has no circle, and stays unchanged.

    >>> import torch
    >>> t = torch.arange(5).double()
    >>> wave = (2 * torch.pi / 5 * t).cos()
    >>> moved = turn(5, {1: 2 * torch.pi / 5 * 0.5}) @ wave
    >>> torch.allclose(moved, (2 * torch.pi / 5 * (t + 0.5)).cos())
    True
    """
    basis, found = fourier_basis(p), torch.eye(p, dtype=torch.float64)
    for freq, angle in angles.items():
        rows = basis[components_of(freq, p)]
        if len(rows) == 2:
            found += rows.T @ (_rotation(angle) - torch.eye(2)).to(rows) @ rows
    return found


@checked
def waves_of_values(
    values: Int[Tensor, " element"], p: int, freqs: Sequence[int], step: float = 0.0
) -> Float[Tensor, "element wave"]:
    """Return a constant, and the cosine and sine of each frequency at the value of every number plus a step.

    Args:
        values: a function of the numbers mod p, such as their squares; several numbers may have one value.
        p: the modulus.
        freqs: frequencies of the waves, which may exceed p / 2. [cycles per p]
        step: move of every value, in residues.

    >>> waves_of_values(torch.tensor([0, 1, 1]), 4, [1]).round(decimals=3).abs().tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    """
    angles = 2 * pi / p * torch.outer(values.double() + step, torch.tensor(freqs, dtype=torch.float64))
    pairs = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
    return torch.cat([torch.ones(len(values), 1, dtype=torch.float64), pairs], dim=1)


@checked
def turn_of_values(values: Int[Tensor, " element"], p: int, freqs: Sequence[int], step: float) -> Map:
    """Return the linear map of token space that moves waves of a function f of the numbers by a step.

    The part of the vectors that waves a cos(w f) + b sin(w f) fit best is replaced by the same waves of f + step. If
    f(a) = a, the map of `turn_of_values` equals that of `turn`.

    Args:
        values: value of f at every number, mod p.
        p: the modulus.
        freqs: frequencies of the waves, which may exceed p / 2, since the companion of frequency k is 2 k.
        step: change of every value, in residues. A lookup table of numbers has no entry at half a step, so a lookup
            table fails this test.

    >>> numbers = torch.arange(7)
    >>> torch.allclose(turn_of_values(numbers, 7, [2], 0.5), turn(7, {2: 2 * torch.pi / 7}))
    True
    """
    waves = waves_of_values(values, p, freqs)
    moved = waves_of_values(values, p, freqs, step)
    return torch.eye(len(values), dtype=torch.float64) + (moved - waves) @ torch.linalg.pinv(waves)


@checked
def turn_of_random_planes(p: int, angles: Sequence[float], seed: int = 0) -> Map:
    """Return a control for `turn`: random planes of token space, orthogonal to the constant, rotated by the same
    angles.
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(p, 2 * len(angles), generator=generator, dtype=torch.float64)
    planes = torch.linalg.qr(drawn - drawn.mean(dim=0)).Q
    found = torch.eye(p, dtype=torch.float64)
    for number, angle in enumerate(angles):
        rows = planes[:, 2 * number : 2 * number + 2].T
        found += rows.T @ (_rotation(angle) - torch.eye(2)).to(rows) @ rows
    return found


@checked
def moved_at_random(
    vectors: Float[Tensor, "element d"], moved: Float[Tensor, "element d"], seed: int = 0
) -> Float[Tensor, "element d"]:
    """Return a control for any change: every vector moves in a random direction, by the distance of the original
    change.
    """
    generator = torch.Generator().manual_seed(seed)
    away = torch.randn(vectors.shape, generator=generator, dtype=torch.float64)
    length = (moved - vectors).norm(dim=1, keepdim=True)
    return vectors + away / away.norm(dim=1, keepdim=True) * length


@checked
def projector(p: int, freqs: Sequence[int]) -> Map:
    """Return the orthogonal projector of token space onto the circles of some frequencies."""
    rows = fourier_basis(p)[components_of(list(freqs), p)]
    return rows.T @ rows


@checked
def step_along_line(vectors: Float[Tensor, "element d"], step: float = 1.0) -> Float[Tensor, "element d"]:
    """Move vectors along the line that fits them best, as if every number were larger by a step.

    After the step, a network that adds integers answers one more, even if the number is the largest. Moving the vectors
    along the line hardly changes circles.
    """
    t = torch.arange(len(vectors), dtype=torch.float64)
    t = t - t.mean()
    return vectors + step * (t @ vectors.double() / t.square().sum())


@checked
def is_turnable(freqs: Sequence[int], p: int) -> bool:
    """Return True if rotating some circles is a meaningful test: at most half of all circles rotate, and they
    distinguish all answers.

    Rotating nearly all circles only relabels the tokens, and a lookup table still works after relabelling.
    """
    turning = [k for k in freqs if 2 * k != p]
    return 0 < 2 * len(turning) <= (p - 1) / 2 and gcd(p, *turning) == 1


def _rotation(angle: float) -> Float[Tensor, "2 2"]:
    """Return the rotation of the coefficients of cos and sin that turns f(t) into f(t + x)."""
    x = torch.tensor(angle, dtype=torch.float64)
    return torch.stack([torch.stack([x.cos(), x.sin()]), torch.stack([-x.sin(), x.cos()])])
