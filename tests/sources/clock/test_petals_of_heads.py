"""Corners of curves by their own waves: noise takes them away from a circle and does not count."""

from __future__ import annotations

import torch

from modinterp.analyses.circles.circle import convex_hull, wave_angles
from modinterp.analyses.circles.petals import Petal, petal_frequencies
from modinterp.sources.clock.claims.petals_of_heads import _corners_without_noise as corners

P = 53


def noisy(curve: torch.Tensor) -> torch.Tensor:
    return curve + 0.05 * torch.randn(curve.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_all_points_of_a_noisy_circle_are_corners_of_its_own_wave() -> None:
    angle = wave_angles(P, 5)
    circle = noisy(torch.stack([angle.cos(), angle.sin()], dim=1))
    assert len(convex_hull(circle)) / P < 0.5
    assert corners(circle, {0, 5}) == 1


def test_a_petal_of_two_frequencies_has_few_corners_and_an_oval_of_one_has_all() -> None:
    petal = torch.view_as_real(Petal(P, 5, 12, phase=0.3).curve())
    assert corners(noisy(petal), petal_frequencies(P, 5, 12)) < 0.5
    angle = wave_angles(P, 5)
    oval = torch.stack([angle.cos() + 0.05 * (2 * angle).cos(), angle.sin() + 0.05 * (2 * angle).sin()], dim=1)
    assert corners(oval, petal_frequencies(P, 5, 5)) == 1
