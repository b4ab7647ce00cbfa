"""Energies from sums over one variable at a time are those of the 2D transform."""

import pytest
import torch

from modinterp.analyses.fourier.marginals import marginals
from modinterp.analyses.fourier.neurons import frequency_energies, neuron_fits, term_shares
from modinterp.analyses.fourier.transforms import transform_2d


@pytest.mark.parametrize("p", [2, 11, 12, 29])
def test_energies_are_those_of_the_transform(p: int) -> None:
    x = torch.rand(p, p, 3, 2, generator=torch.Generator().manual_seed(p), dtype=torch.float64)
    spectrum, found = transform_2d(x), marginals(x)
    torch.testing.assert_close(found.linear + found.products, frequency_energies(spectrum))
    spectrum[0, 0] = 0
    torch.testing.assert_close(found.energy, spectrum.square().sum(dim=(0, 1)))
    torch.testing.assert_close(found.mean, x.mean(dim=(0, 1)))


def test_a_wave_of_one_kind_is_in_its_own_energy_alone() -> None:
    a = torch.arange(13.0, dtype=torch.float64)
    waves = [torch.cos(2 * torch.pi / 13 * (3 * a[:, None] + k * a)) for k in (3, -3, 0, 5)]
    found = marginals(torch.stack(waves, dim=-1))
    assert found.products.argmax(dim=0)[:2].tolist() == [2, 2]
    assert int(found.linear[:, 2].argmax()) == 2
    shares = (found.products.sum(dim=0) / found.energy, found.linear.sum(dim=0) / found.energy)
    torch.testing.assert_close(torch.stack(shares).round(decimals=9), torch.eye(2).double()[:, [0, 0, 1]].new_tensor(
        [[1, 1, 0, 0], [0, 0, 1, 0]]))  # fmt: skip
    assert abs(term_shares(torch.stack(waves, dim=-1)).rest - 0.25) < 1e-12


def test_a_constant_neuron_explains_nothing() -> None:
    post = torch.rand(11, 11, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    post[..., 1] = 0.7
    assert marginals(post).is_constant.tolist() == [False, True]
    assert neuron_fits(post).freqs[1] == 0
    assert neuron_fits(post).fractions[1].isnan()
