"""Several runs on a CPU train in processes of one thread each, and end with the bits of one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from modinterp.commands import runs as command
from modinterp.models import TransformerConfig
from modinterp.runs import store, train
from modinterp.runs.distributed import train_in_processes
from modinterp.tasks import addition
from modinterp.training import OutcomeKind, Recipe, RunSpec

TASK = addition(5)
CONFIG = TransformerConfig.of(TASK, d_model=8, n_heads=1, d_head=8, d_mlp=8)
SWEEP = {f"own/{seed}": RunSpec(TASK, CONFIG, Recipe(epochs=60, log_every=20), seed) for seed in range(3)}


def weights(out: Path) -> list[bytes]:
    return [(out / name / store.FINAL).read_bytes() for name in SWEEP]


def test_runs_of_two_processes_have_the_bits_of_one(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        one_by_one = train(SWEEP, tmp_path / "one", "cpu", progress=False)
    finally:
        torch.set_num_threads(threads)
    first = dict(list(SWEEP.items())[:1])
    assert train_in_processes(first, tmp_path / "two", 2) == {name: one_by_one[name] for name in first}
    assert train_in_processes(SWEEP, tmp_path / "two", 2) == one_by_one
    assert {outcome.kind for outcome in one_by_one.values()} == {OutcomeKind.EPOCHS_OVER}
    assert weights(tmp_path / "two") == weights(tmp_path / "one")


def test_a_run_that_cannot_be_trained_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "1").write_text("in the way")
    refused: dict[str, ValueError] = {}
    ended = train_in_processes(SWEEP, tmp_path, 2, on_refused=refused.__setitem__)
    assert list(refused) == ["own/1"]
    assert list(ended) == ["own/0", "own/2"]


@pytest.mark.parametrize(
    ("more", "in_processes"), [([], True), (["--threads", "1"], False), (["--together", "2"], False)]
)
def test_several_runs_on_a_cpu_take_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: list[str], in_processes: bool
) -> None:
    taken: list[str] = []
    monkeypatch.setattr("modinterp.runs.distributed.train_in_processes", lambda *_: taken.append("processes") or {})
    monkeypatch.setattr("modinterp.runs.train", lambda *_, **__: taken.append("one") or {})
    names = ["nanda/p53-0", "nanda/p53-1", "--out", str(tmp_path), "--device", "cpu"]
    assert command.main(["train", *names, *more]) == 0
    assert taken == ["processes" if in_processes else "one"]
