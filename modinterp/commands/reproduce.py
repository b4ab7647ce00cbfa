"""`modinterp reproduce SOURCE` measures every claim of a source, prints one table, and writes one page."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from modinterp.cluster.cores import free_cores, set_threads
from modinterp.cluster.options import add_cluster_arguments, check_cluster_arguments
from modinterp.files import folder_name, writable_folder
from modinterp.lazy import staying
from modinterp.sources import of_each, sources
from modinterp.terminal.errors import BAD_USAGE, one_line_errors, tell_error
from modinterp.terminal.parser import Parser, folder
from modinterp.terminal.progress_bars import progress_bar

if TYPE_CHECKING:
    from modinterp.cluster.pieces import Answer, Piece
    from modinterp.reproduce import ensemble
    from modinterp.reproduce.index import IndexEntry
    from modinterp.tasks import Task

    Taken = Callable[[], ensemble.Taken | tuple[()]]

ALL = "all"


def _parser(prog: str) -> Parser:
    lines = (f"  {source.name:<10} {source.title} ({source.citation})" for source in sources().values())
    about = "\n".join(fill(line, 110, subsequent_indent=13 * " ") for line in lines)
    first = next(iter(sources()))
    parser = Parser(
        prog=prog,
        description=f"""Measure every claim of a source on trained networks.

Prints one table. Writes claims.json, claims.csv, contradictions.csv, tables/, and index.html with all figures.

Sources:

{about}""",
        epilog=f"""examples:
  %(prog)s {first:<24} every claim of one source
  %(prog)s all --out mine           every source, and an index of them
  %(prog)s {first} --only 'fig7.*'   some claims; --list shows their ids
  %(prog)s {first} --checkpoint model.pt
  %(prog)s SOURCE --checkpoint model.pt --as SOURCE/RUN   your network replaces that run

exit code: 0 when every verdict is the recorded one, 1 when one differs (with --recompute: when
networks with weights contradict one). 2 on bad usage, or if a damaged run was left out. 3 when a
process was killed, or on an error of modinterp. 130 after Ctrl-C; finished reports stay.
With --checkpoint: 1 when a claim about networks is refuted, 0 when no claim is.""",
    )
    parser.add_argument("source", choices=[*sources(), ALL], metavar="SOURCE", help="a source, or all for every source")
    parser.add_argument("--only", metavar="GLOB", help="only claims whose id matches, such as 'fig7.*' (default: all)")
    parser.add_argument("--runs", metavar="DIR", help="measure the runs in DIR, laid out like checkpoints/, or in "
                        "hf://OWNER/REPO@REVISION on the Hub (default: checkpoints/)")  # fmt: skip
    parser.add_argument("--checkpoint", metavar="FILE", type=Path,
                        help="measure your network (.safetensors, .pt, .pth, .ckpt, .bin) in place of a run; "
                        "claims about training are skipped")  # fmt: skip
    parser.add_argument("--as", dest="stands_for", metavar="RUN",
                        help="with --checkpoint: the run that FILE replaces, with its task and forward pass "
                        "(default: the source's main run)")  # fmt: skip
    parser.add_argument("--group", metavar="GROUP",
                        help="with --checkpoint: the group of FILE, such as D59, or a CSV file with its "
                        "table (default: the group of the run)")  # fmt: skip
    parser.add_argument("--elements", metavar="FILE", type=Path,
                        help="with --group: a file of its elements, one on each line, in the order of their tokens "
                        "(default: sorted)")  # fmt: skip
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=folder,
        help="folder for the report (default: reports/SOURCE; reports/ for all; a folder below reports/SOURCE "
        "with --only, --checkpoint or --runs)",
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    parser.add_argument("--workers", metavar="N", type=int,
                        help="number of processes (default: one per free core)")  # fmt: skip
    parser.add_argument("--recompute", action="store_true",
                        help="measure all networks from their weights, and leave out networks without "
                            "weights")  # fmt: skip
    parser.add_argument(
        "--list", action="store_true", help=("list the claims with their recorded verdicts, and measure nothing")
    )
    add_cluster_arguments(parser, "a run")
    return parser


def _folder(options: argparse.Namespace) -> Path:
    """Where to write: what is asked of a part, or of somebody's network, leaves the whole report as it is."""
    if options.out is not None:
        return options.out
    whole = Path("reports") if options.source == ALL else Path("reports") / options.source
    of = options.checkpoint or options.runs
    part = folder_name(Path(of)) if of else ""
    return whole / part / ("recomputed" if options.recompute else "") / ("only" if options.only else "")


