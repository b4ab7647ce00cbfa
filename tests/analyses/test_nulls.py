"""Nulls are calibrated: without structure any p-value is as likely as any other, with it the smallest comes out."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from modinterp.analyses.fourier.cosine_sums import ideal_logits
from modinterp.analyses.fourier.transforms import fourier_basis
from modinterp.analyses.network import nulls
from modinterp.models import Config, MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition

P = 23


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def planted(noise: float) -> torch.Tensor:
    return drawn(0, 40, 4) @ fourier_basis(P)[[3, 4, 13, 14]] + noise * drawn(1, 40, P)


def test_structure_gets_the_smallest_p_value_there_is() -> None:
    found = nulls.spectrum_nulls(planted(0.05), 2, [drawn(s, 40, P) for s in range(99)], draws=99)
    assert len(found.rows) == 6
    assert all(row.p_value == pytest.approx(0.01) for row in found.rows)
    assert found.p_value("energy of the strongest") == pytest.approx(0.01)
    table = found.table()
    assert (table["observed"] > table["largest of the null"]).all()
    assert table["draws"].tolist() == [99] * 6


@cache
def rows_of_noise() -> list[nulls.Null]:
    found = []
    for seed in range(60):
        started = [drawn(1000 * seed + i, 30, 11) for i in range(19)]
        found += nulls.spectrum_nulls(drawn(seed, 30, 11), 2, started, draws=19, seed=seed).rows
    return found


@pytest.mark.parametrize("statistic", ["gap of the spectrum", "energy of the strongest"])
@pytest.mark.parametrize("world", [nulls.AT_INITIALISATION, nulls.RENAMED_RESIDUES, nulls.SAME_SPECTRUM])
def test_p_values_of_noise_are_uniform(statistic: str, world: str) -> None:
    found = [row.p_value for row in rows_of_noise() if (row.name, row.statistic) == (world, statistic)]
    assert len(found) == 60
    assert 0.35 < sum(found) / 60 < 0.7
    assert sum(p <= 0.1 for p in found) <= 14


def test_a_tie_counts_against_the_observation() -> None:
    flat = torch.eye(P, dtype=torch.float64)  # every frequency as strong as every other, whatever the names
    found = nulls.spectrum_nulls(flat, 1, [flat], draws=19)
    assert all(row.p_value == 1 for row in found.rows if row.statistic == "energy of the strongest")


def test_same_singular_values_are_kept_and_renaming_keeps_columns() -> None:
    W = planted(0.5)
    for other in nulls.matrices_with_same_spectrum(W, 3):
        torch.testing.assert_close(torch.linalg.svdvals(other), torch.linalg.svdvals(W)[: len(other)])
    for order in nulls.renamings(P, 3):
        assert sorted(order.tolist()) == list(range(P))
    first, again = nulls.renamings(P, 2, seed=4), nulls.renamings(P, 2, seed=4)
    assert torch.equal(first[1], again[1])


@pytest.mark.parametrize("sign", [1, -1])
def test_cosines_of_the_answer_are_all_of_the_ideal_logits(sign: int) -> None:
    logits = ideal_logits(P, [2, 5], [3.0, 1.0], sign)
    assert nulls.cosine_share(logits, 2, sign) == pytest.approx(1)
    assert nulls.cosine_share(logits, 1, sign) == pytest.approx(0.9)
    assert nulls.cosine_share(logits, 2, -sign) == pytest.approx(0, abs=1e-12)
    assert nulls.cosine_share(logits + 7, 2, sign) == pytest.approx(1)
    found = nulls.logit_nulls(logits + drawn(0, P, P, P), 2, [drawn(s, P, P, P) for s in range(9)], sign, draws=9)
    assert [row.p_value for row in found.rows] == pytest.approx([0.1, 0.1])
    names = nulls.renamings(P, 1)[0]
    back = logits[names][:, names][:, :, names]
    assert nulls.cosine_share(back, 2, sign, names) == pytest.approx(1)


def test_even_moduli_have_their_alternating_wave() -> None:
    logits = ideal_logits(6, [1, 3], [2.0, 1.0])
    assert nulls.cosine_share(logits, 2) == pytest.approx(1)


def test_neurons_are_periodic_only_in_the_order_of_the_residues() -> None:
    x = 2 * torch.pi * torch.arange(P, dtype=torch.float64) / P
    post = torch.stack([((k * x)[:, None].cos() + (k * x).cos()).relu() for k in (1, 2, 5, 7)], dim=-1)
    assert nulls.best_shares(post).min() > 0.9
    typical, largest = nulls.neuron_null(post, draws=5)
    assert typical < 0.6
    assert len(largest) == 5


@pytest.mark.parametrize(
    "config",
    [
        TransformerConfig.of(addition(5), d_model=8, n_heads=2, d_head=4),
        TransformerConfig.of(addition(5), d_model=8, n_heads=2, d_head=4, d_mlp=12, unlabelled_outputs=1),
        TransformerConfig.of(addition(5), d_model=8, n_heads=2, d_head=4, d_mlp=None),
        TransformerConfig.of(addition(5), d_model=8, n_heads=2, d_head=4, d_mlp=12, init="left-facing"),
        MLPConfig.of(addition(5, equals=False)),
    ],
    ids=lambda config: config.summary,
)
def test_readouts_at_start_are_those_of_the_networks_and_differ_by_seed(config: Config) -> None:
    first, second = nulls.readouts_at_start(config, 2)
    assert not torch.equal(first, second)
    read_from = ("blocks.0.mlp.W_out", "unembed.W_U")  # and nothing else of the network is drawn
    network = initial_weights(config, 1) | initial_weights(config, 1, only=read_from)
    drawn = hooked(config, network)
    W = (drawn.W_U if config.attn_only else drawn.W_L).detach().double()
    torch.testing.assert_close(second.T.double() @ second.double(), W.T @ W, rtol=1e-5, atol=1e-6)


def test_rows_beyond_the_rank_change_no_null() -> None:
    W = planted(0.5)
    wider = torch.cat([W, 1e-17 * torch.ones(40, P, dtype=torch.float64)])
    for name, drawn in nulls.matrices_without_structure(W, None, 2).items():
        others = nulls.matrices_without_structure(wider, None, 2)[name]
        for one, other in zip(drawn, others, strict=True):
            assert len(one) == len(other) <= P
            if name == nulls.RENAMED_RESIDUES:
                torch.testing.assert_close(one.T @ one, other.T @ other)


@pytest.mark.parametrize("outputs", [20, 60])
def test_matrices_with_the_same_singular_values_have_them_whichever_way_they_are_drawn(outputs: int) -> None:
    W_L = torch.randn(12, outputs, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values = torch.linalg.svdvals(W_L)
    for drawn in nulls.matrices_with_same_spectrum(W_L, 3):
        torch.testing.assert_close(torch.linalg.svdvals(drawn), values, rtol=1e-10, atol=0)
