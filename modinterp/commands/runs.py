"""`modinterp runs COMMAND` lists, trains, watches and checks runs, writes Slurm scripts, and tunes hyper-parameters."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from math import prod
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from modinterp.cluster.cores import free_cores, set_threads
from modinterp.cluster.options import check_cluster_arguments
from modinterp.commands.runs_options import (
    check_arguments,
    list_arguments,
    sbatch_arguments,
    search_arguments,
    train_arguments,
    watch_arguments,
)
from modinterp.files import writable_folder, write_atomically
from modinterp.sources import of_each, sources
from modinterp.terminal.errors import BAD_USAGE, one_line_errors, tell_error
from modinterp.terminal.parser import Parser
from modinterp.terminal.suggestions import suggestion

if TYPE_CHECKING:
    from modinterp.training import RunSpec

WIDTH_OF_CLAIMS, ALL_READ = 100, "; without a name, the command reads all runs"


def _parser(prog: str) -> Parser:
    main_run = next(iter(sources().values())).main_run
    family = main_run.partition("/")[0]
    parser = Parser(
        prog=prog,
        description="List the runs of all sources, train some, check their files, or search for hyper-parameters.",
        epilog=f"""examples:
  %(prog)s list '{family}/*'
  %(prog)s train {main_run}
  %(prog)s train --help

exit code: 0 when all is done, 1 when a loss did not stay finite, 2 on bad usage or a run that cannot be trained, 130
after Ctrl-C, 143 after SIGTERM.""",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    list_arguments(commands.add_parser(
        "list", help="list runs, whether each is trained, and which claims need it",
        description="List runs with task, shape, epochs, seed, and the claims and figures that need them.\n"
        "Says whether a run is trained, or about how long its training takes here. "
        "A single run is shown with all details.",
        epilog=f"""examples:
  %(prog)s
  %(prog)s '{family}/*' --runs trained
  %(prog)s {main_run}""",
    ))  # fmt: skip
    train_arguments(commands.add_parser(
        "train", help="train runs of the sources, or continue them",
        description="""Train runs of the sources; runs of one shape train together.

You can stop the training at any moment: the same command continues it, and ends with the same bits.""",
        epilog=f"""examples:
  %(prog)s {main_run} --epochs 10000
  %(prog)s '{family}/*' --device cuda --out mine
  %(prog)s '*' --on ray --address auto --out /shared/trained""",
    ))  # fmt: skip
    watch_arguments(commands.add_parser(
        "watch", help="draw a running training on a page that updates itself",
        description="""Draw the losses, accuracies, spectra and progress measures of a training as they form.

Reads the files of a training that runs in another process, and ends with the training. The page opens from disk.""",
        epilog=f"""examples:
  %(prog)s {main_run}
  %(prog)s {main_run} --runs mine --out page""",
    ))  # fmt: skip
    sbatch_arguments(commands.add_parser(
        "sbatch", help="write a script that trains runs under SLURM",
        description="""Write a script for SLURM's sbatch: an array of jobs, each training a group of runs of one shape.

A job that reaches its time limit, or loses its machine, queues again and continues from its last state.""",
        epilog=f"""examples:
  %(prog)s '{family}/*' --out /shared/trained --script train.sh && sbatch train.sh
  %(prog)s '*' --gpus 1 --time 8:00:00 --sbatch=--partition=short""",
    ))  # fmt: skip
    check_arguments(commands.add_parser(
        "check", help="read every file of runs, and list the damaged ones",
        description="Read every file of runs, finished or in training, and compare it with its checksum.",
        epilog=f"""examples:
  %(prog)s
  %(prog)s '{family}/*' --runs trained

exit code: 0 when all files are whole, 1 when a file is damaged, 2 on bad usage.""",
    ))  # fmt: skip
    searchable = [name for name, has in of_each(lambda source: source.has_search).items() if has]
    search_arguments(commands.add_parser(
        "search", help="search for hyper-parameters, or continue a search",
        description="""Search for hyper-parameters with Optuna (pip install -e '.[search]').

