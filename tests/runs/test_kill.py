"""A training that is killed again and again ends with the weights of one that was not."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from modinterp.runs import store

SCRIPT = """
import sys
from pathlib import Path
from modinterp.models import TransformerConfig
from modinterp.runs import train
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec
task = addition(13)
config = TransformerConfig.of(task, d_model=32, n_heads=2, d_head=16, d_mlp=64)
recipe = Recipe(epochs=2500, log_every=10, snapshot_every=10, dropout=0.1)
specs = {f"own/{seed}": RunSpec(task, config, recipe, seed) for seed in (0, 1)}
train(specs, Path(sys.argv[1]), device="cpu", progress=False, together=2, state_every=0)
"""


def begun(out: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(out)], stderr=subprocess.DEVNULL)


def epoch_reached(out: Path) -> int:
    return max(store.snapshot_epochs(out / "own/1"), default=-1)


def test_killed_trainings_end_with_the_same_bits(tmp_path: Path) -> None:
    """Two runs in one program that write all the time, killed at ten random moments."""
    rng, cut, whole = random.Random(0), tmp_path / "cut", tmp_path / "whole"
    killed_at = []
    for _ in range(10):
        before, process = epoch_reached(cut), begun(cut)
        while epoch_reached(cut) <= before + 10 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        process.wait()
        killed_at.append(epoch_reached(cut))
    assert 0 < killed_at[0] < killed_at[-1] < 2500, f"killed at {killed_at}, which tests nothing"
    assert begun(whole).wait() == 0
    assert begun(cut).wait() == 0
    for seed in (0, 1):
        ours, theirs = cut / f"own/{seed}", whole / f"own/{seed}"
        for name in (store.FINAL, store.HISTORY, str(store.snapshot_path(Path(), 1500))):
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), (seed, name)
