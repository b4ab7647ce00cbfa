"""Files that are written beside a training are those that are written in turn."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from modinterp.runs.ongoing import Ongoing
from modinterp.runs.writer import Writer
from modinterp.sources import spec
from modinterp.training import RunSpec, training_states

DEVICES = ["cpu", "cuda"]  # where it trained; what is written lies on the CPU


@pytest.fixture(scope="module")
def specs() -> list[RunSpec]:
    one = spec("nanda/p53-0")
    recipe = replace(one.recipe, epochs=6, log_every=1, snapshot_every=1)
    return [replace(one, seed=seed, recipe=recipe) for seed in range(3)]


def opened(specs: list[RunSpec], folder: Path, leases: ExitStack) -> list[Ongoing]:
    return [Ongoing.open(str(spec.seed), spec, folder / str(spec.seed), leases) for spec in specs]


def test_the_same_files_are_written_beside_a_training(specs: list[RunSpec], tmp_path: Path) -> None:
    for device in DEVICES:
        with ExitStack() as leases, Writer(opened(specs, tmp_path / device, leases), device) as writer:
            assert (writer.pool is None) == (device == "cpu")
            for run, state in training_states(specs, device="cpu"):
                writer.write(run, state, state.epoch == 3)
    in_turn, beside = (
        {path.relative_to(tmp_path / device): path for path in (tmp_path / device).rglob("epoch-*.safetensors")}
        for device in DEVICES
    )
    assert len(in_turn) == 3 * 7
    assert {name: path.read_bytes() for name, path in in_turn.items()} == {
        name: path.read_bytes() for name, path in beside.items()
    }
    names = ("before.safetensors", "state.safetensors", "run.json")
    assert all((tmp_path / "cuda" / seed / name).is_file() for seed in "012" for name in names)


def test_an_error_reaches_the_training(specs: list[RunSpec], tmp_path: Path) -> None:
    with ExitStack() as leases:
        group = opened(specs, tmp_path, leases)
        (tmp_path / "1" / "snapshots").write_text("a file where the folder should be")
        with pytest.raises(OSError, match="snapshots"), Writer(group, "cuda") as writer:  # noqa: PT012
            for run, state in training_states(specs, device="cpu"):
                writer.write(run, state, False)
        assert len(os.listdir(tmp_path / "0" / "snapshots")) < 7
