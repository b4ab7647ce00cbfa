"""Files and folders of runs, mutated at random: each is read or refused in one line, soon and with little memory."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from modinterp.models import TransformerConfig, initial_weights
from modinterp.runs import load, states, store, train
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

TASK = addition(5)
MODEL = TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12)
SPEC = RunSpec(TASK, MODEL, Recipe(epochs=20, log_every=5, snapshot_every=10, spectra_every=10), seed=2)
INTERESTING = [b"\0", b"\xff" * 8, b"[" * 500, b"{" * 500, b"9" * 400, b"-1", b"1e999", b"NaN", b'""', b"null", b"../../",
               b"R", b"o", b"\x81", b"\x93", b"cos\nsystem\n", b"(", b"t", b"\x80\x7f\xff\xff\xff"]  # fmt: skip
MOST_SECONDS, MOST_KIB = 10, 2**20


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with one to four changes: bits turned, parts cut, doubled, moved, or replaced."""
    new = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place, length = chance.randrange(len(new) + 1), chance.choice([1, 2, 8, 100, 5000])
        # the beginning and the end describe the rest
        place = chance.choice([place, min(place, 300), max(len(new) - 300, 0) + place % 300])
        part = bytes(new[place : place + length])
        kind = chance.randrange(5)
        if kind == 0 and part:
            new[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del new[place : place + length]
        elif kind == 2:
            new[place:place] = part
        elif kind == 3:
            new[place:place] = chance.choice(INTERESTING)
        else:
            new[place : place + 1] = chance.choice(INTERESTING)
    return bytes(new)


def looked_at(path: Path, root: Path | None) -> str:
    """What was said of a file or a run, '' where it was read."""
    try:
        if root is None:
            load(path, TASK)
            return ""
        for partial in (False, True):
            run = load("a/run", root=root, partial=partial)
            repr(run)
            for epoch in run.snapshots:
                run.at(epoch)
    except (ValueError, FileNotFoundError) as error:
        return str(error)
    return ""


def fuzzed(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    folder.mkdir()
    weights = initial_weights(MODEL, 0)
    torch.save({"model": weights, "epoch": 3}, folder / "zip.pt")
    torch.save(weights, folder / "old.pt", _use_new_zipfile_serialization=False)
    store.write_weights(folder / "flat.safetensors", weights)
    train({"a/run": SPEC}, folder / "runs", device="cpu", progress=False, state_every=0)
    record = folder / "runs/a/run" / store.RECORD
    written = store.read_record(record.parent)["sha256"]
    history = (record.parent / store.HISTORY).read_bytes()
    packed = written | {
        name + store.PACKED: store.write_packed(record.parent / name, history)
        for name in (store.HISTORY, store.PROGRESS)
    }
    del packed[store.HISTORY]
    store.write_record(record.parent, SPEC, 20, None, 1.0, packed)
    targets = [folder / name for name in ("zip.pt", "old.pt", "flat.safetensors")]
    targets += [path for path in sorted(record.parent.rglob("*")) if path.is_file() and path.suffix in (".json", ".gz")]
    targets += [record.parent / name for name in (states.STATE, states.BEFORE, store.SPECTRA, store.FINAL)]
    whole = {path: path.read_bytes() for path in targets}
    slowest, largest = (0.0, ""), (0, "")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        path = chance.choice(targets)
        path.write_bytes(mutated(whole[path], chance))
        digests = packed
        if path.parent == record.parent and path.name in packed:  # as a stranger would, who vouches for what he made
            digests = packed | {path.name: store.sha256(path)}
            store.write_record(record.parent, SPEC, 20, None, 1.0, digests)
        began = time.monotonic()
        said = looked_at(path, folder / "runs" if path.parent == record.parent else None)
        slowest = max(slowest, (time.monotonic() - began, path.name))
        largest = max(largest, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, path.name))
        assert slowest[0] < MOST_SECONDS
        assert "\n" not in said
        path.write_bytes(whole[path])
        if digests is not packed:
            store.write_record(record.parent, SPEC, 20, None, 1.0, packed)
    print(
        f"{count} files: at most {slowest[0]:.2f} s ({slowest[1]}), and {largest[0]:,} KiB ({largest[1]}) beyond what was"
    )
    assert largest[0] < MOST_KIB
    shutil.rmtree(folder)


def fuzzed_as_for_users(folder: Path, count: int, seed: int) -> None:
    """In a process of its own: here annotations are checked, which takes ten times as long and finds some of it first."""
    done = subprocess.run([sys.executable, __file__, folder, str(count), str(seed)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def test_200_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    fuzzed_as_for_users(tmp_path / "fuzz", 200, seed=0)


@pytest.mark.nightly
def test_2000_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    fuzzed_as_for_users(tmp_path / "fuzz", 2000, seed=1)


if __name__ == "__main__":
    fuzzed(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