You can stop the search: the same command continues it. Several processes or machines share a study by --storage.""",
        epilog=f"""examples:
  %(prog)s {searchable[0]} --p 23 --trials 24
  %(prog)s {searchable[0]} --storage /shared/study.journal""",
    ), searchable)  # fmt: skip
    return parser


def _list(patterns: list[str], where: str | None) -> None:
    """One line a run of the sources, then one for each other run in the folder."""
    from modinterp.runs import hub, store
    from modinterp.sources import catalogue, specs
    from modinterp.sources.named_runs import roots
    from modinterp.training import RunSpec
    from modinterp.training.speed import rate_of_products

    rate = cache(rate_of_products)  # where a run is pending

    @cache
    def at_hand(place: hub.Root) -> Path:
        if where is None and isinstance(place, Path):  # the folder of a source may not be there
            return place
        return hub.local(place, f"*/{store.RECORD}")

    def folders(name: str = "") -> list[Path]:
        return [at_hand(place) for place in ([hub.root(where)] if where else roots(name))]

    others = {name: folder / name for folder in folders() for name in store.run_names(folder)}
    others = {n: f for n, f in others.items() if n not in catalogue() and any(fnmatch.fnmatch(n, p) for p in patterns)}
    known = [p for p in patterns if fnmatch.filter(catalogue(), p) or not fnmatch.filter(others, p)]
    own = {name: RunSpec.from_json(store.read_record(folder)["spec"]) for name, folder in others.items()}
    listed = {**(specs(*known) if known else {}), **own}
    rows = [("run", "task", "shape", "epochs", "seed", "state", "weights", "needed by")]
    for name, spec in listed.items():
        mebibytes = 4 * sum(prod(shape) for shape in spec.model.shapes().values()) / 2**20
        needed_by = _needed_by(name)
        if len(listed) > 1:
            needed_by = shorten(needed_by, WIDTH_OF_CLAIMS, placeholder=" …")
        task = shorten(spec.task.name, 44, placeholder=" …")
        state = _state([f / name for f in folders(name)]) or _pending(spec, rate())
        sizes = (f"{spec.recipe.epochs:,}", str(spec.seed), state, f"{mebibytes:.1f} MiB")
        rows.append((name, task, spec.model.summary, *sizes, needed_by))
    *widths, _ = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for *cells, needed_by in rows:
        print("  ".join([*map(str.ljust, cells, widths), needed_by]).rstrip())


def _state(folders: list[Path]) -> str:
    """With what a run lies in one of some folders; empty where it lies in none."""
    from modinterp.runs import store

    folder = next((folder for folder in folders if (folder / store.RECORD).is_file()), None)
    if folder is None:
        return ""
    if [path.name for path in folder.iterdir()] == [store.RECORD]:
        return "trained, on the Hub"
    trained = f"trained, {store.size(folder) / 2**20:.1f} MiB"
    return trained if (folder / store.FINAL).is_file() else f"{trained}, tables alone"


def _pending(spec: RunSpec, rate: float) -> str:
    """What a run would cost that is not trained; `rate` is the machine's for products. [FLOP/s]"""
    from modinterp.training.speed import expected_seconds

    return f"pending, {expected_seconds([spec], rate) * spec.recipe.epochs / 60:,.0f} min"


def _needed_by(run: str) -> str:
    """How many claims are measured on a run, their ids, and the figures that show it."""
    from modinterp.sources import claims_of
    from modinterp.sources.registry import figures_of

    claims, figures = claims_of(run), figures_of(run)
    parts = [f"{len(claims)} claim{'s' * (len(claims) != 1)}: {' '.join(claims)}"] if claims else []
    return "; ".join([*parts, *(["; ".join(figures)] if figures else [])])


def _train(options: argparse.Namespace) -> int:
    """Train; the exit code: 1 where a run did not end with finite weights, 2 where one could not be trained."""
    from modinterp.training import OutcomeKind, prepare_cpu

    prepare_cpu()
    if options.threads is not None:
        set_threads(options.threads)
    from modinterp.runs import train

    chosen, out = _chosen(options), writable_folder(options.out)
    refused: list[str] = []

    def on_refused(name: str, error: ValueError) -> None:
        refused.append(name)
        tell_error(error)

    if options.on is None and options.threads is None and (workers := _workers(chosen, options)):
        from modinterp.runs.distributed import train_in_processes
        from modinterp.training import resolved_device

        outcomes = train_in_processes(chosen, out, workers, options.together, on_refused, options.repair,
                                      str(resolved_device(options.device)))  # fmt: skip
    elif options.on is None:
        outcomes = train(chosen, out, options.device, together=options.together, repair=options.repair,
                         on_refused=on_refused)  # fmt: skip
    else:
        from modinterp.cluster.on_ray import asked_for
        from modinterp.runs.distributed import train_on_cluster

        with asked_for(options) as (ray, device, share):
            outcomes = train_on_cluster(ray, chosen, out, device, share, options.together, on_refused, options.repair)
    for name, outcome in outcomes.items():
        print(f"{out / name}: {outcome}")
    if refused:
        return BAD_USAGE
    return int(any(outcome.kind is OutcomeKind.NOT_FINITE for outcome in outcomes.values()))


