"""The script under SLURM itself, one machine of it, where the distribution's packages are installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modinterp.commands.runs import main
from modinterp.runs import store

ROOT = Path(__file__).parents[2]
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Runs a command of SLURM, of which one machine with one core is up."""
    daemons = [shutil.which(name, path="/usr/sbin:/usr/local/sbin") for name in ("slurmctld", "slurmd")]
    if None in daemons or os.getuid() != 0:
        pytest.skip("no SLURM here")
    folder = tmp_path / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    host, ports = socket.gethostname(), (free_port(), free_port())
    (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, ports=ports, folder=folder))
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PYTHONPATH": str(ROOT)}
    started = []
    for daemon in daemons:
        with open(folder / f"{len(started)}.log", "w") as log:
            started.append(subprocess.Popen([daemon, "-D"], env=environment, stdout=log, stderr=log))
        time.sleep(1)

    def command(*arguments: str) -> str:
        done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        until(lambda: "idle" in command("sinfo", "--noheader", "--format=%T"))
        yield command
        command("scancel", "--name=modinterp")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=30)


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.5)


def test_an_array_of_jobs_and_one_that_is_stopped(tmp_path: Path, slurm: Callable[..., str]) -> None:
    out, path = tmp_path / "all runs", tmp_path / "train.sh"
    asked = ["--out", str(out), "--together", "3", "--script", str(path), "--device", "cpu"]
    assert main(["sbatch", "circuits/max-[0-2]", *asked, "--epochs", "20"]) == 0
    slurm("sbatch", str(path))
    until(lambda: not slurm("squeue", "--noheader"))
    assert len(store.run_names(out)) == 3, [log.read_text() for log in out.glob("*.log")]
    assert main(["sbatch", "circuits/add-0", *asked]) == 0
    job = slurm("sbatch", "--parsable", str(path)).strip()
    until(lambda: bool(list((out / "circuits/add-0").rglob("epoch-*"))))
    slurm("scancel", "--signal=USR1", "--batch", f"{job}_0")  # what SLURM does when the time is nearly over
    until(lambda: slurm("squeue", "--noheader", "--format=%t %r").split() == ["PD", "BeginTime"])
    assert "Restarts=1" in slurm("scontrol", "show", "job", job)
    assert not (out / "circuits/add-0" / store.RECORD).exists()
