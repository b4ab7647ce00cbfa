"""Hashed random bits look random, and depend on nothing but their coordinates."""

from __future__ import annotations

import pytest
import torch

from modinterp.training.noise import dropout_mask, splitmix64


def keep(seed: int, rows: int, columns: int, rate: float) -> torch.Tensor:
    return dropout_mask(splitmix64(torch.tensor(seed)), rows, columns, torch.tensor(rate)).double()


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.5, 0.8])
def test_the_share_that_is_dropped_is_the_rate(rate: float) -> None:
    bits = keep(0, 2000, 500, rate)
    deviation = (rate * (1 - rate) / bits.numel()) ** 0.5
    assert 1 - bits.mean().item() == pytest.approx(rate, abs=4 * deviation + 1e-9)
    for axis in (0, 1):
        spread = bits.mean(dim=axis).std().item()
        expected = (rate * (1 - rate) / bits.shape[axis]) ** 0.5
        assert spread == pytest.approx(expected, rel=0.15), "rows and columns vary as independent ones do"


def test_places_steps_and_seeds_are_independent() -> None:
    bits = keep(0, 400, 512, 0.5) - 0.5
    noise = 4 * 0.25 / (400 * 512) ** 0.5
    for other in (keep(1, 400, 512, 0.5) - 0.5, bits.roll(1, 0), bits.roll(1, 1), bits.flip(0)):
        assert abs((bits * other).mean().item()) < noise
    corners = bits[:200, :256] * bits[200:, :256] * bits[:200, 256:] * bits[200:, 256:]
    assert abs(corners.mean().item()) < 4 * 0.0625 / corners.numel() ** 0.5


def test_more_rows_do_not_change_those_before() -> None:
    assert torch.equal(keep(3, 100, 64, 0.3), keep(3, 250, 64, 0.3)[:100])


def test_mapping_over_keys_gives_what_each_gives_alone() -> None:
    keys, rates = splitmix64(torch.arange(4)), torch.tensor([0.1, 0.2, 0.5, 0.0])
    together = torch.func.vmap(lambda key, rate: dropout_mask(key, 30, 20, rate))(keys, rates)
    for key, rate, bits in zip(keys, rates, together, strict=True):
        assert torch.equal(bits, dropout_mask(key, 30, 20, rate))


def test_mixing_is_splitmix64() -> None:
    """The first outputs of the published generator from seed 0."""
    steps = torch.tensor([1, 2, 3])
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [x % 2**64 for x in splitmix64(steps).tolist()] == expected
