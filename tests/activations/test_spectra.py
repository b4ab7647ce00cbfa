"""Spectra logged while training: planted waves come back, the log is bounded, and watching changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from modinterp.activations import activations
from modinterp.activations.spectra import NEURONS, STRONGEST, most_bytes, spectra, wave_lengths
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.tasks import ModularArithmetic, PrimeRemainders

TASK = PrimeRemainders(11)
CONFIG = TransformerConfig.of(TASK, d_model=32, n_heads=2, d_head=16, d_mlp=24)
NETWORK = hooked(CONFIG, initial_weights(CONFIG, seed=0))


@pytest.mark.parametrize("p", [5, 8, 13])
def test_squares_add_up_to_those_of_the_field(p: int) -> None:
    fields = torch.randn(3, p, p, generator=torch.Generator().manual_seed(p), dtype=torch.float64)
    lengths = wave_lengths(fields)
    assert lengths.shape == (3, p, p // 2 + 1)
    squares = fields.square().sum(dim=(1, 2)).tolist()
    assert lengths.square().sum(dim=(1, 2)).tolist() == pytest.approx(squares, rel=1e-12)


@pytest.mark.parametrize(("k_a", "k_b"), [(3, 5), (-3, 5), (4, 0), (0, 2), (-1, 1)])
def test_a_planted_wave_is_found_once_whatever_its_phase(k_a: int, k_b: int) -> None:
    p, x = 13, torch.arange(13).double()
    for phase in (0.0, 0.4, 1.9):
        wave = 3 * torch.cos(2 * torch.pi / p * (k_a * x[:, None] + k_b * x) + phase)
        lengths = wave_lengths(wave)
        assert float(lengths[k_a % p, k_b]) == pytest.approx(float(wave.norm()))
        assert int((lengths > 1e-9).sum()) == 1


def test_what_is_kept_is_the_strongest_of_what_the_network_computes() -> None:
    logged, grid = spectra(NETWORK, TASK, epoch=7), activations(NETWORK, TASK)
    assert logged.epochs.tolist() == [7]
    assert logged.names[:2] == ("blocks.0.attn.hook_pattern[0, 0]", "blocks.0.attn.hook_pattern[0, 1]")
    assert len(logged.names) == 2 * 2 + NEURONS
    field = grid["blocks.0.mlp.hook_post"][:, :, 3]
    place = logged.names.index("blocks.0.mlp.hook_post[3]")
    exact = wave_lengths(field - field.mean())
    kept = logged.full()[0, place]
    assert int((kept > 0).sum()) == STRONGEST
    assert kept[kept > 0].tolist() == pytest.approx(exact[kept > 0].tolist(), rel=2e-3)
    assert float(exact[kept == 0].max()) <= float(exact[kept > 0].min()) * 1.001
    assert float(logged.means[0, place]) == pytest.approx(float(field.mean()), rel=1e-4)
    share = exact.flatten().topk(STRONGEST).values.square().sum() / exact.square().sum()
    assert float(logged.share_kept()[0, place]) == pytest.approx(float(share), rel=2e-3)
    pattern = grid["blocks.0.attn.hook_pattern"][:, :, 1, 0]
    exact = wave_lengths(pattern - pattern.mean()).max()
    assert float(logged.full()[0, logged.names.index("blocks.0.attn.hook_pattern[1, 0]")].max()) == pytest.approx(
        float(exact), rel=2e-3
    )


def test_a_network_without_attention_has_neurons_alone() -> None:
    task = ModularArithmetic(7, equals=False)
    config = MLPConfig.of(task, d_mlp=20)
    logged = spectra(hooked(config, initial_weights(config, seed=0)), task, epoch=0)
    assert set(logged.names) == {f"blocks.0.mlp.hook_post[{n}]" for n in range(NEURONS)}


def test_epochs_go_on_without_doubles() -> None:
    at = {epoch: spectra(NETWORK, TASK, epoch) for epoch in (0, 64, 128)}
    both = at[0].then(at[64]).then(at[128])
    assert both.epochs.tolist() == [0, 64, 128]
    assert both.then(at[64]).epochs.tolist() == [0, 64]
    assert both.before(1).epochs.tolist() == [0]
    assert both.full().shape == (3, len(both.names), 11, 6)
    with pytest.raises(ValueError, match="cannot continue"):
        both.then(replace(at[64], grid=(13, 13)))


def test_the_log_is_as_small_as_stated(tmp_path: Path) -> None:
    from modinterp.runs import store

    log = spectra(NETWORK, TASK, 0)
    for steps in range(6):
        log = log.then(spectra(NETWORK, TASK, steps))
        store.write_spectra(tmp_path, log)
        size = (tmp_path / store.SPECTRA).stat().st_size
        assert size <= most_bytes(steps + 1, 20)
    assert size > most_bytes(6, 20) / 2  # the bound says something
    assert most_bytes(65, 24) < 500_000  # 65,536 epochs of the source's network, every 1,024
