"""Train runs and search hyper-parameters on a Ray cluster, or train runs in several processes of one machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from modinterp.cluster.on_ray import SECONDS_UNTIL_TRIED_AGAIN, carried_out, places
from modinterp.cluster.options import Share
from modinterp.cluster.pieces import Answer, CarriedOut, Piece, Report, processes
from modinterp.runs.lease import RunIsHeld
from modinterp.runs.mps import shared_gpu
from modinterp.runs.ongoing import finished_outcome
from modinterp.runs.same_shape import groups, runs_at_once, unfinished_groups
from modinterp.runs.search import Question, Search, Space
from modinterp.runs.study import carry_out, open_study, result
from modinterp.runs.trainer import STATE_EVERY, check_specs, train
from modinterp.terminal.errors import WorkLost
from modinterp.terminal.progress_bars import progress_bar
from modinterp.training import Outcome, Row, RunSpec, prepare_cpu

SECONDS_BETWEEN_REPORTS = 1.0
_KILLED = (
    "a training process was killed, perhaps for lack of memory; the same command continues from the last "
    "state; with --threads the command starts no other processes"
)
Ended = dict[str, Outcome | str]  # by name of the run: how its training ended, or why it could not be trained


def train_on_cluster(
    ray: Any,
    specs: Mapping[str, RunSpec],
    out: Path,
    device: str,
    share: Share,
    together: int | None = None,
    on_refused: Callable[[str, ValueError], object] = lambda name, error: None,
    repair: bool = False,
    state_every: float = STATE_EVERY,
    seconds_until_tried_again: float = SECONDS_UNTIL_TRIED_AGAIN,
) -> dict[str, Outcome]:
    """Train every spec in `out/NAME` on a Ray cluster. Unfinished runs continue, and finished runs are skipped.

    Each Ray task trains one group of runs whose networks have the same shape. If a machine is lost, another machine
    continues its task from the last state. A group that another process is training is tried again later. A run that
    cannot be trained does not stop the training of other runs.

    Args:
        ray: the connection to Ray, as `modinterp.cluster.on_ray.connected` returns it.
        out: a folder that all machines can read and write under this path.
        device: torch device, `cpu` or `cuda`.
        share: CPU threads and share of a GPU that each group may use.
        together: how many runs whose networks have the same shape train at once; by default 64 on a GPU and 1 on a CPU.
        on_refused: function called at the end with the name of each run that could not be trained, and the reason.
        repair: True to train a run again if its files are damaged and no undamaged state is left.
        state_every: time between two states on disk [s]; a lost machine loses at most this much training.
        seconds_until_tried_again: delay before a run that another process is training is tried again [s].
    Returns:
        map from the name of each trained run to how its training ended.
    Raises:
        ValueError: a name is not a valid run name; a task could not be restored from `run.json`.
    """
    at_once = runs_at_once(device.partition(":")[0], together)

    def on_ray(pieces: list[Piece]) -> Iterator[Answer]:
        return carried_out(ray, pieces, share, RunIsHeld, "run", seconds_until_tried_again)

    return _train_in_pieces(on_ray, specs, out, at_once, (device, share.threads, state_every, repair), on_refused)


def train_in_processes(
    specs: Mapping[str, RunSpec],
    out: Path,
    workers: int,
    together: int | None = None,
    on_refused: Callable[[str, ValueError], object] = lambda name, error: None,
    repair: bool = False,
    device: str = "cpu",
) -> dict[str, Outcome]:
    """Train every spec in `out/NAME` in several processes of this machine, each on one CPU thread.

    Use `train_in_processes` for several runs on a CPU: two processes train twice as many runs as two threads of one
    process. Use `train_in_processes` also for several shapes on a GPU, where a single group leaves most of the GPU
    idle. The trained weights have the same bits for any number of processes. Training with two threads gives weights
    with other bits.

    Args:
        out, together, on_refused, repair: the arguments of `train_on_cluster` with the same names.
        workers: number of processes that train at the same time.
        device: torch device, `cpu` or `cuda`. Processes on a GPU share the GPU through NVIDIA's MPS if it is installed.
    Returns:
        map from the name of each trained run to how its training ended.
    Raises:
        ValueError: a name is not a valid run name; a task could not be restored from `run.json`.
        WorkLost: a process was killed.
    """
    with ExitStack() as stack:
        if device != "cpu":
            stack.enter_context(shared_gpu())
        in_processes = stack.enter_context(processes(workers, __name__))

        def counted(pieces: list[Piece]) -> Iterator[Answer]:
            bar = stack.enter_context(progress_bar(len(specs), "training", "run", len(specs) - len(pieces)))
            for answer in in_processes(pieces):
                bar.update(len(answer.piece.rows))
                yield answer

        at_once, how = runs_at_once(device.partition(":")[0], together), (device, 1, STATE_EVERY, repair)
        try:
            return _train_in_pieces(counted, specs, out, at_once, how, on_refused)
        except WorkLost as error:
            raise WorkLost(_KILLED) from error


def _train_in_pieces(
    carried_out: CarriedOut,
    specs: Mapping[str, RunSpec],
    out: Path,
    at_once: int,
    how: tuple[str, int, float, bool],
    on_refused: Callable[[str, ValueError], object],
) -> dict[str, Outcome]:
    """Train specs in groups, and submit each group as one piece of work.

    Args:
        how: device, threads, time between two states on disk [s], and whether damaged runs are trained anew.
    """
    check_specs(specs)
    out = out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    left = unfinished_groups(specs, at_once, out)
    ended: Ended = {}
    for answer in carried_out([Piece(train_group, (group, out, *how), tuple(group)) for group in left]):
        ended |= answer.value if answer.value is not None else dict.fromkeys(answer.piece.rows, answer.failure)
    outcomes: dict[str, Outcome] = {}
    for name, spec in specs.items():  # what was skipped had ended before
        how_it_ended = ended[name] if name in ended else finished_outcome(out / name, spec)
        if isinstance(how_it_ended, Outcome):
            outcomes[name] = how_it_ended
        else:
            on_refused(name, ValueError(how_it_ended or f"{out / name} holds no finished run"))
    return outcomes


def train_group(
    group: Mapping[str, RunSpec],
    out: Path,
    device: str,
    threads: int,
    state_every: float,
    repair: bool,
    *,
    report: Report,
) -> Ended:
    """Train a group of runs as one computation; if this fails for one run, train each run separately.

    Raises:
        RunIsHeld: another process trains one of the runs.
        ValueError: the folder `out` does not exist on this machine.
    """
    if not out.is_dir():
        raise ValueError(f"a machine of the cluster does not see {out}; choose an --out that all machines share")
    prepare_cpu(threads)

    reported = 0.0

    def watch(rows: Mapping[str, Row]) -> None:
        nonlocal reported
        if time.monotonic() - reported >= SECONDS_BETWEEN_REPORTS:
            report({name: _told(row, group[name].recipe.epochs) for name, row in rows.items()})
            reported = time.monotonic()

    def on_refused(name: str, error: ValueError) -> None:
        if isinstance(error, RunIsHeld):
            raise error
        ended[name] = str(error)

    ended: Ended = {}
    try:
        return ended | train(group, out, device, False, len(group), state_every, repair, on_refused, watch)
    except RunIsHeld:
        raise
    except (ValueError, OSError) as error:
        if len(group) == 1:
            return dict.fromkeys(group, str(error))
    for alone in groups(group, 1):
        ended |= train_group(alone, out, device, threads, state_every, repair, report=report)
    return ended


def _told(row: Row, epochs: int) -> dict[str, str]:
    """Format a row of a training's history for the live progress table, with losses in nats."""
    losses = {f"{part} loss": f"{row[f'{part}_loss']:.2e}" for part in ("train", "test")}
    return {"epoch": f"{int(row['epoch']):,} of {epochs:,}", **losses, "test accuracy": f"{row['test_accuracy']:.3f}"}


