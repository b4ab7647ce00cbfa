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
recipe = Recipe(epochs=3000, log_every=20, snapshot_every=20, dropout=0.1)
train({"own/killed": RunSpec(task, config, recipe)}, Path(sys.argv[1]), device="cpu", progress=False)
"""


def begun(out: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(out)], stderr=subprocess.DEVNULL)


def epoch_reached(out: Path) -> int:
    return max(store.snapshot_epochs(out / "own/killed"), default=-1)


def test_killed_training_ends_with_the_same_bits(tmp_path: Path) -> None:
    rng, cut, whole = random.Random(0), tmp_path / "cut", tmp_path / "whole"
    killed_at = []
    for _ in range(4):
        before, process = epoch_reached(cut), begun(cut)
        while epoch_reached(cut) <= before + 20 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        process.wait()
        killed_at.append(epoch_reached(cut))
    assert 0 < killed_at[0] < killed_at[-1] < 3000, f"killed at {killed_at}, which tests nothing"
    assert begun(whole).wait() == 0
    assert begun(cut).wait() == 0
    ours, theirs = cut / "own/killed", whole / "own/killed"
    for name in (store.FINAL, store.HISTORY, str(store.snapshot_path(Path(), 1500))):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