def _names(options: argparse.Namespace) -> tuple[str, ...]:
    """The source that is asked for, or all that have a claim which fits the pattern."""
    if options.source != ALL:
        return (options.source,)
    found = of_each(lambda source: (source.matching(options.only or "*"), source.drawings))
    names = tuple(name for name, (claims, _) in found.items() if claims or options.only is None)
    if not names:
        raise ValueError(f"no claim of any source matches {options.only!r}; --list shows all ids")
    return names


def _list(name: str, only: str | None) -> None:
    from modinterp.reproduce.reproduction import claims_matching

    for claim in claims_matching(name, only):
        print(f"{claim.id:<32} {claim.finding.verdict:<13} {claim.where:<36} {claim.statement}")


def _task(name: str, options: argparse.Namespace) -> Task | None:
    """What a checkpoint was trained on, where it is another group than that of the run whose place it takes."""
    from modinterp.reproduce.reproduction import spec_of
    from modinterp.sources import source
    from modinterp.tasks.group import Group, elements_in

    task = spec_of(source(name), options.stands_for).task
    if options.group is None:
        return None
    if not isinstance(task, Group):
        raise ValueError(f"--group is for networks that compose group elements; this run learned {task.name}")
    elements = () if options.elements is None else elements_in(options.elements)
    return replace(Group.of(options.group, elements), equals=task.equals)


def _check_runs(names: tuple[str, ...], options: argparse.Namespace) -> None:
    """Raises ValueError where not one of the runs that the claims ask for is there.

    Of several sources one will do: what the others need is pending, and their mathematics is measured.
    """
    from modinterp.reproduce.reproduction import claims_matching
    from modinterp.sources.named_runs import how_to_have_checkpoints, is_there

    needed = {run for name in names for claim in claims_matching(name, options.only) for run in claim.needs}
    if not needed or any(is_there(run, options.runs) for run in needed):
        return
    if options.runs:
        raise ValueError(f"none of the runs that these claims of {', '.join(names)} ask for is in {options.runs}")
    raise ValueError(how_to_have_checkpoints(names[0]))


def _reproduced(name: str, options: argparse.Namespace, device: str, taken: Taken) -> tuple[IndexEntry, int]:
    """Measure a source, write its report and print its table.

    Args:
        taken: waits for what is measured elsewhere.
    Returns:
        what the index of all sources says of it, and the exit code. Activations and figures take
        gigabytes, and are let go when this returns.
    """
    from modinterp.reproduce.index import index_entry
    from modinterp.reproduce.report import summary, terminal_table, write_report
    from modinterp.reproduce.reproduction import claims_matching, reproduction, reproduction_on

    began, claims = time.perf_counter(), claims_matching(name, options.only)
    out = _folder(options) / name if options.source == ALL else _folder(options)
    writable_folder(out)
    with progress_bar(len(claims), name, "claim", leave=False) as bar:
        if options.checkpoint is not None:
            reproduced = reproduction_on(
                name,
                options.checkpoint,
                options.only,
                device,
                lambda _: bar.update(),
                options.stands_for,
                _task(name, options),
            )
        else:
            reproduced = reproduction(
                name,
                options.only,
                options.runs,
                device,
                lambda _: bar.update(),
                *taken(),
                recompute=options.recompute,
            )
    path = write_report(reproduced, out, inside=options.source == ALL)
    print(terminal_table(reproduced.results))
    print("\n".join(summary(reproduced, options.checkpoint, time.perf_counter() - began)))
    print(f"report: {path}")
    for run, reason in reproduced.damaged.items():
        tell_error(ValueError(f"{run} is left out: {reason}; `git restore` restores a damaged file of a checkout"))
    code = BAD_USAGE if reproduced.damaged else int(not reproduced.as_expected)
    return index_entry(reproduced), code


def _workers(names: tuple[str, ...], options: argparse.Namespace, device: str) -> int:
    """How many processes of this machine measure; 1 where that is this one, or others do."""
    if device != "cpu" or options.on or options.checkpoint is not None:
        return 1
    if options.only is not None:  # all claims of a source are worth processes: nothing need be imported to see that
        from modinterp.reproduce.ensemble import is_worth_processes

        if not any(is_worth_processes(name, options.only) for name in names):
            return 1
    return options.workers or free_cores()


