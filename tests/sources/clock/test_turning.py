"""Slopes of circles that turn, on circles whose turning is known."""

from __future__ import annotations

import pytest
import torch

from modinterp.analyses.circles.circle import wave_angles
from modinterp.sources.clock.claims.turning import slope, turning

P, FREQ = 29, 7


def circles(centre: int, phase: int, mirrored: bool = False) -> torch.Tensor:
    """Circles over b whose centre goes round `centre` times, and which turn `phase` times, as a goes round once."""
    angle = wave_angles(P, FREQ)
    z = 3 * torch.polar(torch.ones(P).double(), centre * angle)[:, None] + torch.polar(
        torch.ones(P, P).double(), angle[None] + phase * angle[:, None]
    )
    return torch.view_as_real(z.conj().resolve_conj() if mirrored else z)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("centre", "phase"), [(1, 0), (0, 1), (0, -1), (1, 1)])
def test_planted_turns_are_found_whichever_way_the_plane_lies(centre: int, phase: int, mirrored: bool) -> None:
    found = turning(circles(centre, phase, mirrored), FREQ)
    assert found.revolution.turns == pytest.approx(centre, abs=1e-9)
    assert found.rotation.turns == pytest.approx(phase, abs=1e-9)
    if phase:
        assert found.rotation.explained == pytest.approx(1)


def test_an_angle_that_ripples_has_a_slope_beside_its_turns_and_a_lower_fit() -> None:
    angle = wave_angles(P, 1)
    even, rippled = slope(angle, angle), slope(angle + 0.5 * torch.sin(angle), angle)
    assert (even.turns, even.explained) == (pytest.approx(1), pytest.approx(1))
    assert 0.7 < rippled.turns < 0.95
    assert rippled.explained < 0.99
    assert slope(torch.zeros(P).double(), angle).explained == 0
