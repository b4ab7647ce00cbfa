"""`python -m modinterp.runs list | train NAME ... | search SOURCE`: what there is to train, training it, tuning it."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from textwrap import shorten

from modinterp.files import writable_folder
from modinterp.sources import sources
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser

DEVICE = {"default": "auto", "help": "cpu, cuda, or auto for the GPU if there is one (default: auto)"}
WIDTH_OF_CLAIMS = 100


def _parser() -> Parser:
    main_run = next(iter(sources().values())).main_run
    family = main_run.partition("/")[0]
    parser = Parser(
        prog="python -m modinterp.runs",
        description="List the runs of all sources, train some of them, or search for better hyper-parameters.",
        epilog=f"""examples:
  python -m modinterp.runs list '{family}/*'
  python -m modinterp.runs train {main_run}
  python -m modinterp.runs train --help

exit code: 0 when all is done, 1 when a loss did not stay finite, 2 on bad usage, 130 after Ctrl-C.""",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _list_arguments(commands.add_parser(
        "list", help="every run, whether it is trained, and what needs it",
        description="List runs: task, shape, epochs, seed, whether it is trained, size of the weights,\n"
        "and the claims and figures that need it; all of these where one run is listed.",
        epilog=f"""examples:
  python -m modinterp.runs list
  python -m modinterp.runs list '{family}/*' --runs trained
  python -m modinterp.runs list {main_run}""",
    ))  # fmt: skip
    _train_arguments(commands.add_parser(
        "train", help="train runs of the sources, going on with what was begun",
        description="""Train runs of the sources, those of one shape together.

Stop it at any moment: the same command goes on from the last state, and ends with the same bits.""",
        epilog=f"""examples:
  python -m modinterp.runs train {main_run} --epochs 10000
  python -m modinterp.runs train '{family}/*' --device cuda --out mine""",
    ))  # fmt: skip
    searchable = [name for name, source in sources().items() if source.has_search]
    _search_arguments(commands.add_parser(
        "search", help="search for hyper-parameters, going on with what was begun",
        description="""Search for hyper-parameters with Optuna (pip install -e '.[search]').

