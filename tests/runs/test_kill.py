"""A training that is killed again and again ends as one that was not: the same bits, and no more files or memory."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import Forked, Forks

from modinterp.models import MLPConfig, TransformerConfig
from modinterp.runs import states, store
from modinterp.tasks import ModularArithmetic
from modinterp.training import Recipe, RunSpec

TRAINS = """
from dataclasses import replace
from pathlib import Path
from modinterp.runs import train
from modinterp.training import RunSpec
from modinterp.training.speed import rate_of_products

def run(out, asked, state_every):
    rate_of_products()  # as a training does after some seconds, wherever it then is; its memory is kept for the next time
    specs = {f"own/{seed}": replace(RunSpec.from_json(asked), seed=seed) for seed in (0, 1)}
    train(specs, Path(out), device="cpu", progress=False, together=2, state_every=state_every)
"""
GUARDED = """
import json, sys
from modinterp.terminal.errors import one_line_errors
sys.exit(one_line_errors("stopped")(lambda: run(*json.loads(sys.argv[1])))())
"""
MOST_GROWTH = 8 * 2**10  # of a process's memory between the middle of its way and its end [KiB]


def spec(p: int, epochs: int, every: int, config: type[TransformerConfig] | type[MLPConfig], **sizes: int) -> RunSpec:
    task = ModularArithmetic(p, equals=config is TransformerConfig)
    recipe = Recipe(epochs=epochs, log_every=every, snapshot_every=every, dropout=0.1)
    return RunSpec(task, config.of(task, **sizes), recipe, seed=0)


def transformers(p: int, epochs: int, every: int) -> RunSpec:
    return spec(p, epochs, every, TransformerConfig, d_model=24, n_heads=2, d_head=8, d_mlp=48)


@pytest.fixture
def forks(tmp_path: Path) -> Iterator[Forks]:
    """One arena that gives back what is freed: its memory is then what the program holds, not what threads left over."""
    with Forks(TRAINS, tmp_path, {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "0"}) as begun:
        yield begun


def begun(forks: Forks, out: Path, asked: RunSpec) -> Forked:
    return forks.begun(str(out), asked.to_json(), 0)


def epoch_reached(out: Path) -> int:
    return max(store.snapshot_epochs(out / "own/1"), default=-1)


def watched(process: Forked) -> Iterator[tuple[int, int]]:
    """Memory [KiB] and number of open files of a process, until it ends."""
    status, handles = Path(f"/proc/{process.pid}/status"), Path(f"/proc/{process.pid}/fd")
    while process.runs:
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            yield int(lines["VmRSS"].split()[0]), len(os.listdir(handles))
        except (OSError, KeyError, ValueError):  # it has just ended
            return
        time.sleep(0.05)


def left(folder: Path) -> list[str]:
    """All that is in a folder; of a lease, whose name counts who has held it, that it is one."""
    return sorted(re.sub(r"lease-\d+", "lease", str(path.relative_to(folder))) for path in folder.rglob("*"))


def killed_and_compared(forks: Forks, tmp_path: Path, asked: RunSpec, kills: int) -> None:
    """Two runs in one program that write all the time, killed at random moments."""
    epochs, every = asked.recipe.epochs, asked.recipe.snapshot_every
    rng, cut, whole = random.Random(0), tmp_path / "cut", tmp_path / "whole"
    killed_at = []
    for i in range(kills):
        process, goal = begun(forks, cut, asked), max(epochs * i // (kills + 1), epoch_reached(cut) + every)
        while epoch_reached(cut) <= goal and process.runs:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        assert process.kill() == -signal.SIGKILL, "ended before it was killed, which tests nothing"
        killed_at.append(epoch_reached(cut))
    assert 0 < killed_at[0] < killed_at[-1] < epochs, f"killed at {killed_at}, which tests nothing"
    unbroken = begun(forks, whole, asked)
    seen = list(watched(unbroken))
    assert unbroken.wait() == 0
    assert begun(forks, cut, asked).wait() == 0
    early, late = seen[len(seen) * 2 // 5 : len(seen) * 3 // 5], seen[-len(seen) // 5 : -2]
    before, after = (statistics.median(memory for memory, _ in part) for part in (early, late))
    print(f"kills at {killed_at}; memory {before:.0f} to {after:.0f} KiB, files {max(f for _, f in late)}")
    assert after - before < MOST_GROWTH
    assert min(files for _, files in late) <= max(files for _, files in early)  # one is open while it is written
    assert left(cut) == left(whole)
    for seed in (0, 1):
        middle = store.snapshot_path(Path(), epochs * 3 // 5 // every * every)
        for name in (store.FINAL, store.HISTORY, str(middle)):
            ours, theirs = cut / f"own/{seed}" / name, whole / f"own/{seed}" / name
            assert ours.read_bytes() == theirs.read_bytes(), (seed, name)


def test_killed_trainings_end_with_the_same_bits(forks: Forks, tmp_path: Path) -> None:
    killed_and_compared(forks, tmp_path, transformers(13, 800, 10), kills=4)


@pytest.mark.nightly
def test_100_000_epochs_with_a_kill_every_few_thousand(forks: Forks, tmp_path: Path) -> None:
    """The smallest networks there are, at 3 ms of one core for both; all of it takes a quarter of an hour of one core."""
    killed_and_compared(forks, tmp_path, spec(5, 100_000, 100, MLPConfig, d_model=8, d_mlp=16), kills=24)


def test_what_a_scheduler_stops_is_saved_as_what_the_user_stops(tmp_path: Path) -> None:
    """SIGTERM in the middle, an hour before the next state is due."""
    asked = [str(tmp_path), transformers(13, 90_000, 10).to_json(), 3600]
    command = [sys.executable, "-c", TRAINS + GUARDED, json.dumps(asked)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while epoch_reached(tmp_path) < 50 and process.poll() is None:
        time.sleep(0.05)
    reached = epoch_reached(tmp_path)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert (process.returncode, said) == (143, "stopped\n")
    saved = states.last_state(tmp_path / "own/1")
    assert saved is not None
    assert saved[1].epoch >= reached
