"""What an activation carries: exchanged between pairs, the answer goes with it."""

from __future__ import annotations

import pytest
import torch

import modinterp as mi
from modinterp.bases import basis_of
from modinterp.interventions.planes import block_planes
from modinterp.measurements.network import NoSuchPart
from modinterp.models.planted import clock
from modinterp.runs import TrainedRun
from modinterp.tasks import addition

P, FREQS = 29, (3, 7)


def test_planes_are_those_in_which_the_waves_lie() -> None:
    directions = torch.linalg.qr(torch.randn(12, 6, generator=torch.Generator().manual_seed(0)).double()).Q
    angle = 2 * torch.pi * 3 / P * torch.arange(P).double()
    other = (2 * torch.pi * 5 / P * torch.arange(P).double()).cos()
    waves = [angle.cos()[:, None].expand(P, P), angle.sin()[:, None].expand(P, P), (angle[:, None] + angle).cos()]
    noise = [other[:, None].expand(P, P), other[None].expand(P, P), other[:, None] * other]
    x = torch.stack(waves + noise, dim=2) @ directions.T
    planes = block_planes(x, basis_of(addition(P)), [3])
    assert planes.shape == (12, 3)
    torch.testing.assert_close(planes @ planes.T, directions[:, :3] @ directions[:, :3].T)


def test_the_answer_goes_with_the_circles_of_a_clock() -> None:
    m = mi.measure(TrainedRun("planted", *clock(P, FREQS)))
    assert m.freqs == FREQS
    whole, keys = m.swap("blocks.0.mlp.hook_post"), m.swap("blocks.0.mlp.hook_post", FREQS)
    assert whole.to_other == keys.to_other == 1
    assert whole.stays == 0
    assert keys.rank < whole.rank
    assert max(keys.controls.values()) < 0.5
    assert "get the other pair's answer" in str(keys)
    assert keys.figure().data


def test_a_trained_network_carries_its_answer_in_few_directions_of_the_residual_stream() -> None:
    m = mi.measure(mi.load("nanda/mainline-0"))
    keys = m.swap("blocks.0.hook_resid_mid", m.freqs)
    assert keys.rank == 16
    assert keys.stays < 0.001
    assert keys.to_other == pytest.approx(0.989, abs=0.002)
    assert max(keys.controls.values()) < 0.01
    one = m.swap("blocks.0.hook_resid_mid", (14,))
    assert one.rank == 2
    assert one.to_other < 0.05 < 0.7 < one.stays
    with pytest.raises(ValueError, match="frequencies are 1, .*, got 99"):
        m.swap("blocks.0.hook_resid_mid", [99])
    with pytest.raises(ValueError, match="blocks or heads"):
        m.swap("blocks.0.attn.hook_z", [14], heads=[0])
    with pytest.raises(ValueError, match="not the heads"):
        m.swap("blocks.0.attn.hook_z", heads=[4])
    with pytest.raises(NoSuchPart, match="no blocks.7.hook_resid_mid"):
        m.swap("blocks.7.hook_resid_mid")


def test_of_a_product_the_other_pairs_answer_is_in_its_own_order() -> None:
    m = mi.measure(mi.load("nanda/multiplication-0"))
    assert m.swap("blocks.0.hook_resid_post").to_other == pytest.approx(1, abs=0.01)
