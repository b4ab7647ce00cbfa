"""One process at a time trains a run; one that was believed dead, and wakes, writes nothing over its successor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import Forks

from modinterp.files import write_atomically
from modinterp.runs import lease as leases
from modinterp.runs import load, store
from modinterp.runs.lease import LeaseLost, leased

TRAINS = """
from pathlib import Path
from modinterp.models import TransformerConfig
from modinterp.runs import lease, train
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

lease.SILENT_AFTER, lease.RENEWED_EVERY = 0.5, 0.1
task = addition(11)
config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=16)
spec = RunSpec(task, config, Recipe(epochs=600, log_every=10, snapshot_every=100))

def run(out):
    train({"own/0": spec}, Path(out), device="cpu", progress=False, state_every=0)
"""


def test_a_process_that_was_believed_dead_writes_nothing_over_its_successor(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Forks(TRAINS, tmp_path) as forks:
        sleeper = forks.begun(str(out))
        while not store.snapshot_epochs(out / "own/0"):
            assert sleeper.runs
            time.sleep(0.01)
        sleeper.send(signal.SIGSTOP)
        try:
            time.sleep(0.6)
            successor = forks.begun(str(out))
            assert successor.wait(120) == 0, successor.errors.read_text()
            files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        finally:
            sleeper.send(signal.SIGCONT)
        assert sleeper.wait(120) == 1
    error = sleeper.errors.read_text()
    assert "which took over from this one" in error or "No such file" in error
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == files
    assert load("own/0", root=out).history["epoch"].max() == 600


def test_a_lease_is_refused_while_its_holder_lives_and_free_when_it_ends(tmp_path: Path) -> None:
    with leased(tmp_path), pytest.raises(ValueError, match=r"by another process, process \d+.*, last active 0 s ago"):
        leases._taken(tmp_path)
    with leased(tmp_path) as second:
        assert second.number == 2
        assert [path.name for path in tmp_path.iterdir()] == [".lease-2"]


def holder(tmp_path: Path, silent: float = 0.0, **changed: object) -> None:
    """The lease of another process."""
    content = {"token": "x", "pid": os.getpid(), "where": leases._here(), "returned": False} | changed
    path = tmp_path / ".lease-7"
    path.write_text(json.dumps(content))
    os.utime(path, (time.time() - silent, time.time() - silent))


def test_who_is_dead_or_silent_is_succeeded(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for silent, changed in [(0, {"pid": dead.pid}), (61, {}), (61, {"where": "elsewhere 1"}), (0, {"returned": True})]:
        holder(tmp_path, silent, **changed)
        with leased(tmp_path) as lease:
            assert lease.number == 8
        lease.path.unlink()
    for changed in [{"where": "elsewhere 1", "pid": dead.pid}, {"pid": "x"}, {}]:
        holder(tmp_path, 0, **changed)
        with pytest.raises(ValueError, match="is being trained in by another process"):
            leases._taken(tmp_path)


def test_a_file_is_not_put_into_place_by_who_lost_the_lease(tmp_path: Path) -> None:
    with leased(tmp_path) as first:
        write_atomically(tmp_path / "file", b"first", first.check)
        os.utime(first.path, (0, 0))
        with leased(tmp_path) as second:
            with pytest.raises(LeaseLost):
                write_atomically(tmp_path / "file", b"late", first.check)
            write_atomically(tmp_path / "file", b"second", second.check)
        first.renew()
    assert (tmp_path / "file").read_bytes() == b"second"
    assert not list(tmp_path.glob("*.part"))


def test_what_was_nearly_in_place_is_removed_when_it_is_taken_over(tmp_path: Path) -> None:
    with leased(tmp_path) as first:

        def asleep() -> None:
            first.check()
            os.utime(first.path, (0, 0))
            with leased(tmp_path):
                (tmp_path / "file").write_bytes(b"second")

        with pytest.raises(OSError, match="No such file"):
            write_atomically(tmp_path / "file", b"late", asleep)
    assert (tmp_path / "file").read_bytes() == b"second"


@pytest.mark.parametrize("content", ["", "{", "[]", "\xff", '{"pid": 1e400}'])
def test_a_lease_that_says_nothing_is_one_until_it_is_silent(tmp_path: Path, content: str) -> None:
    (tmp_path / ".lease-3").write_text(content)
    (tmp_path / ".lease-x").write_text("mine")
    with pytest.raises(ValueError, match="is being trained in"):
        leases._taken(tmp_path)
    os.utime(tmp_path / ".lease-3", (0, 0))
    with leased(tmp_path) as lease:
        assert lease.number == 4


def test_a_lease_is_never_seen_without_its_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, replace, link = [], os.replace, os.link

    def looking(make: Callable[..., None]) -> Callable[..., None]:
        def looked(old: Path, new: Path) -> None:
            seen.extend(path.read_text() for path in tmp_path.glob(".lease-*"))
            make(old, new)
            seen.extend(path.read_text() for path in tmp_path.glob(".lease-*"))

        return looked

    monkeypatch.setattr(os, "replace", looking(replace))
    monkeypatch.setattr(os, "link", looking(link))
    with leased(tmp_path):
        pass
    assert len(seen) >= 2
    assert all(json.loads(text)["pid"] == os.getpid() for text in seen)


def test_a_lease_from_a_clock_ahead_is_free_after_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".lease-1"
    path.write_text(json.dumps({"token": "a", "pid": 1, "where": "elsewhere 0 0"}))
    os.utime(path, (time.time() + 3600,) * 2)
    with pytest.raises(ValueError, match="last active 0 s ago"), leased(tmp_path):
        pass
    monkeypatch.setattr(leases, "SILENT_AFTER", 0.0)
    with leased(tmp_path) as lease:
        assert lease.number == 2
