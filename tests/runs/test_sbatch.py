"""The script for SLURM: what bash makes of it, what a task does, and what happens when its time is over."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from modinterp.commands.runs import main
from modinterp.runs import store
from modinterp.runs.sbatch import Job, script
from modinterp.sources import specs

NAMES = ["circuits/max-0", "circuits/max-1", "circuits/add-0"]
ROOT = Path(__file__).parents[2]


def written(folder: Path, *more: str) -> Path:
    path = folder / "train.sh"
    asked = [*NAMES, "--out", str(folder / "all runs"), "--together", "2", "--script", str(path)]
    assert main(["sbatch", *asked, *more]) == 0
    return path


def task(path: Path, number: int, **variables: str) -> subprocess.Popen[str]:
    environment = os.environ | {"SLURM_ARRAY_TASK_ID": str(number), "PYTHONPATH": str(ROOT)} | variables
    return subprocess.Popen(["bash", str(path)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)  # fmt: skip


def test_a_task_trains_its_group_and_a_second_submission_the_rest(tmp_path: Path) -> None:
    path = written(tmp_path, "--epochs", "3", "--sbatch=--partition=short")
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
    head = [line for line in path.read_text().splitlines() if line.startswith("#SBATCH ")]
    assert {"#SBATCH --array=0-1", "#SBATCH --requeue", "#SBATCH --partition=short"} <= set(head)
    assert f"#SBATCH --output='{tmp_path}/all runs/slurm-%A_%a.log'" in head
    done = task(path, 1)
    said, _ = done.communicate(timeout=240)
    assert done.returncode == 0, said
    assert store.run_names(tmp_path / "all runs") == ["circuits/max-0", "circuits/max-1"]
    assert "--array=0-0" in written(tmp_path, "--epochs", "3").read_text(), "what is finished is not submitted again"


def test_a_task_whose_time_is_over_goes_back_into_the_queue(tmp_path: Path) -> None:
    """SLURM's signal ends the training, which is resumable, and the task asks to be queued again."""
    path, asked = written(tmp_path), tmp_path / "asked"
    (tmp_path / "scontrol").write_text(f"#!/bin/bash\necho $* > {asked}\n")
    (tmp_path / "scontrol").chmod(0o755)
    running = task(path, 0, SLURM_JOB_ID="17", PATH=f"{tmp_path}:{os.environ['PATH']}")
    out = tmp_path / "all runs"
    while not list(out.rglob("epoch-*")) and running.poll() is None:
        time.sleep(0.1)
    running.send_signal(subprocess.signal.SIGUSR1)
    said, _ = running.communicate(timeout=60)
    assert running.returncode != 0, said
    assert asked.read_text() == "requeue 17\n"
    assert not store.run_names(out)
    assert not list(out.rglob("*.part"))


def test_wrong_options_are_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for options, words in (
        (["--cpus", "0"], "at least 1 core"),
        (["--sbatch=partition"], "begin with a dash"),
        (["--sbatch=--x\nrm"], "is not an option of sbatch"),
        (["--together", "0"], "the number of runs that train at once must be at least 1"),
    ):
        assert main(["sbatch", *NAMES, "--out", str(tmp_path / "out"), *options]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    text = script(specs("circuits/max-0"), tmp_path, Job(gpus=2), folder=tmp_path)
    assert "--gpus-per-task=2" in text
    assert "--device cuda --together 64" in text
