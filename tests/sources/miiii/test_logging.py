"""The claim about logs holds of a run that was watched, and of none other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from modinterp.activations.spectra import STRONGEST, Spectra, wave_lengths
from modinterp.analyses.fourier.frequencies import active_frequencies
from modinterp.analyses.fourier.neuron_spectra import logged_norms
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun, load, train
from modinterp.sources import spec as named
from modinterp.sources.miiii.claims.logging import CLAIMS
from modinterp.tasks import PrimeRemainders
from modinterp.training import Recipe, RunSpec


def test_a_log_is_there_where_the_training_was_watched(tmp_path: Path) -> None:
    (claim, active), task = CLAIMS, PrimeRemainders(7)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=24)
    spec = RunSpec(task, config, Recipe(epochs=60, log_every=10, snapshot_every=60, spectra_every=20))
    unwatched = replace(spec, recipe=replace(spec.recipe, spectra_every=0))
    train({"watched": spec}, tmp_path, device="cpu", progress=False)
    train({"unwatched": unwatched}, tmp_path, device="cpu", progress=False)
    run = load("watched", root=tmp_path)
    result = claim.check(run)
    assert result.verdict == "holds"
    assert result.measured["logged epochs"] == (4,)
    log = run.spectra
    assert log is not None
    assert log.epochs.diff().max() == 20
    assert log.share_kept()[-1].nanquantile(0.5) > 0.9  # 27 waves of 7 x 7, all kept
    assert claim.check(run.at_start()).verdict == "refuted"
    assert claim.check(load("unwatched", root=tmp_path)).verdict == "refuted"
    assert active.check_available({active.needs[0]: load("unwatched", root=tmp_path)}).verdict == "open"


def test_active_frequencies_are_counted_epoch_by_epoch() -> None:
    p, at = 23, {0: (), 1024: (3,), 4096: (3, 5, 7), 65_536: (3, 5)}
    a = torch.arange(p, dtype=torch.float64)
    alone = 9 * torch.cos(2 * torch.pi * 2 * a / p)[:, None].expand(p, p)  # of one digit: not counted

    def field(freqs: tuple[int, ...]) -> torch.Tensor:
        waves = [torch.cos(2 * torch.pi * k * (a[:, None] + sign * a) / p) for k in freqs for sign in (1, -1)]
        return sum(waves, alone)

    lengths = torch.stack([wave_lengths(field(freqs)) for freqs in at.values()]).flatten(1)
    kept = lengths.topk(STRONGEST, dim=1)
    log = Spectra(("blocks.0.mlp.hook_post[0]",), (p, p), torch.tensor(list(at)), kept.indices[:, None].int(),
                  kept.values[:, None].half(), torch.ones(4, 1), torch.zeros(4, 1))  # fmt: skip
    norms = logged_norms(log)
    assert [active_frequencies(row) for row in norms.where(norms > 1e-3, 0)] == list(at.values())
    spec = named("miiii/p23-0")
    run = TrainedRun("planted", spec.task, hooked(spec.model, initial_weights(spec.model, 0)), spec, spectra=log)
    found = {key: value for key, (value,) in CLAIMS[1].check(run).measured.items()}
    assert found["most at once, above the mean by one deviation"] == 3
    assert found["most by epoch 1,024"] <= 1
