"""Measure many runs in parallel, each as a piece of work for a local process or a task of a Ray cluster.

A piece of work takes every measurement that a source's claims and figures need from its run. A piece of work returns
the measurements without activations, and the figures that show only this run. The main process then evaluates the
claims on these measurements, and computes the numbers that need several runs together.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from modinterp.cluster.pieces import CarriedOut, Piece, Report
from modinterp.measurements import NetworkMeasurements
from modinterp.reproduce.evidence import Asked, Evidence, asked_of
from modinterp.reproduce.reproduction import Made, claims_matching, measurements_of, run_names
from modinterp.sources import catalogue, source
from modinterp.training import prepare_cpu

WORTH_PROCESSES = 60  # claims asked of networks
Taken = tuple[dict[str, NetworkMeasurements], Evidence, Made, dict[str, str]]
"""Tuple of measurements by run, evidence for single-network claims, figures and tables of single runs, and damaged
runs.
"""


def is_worth_processes(name: str, only: str | None) -> bool:
    """Return True if a source's claims need so many measurements that starting processes, which takes seconds, saves
    time.
    """
    claims = claims_matching(name, only)
    return sum(len(claim.subjects(catalogue())) or len(claim.needs) for claim in claims) >= WORTH_PROCESSES


def measured_in_pieces(
    name: str,
    only: str | None,
    root: Path | str | None,
    device: str,
    threads: int,
    carried_out: CarriedOut,
    recompute: bool = False,
) -> Callable[[], Taken]:
    """Start measuring the available runs of a source in other processes, and return a function that waits for all
    results.

    Args:
        name, only, root, recompute: the arguments of `reproduction`; all processes must see the folder `root` under
            this path.
        device: device of the networks in the other processes; in this process networks stay on the CPU.
        threads: number of CPU threads for each piece of work.
        carried_out: function that runs pieces of work, such as `modinterp.cluster.pieces.processes` returns.
    Returns:
        function that waits for all results; other work can be done before the call. The function leaves out a run that
        could not be measured, such as a damaged run, and lists it with the reason.
    """
    root = root.absolute() if isinstance(root, Path) else root
    claims, about = claims_matching(name, only), source(name)
    damaged: dict[str, str] = {}
    measured = measurements_of(run_names(claims, about), root, "cpu", damaged, recompute)
    evidence, made = Evidence(), Made()
    asked = asked_of(claims, measured, about.controls)
    shown = about.figures_beside({claim.figure for claim in claims})
    drawn_from = {k: f.drawn_from(measured, about.main_run) for k, f in about.drawings.items() if k in shown}
    figures = {run: tuple(key for key, of in drawn_from.items() if of == run) for run in asked}
    largest_first = sorted(asked, key=lambda run: len(asked[run].own) + 2 * len(asked[run].before), reverse=True)
    answers = carried_out(
        [
            Piece(measurements_of_a_run, (name, only, run, asked[run], figures[run], root, device, threads), (run,))
            for run in largest_first  # so that no process is left alone with one of them in the end
        ]
    )

    def taken() -> Taken:
        for answer in answers:
            (run,) = answer.piece.rows
            if answer.failure:
                damaged[run] = answer.failure
                del measured[run]
                continue
            values, found, drawn = answer.value
            vars(measured[run]).update(values)
            evidence.update(found)
            made.update(drawn)
        return measured, evidence, made, damaged

    return taken


def measurements_of_a_run(
    name: str,
    only: str | None,
    run: str,
    asked: Asked,
    figures: tuple[str, ...],
    root: Path | str | None,
    device: str,
    threads: int,
    *,
    report: Report,
) -> tuple[dict[str, Any], Evidence, Made]:
    """Take all measurements of one run for the claims and figures of a source; this is one piece of work.

    Args:
        figures: keys of the figures.
    Returns:
        map from the name of each measured attribute to its value; the numbers of single-network claims; and figures and
        tables that show only this run.
    Raises:
        ValueError: the run is missing on this machine, or damaged.
    """
    prepare_cpu(threads)
    claims, about = claims_matching(name, only), source(name)
    measured, evidence, made = measurements_of([run], root, device), Evidence(), Made()
    if not measured:
        raise ValueError("a machine of the cluster does not have the run; choose a --runs that all machines share")
    m = measured[run]
    report({run: {"claim": f"{len(asked.own)} claims"}})
    for key in figures:
        drawing = about.drawings[key]
        report({run: {"claim": drawing.number}})
        made[key, run] = drawing.figure(measured, run), drawing.made_table(measured, run)
    evidence.add(claims, asked, m)  # last, since it forgets the activations
    return m.taken, evidence, made
