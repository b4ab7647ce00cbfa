"""Circles of outputs that are planted come back; what is no circle does not pass for one."""

from __future__ import annotations

import pytest
import torch

from modinterp.analyses.sequences.output_circle import output_circle

GENERATOR = torch.Generator().manual_seed(0)
ANGLES = 2 * torch.pi * torch.arange(10) / 10


def placed(*steps: int, noise: float = 0.0) -> torch.Tensor:
    """Columns on circles of these steps in random directions that are perpendicular to one another."""
    basis = torch.linalg.qr(torch.randn(12, 12, generator=GENERATOR)).Q
    waves = [wave for k in steps for wave in ((k * ANGLES).cos(), (k * ANGLES).sin())]
    found = sum(torch.outer(basis[place], wave) for place, wave in enumerate(waves))
    return found + noise * torch.randn(12, 10, generator=GENERATOR) + basis[11].unsqueeze(1)


@pytest.mark.parametrize("step", [1, 3])
def test_a_planted_circle_comes_back(step: int) -> None:
    found = output_circle(placed(step, noise=0.01))
    assert found.energy > 0.99
    assert found.step == step
    assert found.cosine > 0.999
    spacing = found.angles.roll(-1) - found.angles
    whole = (spacing / (2 * torch.pi / 10)).remainder(10)
    expected = torch.tensor([float(step), 10 - float(step)])
    assert ((whole.unsqueeze(1) - expected).abs().amax(dim=0) < 0.3).any()


def test_two_circles_have_half_the_energy_in_two_directions() -> None:
    found = output_circle(placed(1, 2))
    assert found.energy == pytest.approx(0.5, abs=1e-6)


def test_outputs_in_no_order_are_on_no_circle() -> None:
    shuffled = placed(1)[:, torch.tensor([4, 7, 0, 9, 2, 5, 1, 8, 3, 6])]
    assert output_circle(shuffled).cosine < 0.7
    assert output_circle(torch.randn(12, 10, generator=GENERATOR)).energy < 0.8


def test_the_nearest_output_of_a_residual_stream() -> None:
    W_U = placed(1)
    found = output_circle(W_U)
    centred = (W_U - W_U.mean(dim=1, keepdim=True)).T
    assert found.nearest(3 * centred).tolist() == list(range(10))
    assert found.table()["output"].tolist() == list(range(10))


def test_too_few_outputs_and_equal_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="3 outputs"):
        output_circle(torch.rand(4, 2))
    with pytest.raises(ValueError, match="all are equal"):
        output_circle(torch.ones(4, 5))
