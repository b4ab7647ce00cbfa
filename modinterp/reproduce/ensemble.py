"""Measurements of many runs at once: a run a piece of work, for a process of this machine or a task of a cluster.

A piece takes from its run every measurement that a source's claims and figures need. The measurements return without
activations, and with the figures that show only this run. The code for one process then evaluates the claims on these
measurements, and adds the numbers that a claim needs from several runs together.
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
"""Measurements of runs by name, what claims about one network measured, figures and tables of one run, damaged runs."""


def is_worth_processes(name: str, only: str | None) -> bool:
    """True if a source's claims need so many measurements that starting processes, which takes seconds, saves time."""
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
    """Measurements of the runs of a source that are there, each taken elsewhere.

    Args:
        name, only, root, recompute: as in `reproduction`; every process sees the folder under this path.
        device: where networks run elsewhere; here they stay on the CPU.
        threads: how many a piece computes on.
        carried_out: what becomes of pieces of work, such as `modinterp.cluster.pieces.processes` gives.
    Returns:
        what waits for all of them; other work can be done before it is called. A run that could not be measured, such
        as a damaged run, is left out and named with the reason.
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
    """One piece of work: all measurements of one run for the claims and figures of a source.

    Args:
        figures: keys of these figures.
    Returns:
        name of an attribute of the measurements to its value, the numbers of claims about one network, and figures and
        tables of this run alone.
    Raises:
        ValueError: this machine does not have the run, or it is damaged.
    """
    prepare_cpu(threads)
    claims, about = claims_matching(name, only), source(name)
    measured, evidence, made = measurements_of([run], root, device), Evidence(), Made()
    if not measured:
        raise ValueError("a machine of the cluster does not have it; choose a --runs that all of them share")
    m = measured[run]
    report({run: {"claim": f"{len(asked.own)} claims"}})
    for key in figures:
        drawing = about.drawings[key]
        report({run: {"claim": drawing.number}})
        made[key, run] = drawing.figure(measured, run), drawing.made_table(measured, run)
    evidence.add(claims, asked, m)  # last, since it forgets the activations
    return m.taken, evidence, made
