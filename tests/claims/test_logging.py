"""The claim about logs holds of a run that was watched, and of none other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from modinterp.claims.miiii.logging import CLAIMS
from modinterp.models import TransformerConfig
from modinterp.runs import load, train
from modinterp.tasks import PrimeRemainders
from modinterp.training import Recipe, RunSpec


def test_a_log_is_there_where_the_training_was_watched(tmp_path: Path) -> None:
    (claim,), task = CLAIMS, PrimeRemainders(7)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=24)
    spec = RunSpec(task, config, Recipe(epochs=60, log_every=10, snapshot_every=60, spectra_every=20))
    unwatched = replace(spec, recipe=replace(spec.recipe, spectra_every=0))
    train({"watched": spec}, tmp_path, device="cpu", progress=False)
    train({"unwatched": unwatched}, tmp_path, device="cpu", progress=False)
    run = load("watched", root=tmp_path)
    result = claim.check(run)
    assert result.verdict == "holds"
    assert result.measured["entries"] == (4,)
    assert result.measured["fields of attention"] == (4,)
    assert result.measured["largest number of epochs between two entries"] == (20,)
    assert result.measured["the same at the end"][0] > 0.9  # 27 waves of 7 x 7, all kept
    assert claim.check(run.at_start()).verdict == "refuted"
    assert claim.check(load("unwatched", root=tmp_path)).verdict == "refuted"