def _workers(chosen: Mapping[str, RunSpec], options: argparse.Namespace) -> int:
    """How many processes train, one a group of runs of one shape and at most one a free core; 0 for a single group."""
    from modinterp.runs.same_shape import PROCESSES_ON_GPU, groups, runs_at_once
    from modinterp.training import resolved_device

    kind = resolved_device(options.device).type
    pieces = len(groups(chosen, runs_at_once(kind, options.together)))
    return min(pieces, free_cores(), PROCESSES_ON_GPU if kind == "cuda" else pieces) if pieces > 1 else 0


def _watch(options: argparse.Namespace) -> None:
    from modinterp.pages.watched import watch

    out = writable_folder(options.out or Path("reports/watch") / options.name)
    for line in watch(options.name, options.runs, out, options.every, options.once):
        print(line, flush=True)


def _sbatch(options: argparse.Namespace) -> None:
    from modinterp.runs.sbatch import Job, script

    job = Job(options.time, options.cpus, options.gpus, options.sbatch)
    out = writable_folder(options.out)
    text = script(_chosen(options), out, job, options.device, options.together, options.epochs, options.repair)
    out.mkdir(parents=True, exist_ok=True)  # the logs go there
    if options.script is None:
        print(text, end="")
    else:
        write_atomically(options.script, text.encode())
        print(f"{options.script}: submit it with `sbatch {options.script}`")


def _chosen(options: argparse.Namespace) -> dict[str, RunSpec]:
    """What the runs that are asked for are trained from, for as many epochs as are asked for."""
    from modinterp.sources import specs

    chosen = specs(*options.names)
    if options.epochs is None:
        return chosen
    return {name: replace(s, recipe=replace(s.recipe, epochs=options.epochs)) for name, s in chosen.items()}


def _check(patterns: list[str], root: Path | None) -> int:
    """Check runs and print what was found; the exit code."""
    from modinterp.runs import store
    from modinterp.runs.check import checked, lines, names_of_all

    where = root or store.checkpoints()
    if not where.is_dir():
        raise ValueError(f"{where} is not a folder")
    there = names_of_all(where)
    names = [name for name in there if any(fnmatch.fnmatchcase(name, x) for x in patterns)]
    for pattern in (x for x in patterns if x != "*" and not fnmatch.filter(there, x)):
        raise ValueError(f"no run in {where} matches {pattern!r}{suggestion(pattern, there) or ALL_READ}")
    found = [checked(name, where) for name in names]
    for line in lines(found):
        print(line)
    return int(any(run.damages for run in found))


def _search(options: argparse.Namespace) -> None:
    from modinterp.training import prepare_cpu

    prepare_cpu()
    from modinterp.runs import search
    from modinterp.runs.study import carry_out
    from modinterp.sources import source

    out = options.out or Path("trained") / options.source / f"search-p{options.p}"
    space, question = source(options.source).search.SPACE, search.Question(options.p, options.epochs, options.seed)
    say, journal = partial(print, flush=True), options.storage or out / "study.journal"
    if options.on is None:
        result = carry_out(space, question, options.trials, journal, options.device, say)
    else:
        from modinterp.cluster.on_ray import asked_for
        from modinterp.runs.distributed import search_on_cluster

        with asked_for(options) as (ray, device, share):
            result = search_on_cluster(ray, space, question, options.trials, journal, device, share, say)
    if not len(result.trials):
        return
    search.write(result, out)
    print(f"{out / search.TRIALS}: {len(result.trials)} trials; how much each parameter distinguishes the best:")
    for name, share in result.importances.items():
        print(f"  {name:<14} {share:.2f}")


@one_line_errors("stopped; the same command continues from the last snapshot")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.runs") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options = _parser(prog).parse_args(arguments)
    if options.command == "list":
        _list(options.names, options.runs)
        return 0
    if options.command == "watch":
        _watch(options)
        return 0
    if options.command == "sbatch":
        _sbatch(options)
        return 0
    if options.command == "check":
        return _check(options.names, options.runs)
    check_cluster_arguments(options)
    if options.command == "search":
        _search(options)
        return 0
    return _train(options)
