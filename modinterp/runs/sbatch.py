"""Write a SLURM script that trains runs as an array of jobs; each task trains one group of runs of the same shape.

Every task of the array runs the same resumable command. If a task runs out of time or loses its machine, it returns to
the queue and continues from its last state.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from modinterp.runs.same_shape import runs_at_once, unfinished_groups
from modinterp.training import RunSpec

SECONDS_TO_STOP = 120  # before its time is over a task is told to write its state
BODY = """\
# The runs of each task; finished ones are skipped, so that the script can be submitted again.
groups=(
{groups}
)

read -ra names <<< "${{groups[${{SLURM_ARRAY_TASK_ID:-0}}]}}"
cd {folder}
export OMP_NUM_THREADS={cpus}

stopped=
stop() {{ stopped=yes; kill -TERM "$child" 2>/dev/null; }}
trap stop USR1 TERM

{python} -m modinterp.runs train "${{names[@]}}" {options} &
child=$!
while kill -0 "$child" 2>/dev/null; do wait "$child"; done  # a signal ends a wait before the child is over
wait "$child"
code=$?
if [ -n "$stopped" ] && [ "$code" -ne 0 ] && [ -n "${{SLURM_JOB_ID:-}}" ]; then
  scontrol requeue "$SLURM_JOB_ID"  # the same command continues from the last state
fi
exit "$code"
"""


@dataclass(frozen=True)
class Job:
    """Cores, GPUs and time limit of each job of the array.

    Attributes:
        time: time limit of a task in SLURM's format, such as `4:00:00`; after the limit the task returns to the queue.
        cpus, gpus: numbers of CPU cores and of GPUs of a task.
        more: further options for `#SBATCH` lines, such as `--partition=short`.
    """

    time: str = "4:00:00"
    cpus: int = 1
    gpus: int = 0
    more: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.cpus < 1 or self.gpus < 0:
            raise ValueError(
                f"a task needs at least 1 core and at least 0 GPUs, got {self.cpus} cores and {self.gpus} GPUs"
            )
        for text in (self.time, *self.more):
            if not text or not text.isprintable():
                raise ValueError(f"{text!r} is not an option of sbatch")
        if wrong := [text for text in self.more if not text.startswith("-")]:
            raise ValueError(f"options of sbatch must begin with a dash, got {wrong[0]!r}")


def script(
    specs: Mapping[str, RunSpec],
    out: Path,
    job: Job,
    device: str = "auto",
    together: int | None = None,
    epochs: int | None = None,
    repair: bool = False,
    folder: Path | None = None,
) -> str:
    """Return the text of an `sbatch` script, in which each task trains one group of unfinished runs.

    Args:
        specs: map from name to spec; the command `train` must know the runs by the same names.
        out: folder for the runs, on a disk that all machines share under the same path.
        together: how many runs whose networks have the same shape train at once; by default 64 on a GPU and 1 on a CPU.
        epochs, repair: options passed to the command `train`.
        folder: working directory of the tasks; the current directory by default.
    Raises:
        ValueError: all runs are finished, so there is nothing to train.
    """
    kind = device.partition(":")[0] if device != "auto" else "cuda" if job.gpus else "cpu"
    at_once = runs_at_once(kind, together)
    groups = unfinished_groups(specs, at_once, out)
    if not groups:
        raise ValueError(f"all of these runs are finished in {out}")
    options = ["--out", str(out.absolute()), "--device", device if device != "auto" else kind]
    options += ["--together", str(at_once)] + (["--epochs", str(epochs)] if epochs is not None else [])
    options += ["--repair"] if repair else []
    lines = [
        "--job-name=modinterp",
        f"--array=0-{len(groups) - 1}",
        "--requeue",
        "--open-mode=append",
        f"--output={shlex.quote(str(out.absolute()).replace('%', '%%') + '/slurm-%A_%a.log')}",
        f"--time={job.time}",
        f"--cpus-per-task={job.cpus}",
        *([f"--gpus-per-task={job.gpus}"] if job.gpus else []),
        f"--signal=B:USR1@{SECONDS_TO_STOP}",
        *job.more,
    ]
    head = "#!/bin/bash\n" + "".join(f"#SBATCH {line}\n" for line in lines)
    return f"{head}\n" + BODY.format(
        groups="\n".join(f"  {shlex.quote(' '.join(group))}" for group in groups),
        folder=shlex.quote(str((folder or Path.cwd()).absolute())),
        cpus=job.cpus,
        python=shlex.quote(sys.executable),
        options=shlex.join(options),
    )
