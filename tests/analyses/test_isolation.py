"""Circles among principal components: planted circles are found, kept and left alone, and those of others printed."""

from __future__ import annotations

import pytest
import torch
from reference import REFERENCE

from modinterp import runs
from modinterp.activations import logits_on_grid
from modinterp.analyses.circles import isolation
from modinterp.analyses.fourier.transforms import components_of, fourier_basis
from modinterp.measurements import CyclicMeasurements
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.tasks import ModularArithmetic, addition

P = 13


def planted(sizes: dict[int, float], d: int = 8) -> torch.Tensor:
    """Circles of some sizes in an embedding with a mean, turned at random."""
    turned = torch.linalg.qr(torch.randn(d, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).Q
    waves = torch.cat([size * fourier_basis(P)[components_of(k, P)] for k, size in sizes.items()])
    return waves.T @ turned[: len(waves)] + turned[-1]


def test_planted_circles_are_found_in_the_order_of_their_size() -> None:
    found = isolation.component_circles(planted({2: 1.0, 5: 3.0, 4: 2.0}))
    assert [one.freq for one in found] == [5, 4, 2]
    assert [one.pair for one in found] == [1, 2, 3]
    assert [one.purity for one in found] == pytest.approx([1, 1, 1])
    assert [one.variance for one in found] == pytest.approx([9 / 14, 4 / 14, 1 / 14])


def test_circles_of_one_size_are_told_apart_by_frequency_alone() -> None:
    same = planted({2: 1.0, 5: 1.0, 4: 3.0}) + 1e-3 * torch.randn(P, 8, generator=torch.Generator().manual_seed(3))
    found = isolation.frequency_circles(same)
    assert [found[0].freq, {one.freq for one in found[1:3]}] == [4, {2, 5}]
    assert [one.variance for one in found[:3]] == pytest.approx([9 / 11, 1 / 11, 1 / 11], rel=0.01)
    assert min(one.purity for one in isolation.component_circles(same)[:3]) < 0.9


def test_circularity_is_one_of_circles_and_less_of_noise_and_of_mixtures() -> None:
    assert isolation.circularity(planted({2: 1.0, 5: 3.0})).mean == pytest.approx(1)
    noise = torch.randn(59, 32, generator=torch.Generator().manual_seed(1))
    assert isolation.circularity(noise).mean < 0.5
    waves = fourier_basis(P)
    mixed = torch.stack([waves[1] + waves[5], waves[2] + waves[6]], dim=1)
    assert isolation.circularity(mixed).by_component == pytest.approx((0.5, 0.5))


def test_circularity_is_the_papers_sum() -> None:
    x = torch.randn(P, 9, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    U = torch.linalg.svd(x - x.mean(dim=0)).U
    t, k = torch.arange(P), torch.arange(P)
    waves = torch.exp(2j * torch.pi * (k[:, None] * t).double() / P)
    shares = [float(2 / P * (waves @ U[:, i].to(waves.dtype)).abs().square().max()) for i in range(4)]
    assert isolation.circularity(x).by_component == pytest.approx(shares)


def test_a_network_keeps_the_circles_that_are_asked_for() -> None:
    task = addition(P, equals=False)
    config = TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=6, attention_rate=0.3, causal=False)
    network = hooked(config, initial_weights(config, 0)).in_float64()
    network.embed.W_E.data[:] = planted({2: 1.0, 5: 3.0})
    alone = isolation.with_components(network, P, [1])
    torch.testing.assert_close(alone.W_E.data, _only(planted({2: 1.0, 5: 3.0}), 5))
    assert isolation.component_circles(alone.W_E)[0].freq == 5
    torch.testing.assert_close(isolation.with_components(network, P, [1, 2]).W_E, network.W_E)
    by_components, by_frequency = isolation.component_circles(network.W_E), isolation.frequency_circles(network.W_E)[:2]
    whole = isolation.isolated_logits(network, task, by_components[1::-1])
    torch.testing.assert_close(whole, logits_on_grid(network, task))
    same = isolation.isolated_logits(network, task, [])
    torch.testing.assert_close(same, same[0, 0].expand_as(same))
    torch.testing.assert_close(isolation.isolated_logits(network, task, by_frequency), whole)
    first = [isolation.isolated_logits(network, task, circles[:1]) for circles in (by_components, by_frequency)]
    torch.testing.assert_close(*first)
    with pytest.raises(ValueError, match="not both"):
        isolation.isolated_logits(network, task, [*by_components, *by_frequency])
    with pytest.raises(ValueError, match="pairs must be numbers from 1 to 2, got 3"):
        isolation.with_components(network, P, [3])


def _only(x: torch.Tensor, freq: int) -> torch.Tensor:
    """The part of an embedding at one frequency, and its mean."""
    basis = fourier_basis(P)[[0, *components_of(freq, P)]]
    return basis.T @ (basis @ x)


def test_what_has_no_circles_is_refused() -> None:
    with pytest.raises(ValueError, match="span 2 dimensions, got vectors that span 0"):
        isolation.circularity(torch.ones(5, 3))
    task = ModularArithmetic(P, equals=False, vocabularies=2)
    network = hooked(config := MLPConfig.of(task, d_model=8, d_mlp=8), initial_weights(config, 0))
    with pytest.raises(ValueError, match="different tokens"):
        isolation.isolated_logits(network, task, [])


NETWORKS = {  # what the authors print of their networks, and what was measured of them with other code
    "p99zdpze5l": (0.0, 0.99367, 0.17174, 0.99782, (17, 3, 15), (0.7541, 0.7562, 0.7538), (0.9831, 0.9831, 0.9841)),
    "l8k1hzciux": (1.0, 0.3336, 0.8483, 0.9989, (13, 16, 21), (), ()),
    "2k4ohj6bhd": (0.8041592198855598, 0.7813, 0.7201, 0.7342, (), (), ()),
    "p71frej8t7": (None, 1.0, 0.23020, 0.99504, (29, 24, 14), (0.7527, 0.7471, 0.7546), (0.9799, 0.9748, 0.9822)),
}


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_the_authors_networks_have_the_numbers_that_are_printed(name: str) -> None:
    path = REFERENCE / f"pizza_{name}.pt"
    if not path.is_file():
        pytest.skip("the reference networks are not at hand")
    rate, symmetricity, irrelevance, circularity, freqs, clock, two = NETWORKS[name]
    said = {} if rate is None else {"attention_rate": rate, "causal": False}
    m = CyclicMeasurements(runs.load(path, addition(59, equals=False), **said))
    assert m.accuracy == 1
    assert m.symmetricity_of_released_triples == pytest.approx(symmetricity, abs=6e-5)
    assert m.irrelevance.correct == pytest.approx(irrelevance, abs=6e-5)
    assert m.isolation.circularity.mean == pytest.approx(circularity, abs=6e-5)
    found = m.isolation.component_circles[: len(freqs)]
    assert tuple(one.freq for one in found) == freqs
    assert [m.isolation.agreement(one, "clock").explained for one in found[: len(clock)]] == pytest.approx(
        clock, abs=6e-5
    )
    assert [m.isolation.agreement(one, "two absolute values").explained for one in found[: len(two)]] == pytest.approx(
        two, abs=6e-5
    )
    assert {one.freq for one in m.isolation.leading_circles} >= set(freqs) or not freqs
    for one in m.isolation.leading_circles[: len(clock)]:  # by frequency they are the pizza's even more closely
        assert m.isolation.agreement(one, "pizza").explained > 0.993