def search_on_cluster(
    ray: Any,
    space: Space,
    question: Question,
    n_trials: int,
    journal: Path,
    device: str,
    share: Share,
    say: Callable[[str], object],
) -> Search:
    """Search hyper-parameters on a Ray cluster, with as many parallel workers as fit, and return the result.

    Args:
        ray: the connection to Ray, as `modinterp.cluster.on_ray.connected` returns it.
        journal: path of the study's file on a disk that all machines share.
        share: CPU threads and share of a GPU that each worker may use.
        say: function called with a line of text for each finished trial, and for each worker that failed.
    Raises:
        ValueError: the search is invalid, for the reasons listed in `modinterp.runs.study.carry_out`.
    """
    if n_trials < 1:
        raise ValueError(f"at least 1 trial is needed, got {n_trials}")
    journal = journal.absolute()
    study = open_study(space, question, journal)
    arguments = space, question, n_trials, journal, device, share.threads
    workers = range(min(places(ray, share), n_trials))
    pieces = [Piece(work_on_study, arguments, (f"worker {i}",)) for i in workers]
    for answer in carried_out(ray, pieces, share, RunIsHeld, "worker"):
        for line in answer.value or (f"{answer.piece.rows[0]}: {answer.failure}",):
            say(line)
    return result(space, question, study)


def work_on_study(
    space: Space, question: Question, n_trials: int, journal: Path, device: str, threads: int, *, report: Report
) -> tuple[str, ...]:
    """Run trials of a shared study until the requested number is reached, and return one line of text per trial."""
    if not journal.parent.is_dir():
        raise ValueError(
            f"a machine of the cluster does not see {journal.parent}; choose a --storage that all machines share"
        )
    prepare_cpu(threads)
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        report({f"trial {line.removeprefix('trial ').partition(':')[0]}": {"state": "done", "result": line}})

    carry_out(space, question, n_trials, journal, device, say)
    return tuple(lines) or ("one of the tasks found no trial left to run",)