Stop it at any moment: the same command goes on. Several processes or machines share a study that has one --storage.""",
        epilog=f"""examples:
  python -m modinterp.runs search {searchable[0]} --p 23 --trials 24
  python -m modinterp.runs search {searchable[0]} --storage /shared/study.journal""",
    ), searchable)  # fmt: skip
    return parser


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", default=["*"],
                        help="runs, or patterns such as 'SOURCE/*' (default: all)")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", type=Path, help="folder to look in (default: checkpoints/)")


def _train_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="+",
                        help="a run, or a pattern such as 'SOURCE/*' or '*'")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("trained"),
                        help="where to write (default: trained/)")  # fmt: skip
    parser.add_argument("--device", **DEVICE)
    parser.add_argument("--together", metavar="N", type=int, help="how many runs of one shape train at once "
                        "(default: 64 on a GPU, 1 on a CPU)")  # fmt: skip
    parser.add_argument("--epochs", metavar="N", type=int,
                        help="stop earlier or go on longer than the source says (default: as it says)")  # fmt: skip


def _search_arguments(parser: argparse.ArgumentParser, searchable: list[str]) -> None:
    parser.add_argument("source", choices=searchable, help="the source whose space is searched")
    parser.add_argument("--p", metavar="P", type=int, default=23, help="modulus of the task (default: 23)")
    parser.add_argument("--trials", metavar="N", type=int, default=24,
                        help="of the study in all, those that are done included (default: 24)")  # fmt: skip
    parser.add_argument("--epochs", metavar="E", type=int, default=4096, help="of each trial (default: 4096)")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="of networks and choices (default: 0)")
    parser.add_argument("--storage", metavar="FILE", type=Path, help="the study's journal, which processes and "
                        "machines may share (default: study.journal in the folder of --out)")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=Path, help="where to write (default: trained/SOURCE/search-pP)")
    parser.add_argument("--device", **DEVICE)


def _list(patterns: list[str], root: Path | None) -> None:
    """One line a run of the sources, then one for each other run in the folder."""
    from modinterp.runs import store
    from modinterp.sources import catalogue, specs
    from modinterp.sources.loading import roots
    from modinterp.training import RunSpec

    where = root or store.checkpoints()
    if not where.is_dir():
        raise ValueError(f"{where} is not a folder")
    others = [name for name in store.run_names(where) if name not in catalogue()]
    others = [name for name in others if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
    known = [p for p in patterns if fnmatch.filter(catalogue(), p) or not fnmatch.filter(others, p)]
    own = {name: RunSpec.from_json(store.read_record(where / name)["spec"]) for name in others}
    listed = {**(specs(*known) if known else {}), **own}
    rows = [("run", "task", "shape", "epochs", "seed", "state", "weights", "needed by")]
    for name, spec in listed.items():
        folders = [root / name] if root else [folder / name for folder in roots(name)]
        mebibytes = 4 * sum(prod(shape) for shape in spec.model.shapes().values()) / 2**20
        needed_by = _needed_by(name)
        if len(listed) > 1:
            needed_by = shorten(needed_by, WIDTH_OF_CLAIMS, placeholder=" …")
        task = shorten(spec.task.name, 44, placeholder=" …")
        sizes = (f"{spec.recipe.epochs:,}", str(spec.seed), _state(folders), f"{mebibytes:.1f} MiB")
        rows.append((name, task, spec.model.summary, *sizes, needed_by))
    *widths, _ = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for *cells, needed_by in rows:
        print("  ".join([*map(str.ljust, cells, widths), needed_by]).rstrip())


def _state(folders: list[Path]) -> str:
    """Whether a run lies in one of some folders, and with what."""
    from modinterp.runs import store

    folder = next((folder for folder in folders if (folder / store.RECORD).is_file()), None)
    if folder is None:
        return "pending"
    trained = f"trained, {store.size(folder) / 2**20:.1f} MiB"
    return trained if (folder / store.FINAL).is_file() else f"{trained}, tables alone"


def _needed_by(run: str) -> str:
    """How many claims are measured on a run, their ids, and the figures that show it."""
    from modinterp.sources import claims_of
    from modinterp.sources.registry import figures_of

    claims, figures = claims_of(run), figures_of(run)
    parts = [f"{len(claims)} claim{'s' * (len(claims) != 1)}: {' '.join(claims)}"] if claims else []
    return "; ".join([*parts, *(["; ".join(figures)] if figures else [])])


def _train(options: argparse.Namespace) -> bool:
    """Train; whether every run ended with finite weights."""
    from modinterp.training import OutcomeKind, prepare_cpu

    prepare_cpu()
    from modinterp.runs import train
    from modinterp.sources import specs

    chosen = specs(*options.names)
    if options.epochs is not None:
        chosen = {n: replace(s, recipe=replace(s.recipe, epochs=options.epochs)) for n, s in chosen.items()}
    outcomes = train(chosen, writable_folder(options.out), options.device, together=options.together)
    for name, outcome in outcomes.items():
        print(f"{options.out / name}: {outcome}")
    return all(outcome.kind is not OutcomeKind.NOT_FINITE for outcome in outcomes.values())


def _search(options: argparse.Namespace) -> None:
    from modinterp.training import prepare_cpu

    prepare_cpu()
    from modinterp.runs import search
    from modinterp.runs.study import carry_out
    from modinterp.sources import source

    out = options.out or Path("trained") / options.source / f"search-p{options.p}"
    space, question = source(options.source).search.SPACE, search.Question(options.p, options.epochs, options.seed)
    say = partial(print, flush=True)
    result = carry_out(space, question, options.trials, options.storage or out / "study.journal", options.device, say)
    if not len(result.trials):
        return
    search.write(result, out)
    print(f"{out / search.TRIALS}: {len(result.trials)} trials; what sets the best apart:")
    for name, share in result.importances.items():
        print(f"  {name:<14} {share:.2f}")


@one_line_errors("stopped; the same command goes on from the last snapshot")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        _list(options.names, options.runs)
        return 0
    if options.command == "search":
        _search(options)
        return 0
    return 0 if _train(options) else 1


if __name__ == "__main__":
    sys.exit(main())