@contextmanager
def _elsewhere(names: tuple[str, ...], options: argparse.Namespace, workers: int) -> Iterator[Callable[[str], Taken]]:
    """How measurements of a source's runs are begun: on a cluster, in several processes, or not before they are asked.

    Of a source's name it gives what waits for them; () where this process is to measure.
    """
    if options.on:
        from modinterp.cluster.on_ray import asked_for, carried_out
        from modinterp.reproduce.ensemble import measured_in_pieces
        from modinterp.runs.lease import RunIsHeld

        with asked_for(options) as (ray, device, share):

            def on_ray(pieces: list[Piece]) -> Iterator[Answer]:
                return carried_out(ray, pieces, share, RunIsHeld, "run")

            yield lambda name: measured_in_pieces(
                name, options.only, options.runs, device, share.threads, on_ray, options.recompute
            )
    elif workers == 1:
        yield lambda _: tuple
    else:
        from modinterp.cluster.pieces import processes

        packages = (sources()[name].package for name in names)
        with processes(workers, "modinterp.reproduce.ensemble", *packages) as in_processes:

            def begun(name: str) -> Taken:
                from modinterp.reproduce.ensemble import is_worth_processes, measured_in_pieces

                if not is_worth_processes(name, options.only):
                    return tuple
                return measured_in_pieces(name, options.only, options.runs, "cpu", 1, in_processes, options.recompute)

            yield begun


def _all_reproduced(
    names: tuple[str, ...], options: argparse.Namespace, device: str, begun: Callable[[str], Taken]
) -> Iterator[tuple[IndexEntry, int]]:
    """Each source in turn; what is measured elsewhere of the next is begun before one is judged, drawn and written."""
    ahead = begun(names[0])
    for name, following in zip_longest(names, names[1:]):
        taken, ahead = ahead, begun(following) if following else tuple
        yield _reproduced(name, options, device, taken)


@one_line_errors("stopped")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.reproduce") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options = _parser(prog).parse_args(arguments)
    if options.only == "":
        raise ValueError("--only '' matches no claim; leave --only out to measure all claims")
    if options.runs is not None:
        from modinterp.runs.hub import is_address, root

        options.runs = root(options.runs)
        if not is_address(options.runs) and not options.runs.is_dir():
            raise ValueError(f"--runs {options.runs} is not a folder; name a folder with runs, such as trained")
    if options.checkpoint is not None and (options.runs is not None or options.source == ALL or options.recompute):
        raise ValueError(
            "--checkpoint measures one network on one source; name one source, and leave out --runs and --recompute"
        )
    for needed, what in (("checkpoint", "stands_for"), ("checkpoint", "group"), ("group", "elements")):
        if getattr(options, what) is not None and getattr(options, needed) is None:
            value = needed.replace("checkpoint", "FILE").replace("group", "GROUP")
            raise ValueError(f"--{what.replace('stands_for', 'as')} belongs to --{needed}; add --{needed} {value}")
    check_cluster_arguments(options)
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers must be a whole number of at least 1, got {options.workers}")
    if options.checkpoint is not None and options.on:
        raise ValueError("--checkpoint measures one network, and --on ray is for several runs; leave one of them out")
    names = _names(options)
    if options.list:
        for name in names:
            _list(name, options.only)
        return 0
    device = "cpu" if options.on else options.device
    if device != "cpu":
        from modinterp.training import resolved_device

        device = str(resolved_device(device))
    workers = _workers(names, options, device)
    is_own_process = arguments is None
    with _elsewhere(names, options, workers) as begun:
        with staying(is_own_process):  # beside the server that processes are forked from
            from modinterp.reproduce.report import write_index
            from modinterp.training import prepare_cpu

        if is_own_process:
            prepare_cpu()
            set_threads(1 if workers > 1 and options.source == ALL else None)  # the next source keeps all cores busy
        if options.checkpoint is None:
            _check_runs(names, options)
        entries, codes = zip(*_all_reproduced(names, options, device, begun), strict=True)
    if options.source == ALL:
        print(f"all sources: {write_index(entries, _folder(options))}")
    return max(codes)
