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

from modinterp.usage import Parser, one_line_errors, writable


def _arguments() -> Parser:
    parser = Parser(
        prog="python -m modinterp.runs",
        description="List the catalogue of runs, train some of them, or search for better hyper-parameters.",
        epilog="""examples:
  python -m modinterp.runs list 'nanda/p53-*'
  python -m modinterp.runs train nanda/mainline-0
  python -m modinterp.runs train --help

exit code: 0 when all is done, 1 when a loss did not stay finite, 2 on bad usage, 130 after Ctrl-C.""",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _list_arguments(commands.add_parser(
        "list", help="every run, whether it is trained, and what needs it",
        description="List runs: task, shape, epochs, seed, whether it is trained, size of the weights, and the claims "
        "that need it.",
        epilog="""examples:
  python -m modinterp.runs list
  python -m modinterp.runs list 'clock/*' mlp/kissane-0 --runs trained""",
    ))  # fmt: skip
    _train_arguments(commands.add_parser(
        "train", help="train runs of the catalogue, going on with what was begun",
        description="""Train runs of the catalogue, those of one shape together.

Stop it at any moment: the same command goes on from the last state, and ends with the same bits.""",
        epilog="""examples:
  python -m modinterp.runs train nanda/mainline-0 --epochs 10000
  python -m modinterp.runs train 'mlp/*' --device cuda --out mine""",
    ))  # fmt: skip
    _search_arguments(commands.add_parser(
        "search", help="search for hyper-parameters, going on with what was begun",
        description="""Search for hyper-parameters with Optuna (pip install -e '.[search]').

Stop it at any moment: the same command goes on. Several processes or machines share a study that has one --storage.""",
        epilog="""examples:
  python -m modinterp.runs search miiii --p 23 --trials 24
  python -m modinterp.runs search miiii --storage /shared/study.journal""",
    ))  # fmt: skip
    return parser


DEVICE = {"default": "auto", "help": "cpu, cuda, or auto for the GPU if there is one (default: auto)"}


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", default=["*"],
                        help="runs, or patterns such as 'clock/*' (default: all)")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", type=Path, help="folder to look in (default: checkpoints/)")


def _train_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="+",
                        help="a run such as nanda/mainline-0, or a pattern such as 'clock/*' or '*'")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("trained"),
                        help="where to write (default: trained/)")  # fmt: skip
    parser.add_argument("--device", **DEVICE)
    parser.add_argument("--together", metavar="N", type=int, help="how many runs of one shape train at once "
                        "(default: 64 on a GPU, 1 on a CPU)")  # fmt: skip
    parser.add_argument("--epochs", metavar="N", type=int,
                        help="stop earlier or go on longer than the catalogue says (default: as it says)")  # fmt: skip


def _search_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", choices=["miiii"], help="the source whose space is searched")
    parser.add_argument("--p", metavar="P", type=int, default=23, help="base of the remainders (default: 23)")
    parser.add_argument("--trials", metavar="N", type=int, default=24,
                        help="of the study in all, those that are done included (default: 24)")  # fmt: skip
    parser.add_argument("--epochs", metavar="E", type=int, default=4096, help="of each trial (default: 4096)")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="of networks and choices (default: 0)")
    parser.add_argument("--storage", metavar="FILE", type=Path, help="the study's journal, which processes and "
                        "machines may share (default: study.journal in the folder of --out)")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=Path, help="where to write (default: trained/miiii/search-pP)")
    parser.add_argument("--device", **DEVICE)


def _listed(patterns: list[str], root: Path | None) -> None:
    """One line a run of the catalogue, then one for each other run in the folder."""
    from modinterp.runs import CATALOGUE, matching, store
    from modinterp.training import RunSpec

    where = root or store.checkpoints()
    if not where.is_dir():
        raise ValueError(f"{where} is not a folder")
    own = [name for name in store.run_names(where) if name not in CATALOGUE]
    own = [name for name in own if any(fnmatch.fnmatch(name, p) for p in patterns)]
    known = [p for p in patterns if fnmatch.filter(CATALOGUE, p) or not fnmatch.filter(own, p)]
    specs = {name: RunSpec.from_json(store.read_record(where / name)["spec"]) for name in own}
    found = {**matching(*known), **specs}
    rows = [("run", "task", "shape", "epochs", "seed", "state", "weights", "claims")]
    for name, spec in found.items():
        folder = where / name
        weights = sum(prod(shape) for shape in spec.model.shapes().values())
        trained = (folder / store.RECORD).is_file()
        state = f"trained, {store.size(folder) / 2**20:.1f} MiB" if trained else "pending"
        if trained and not (folder / store.FINAL).is_file():
            state += ", tables alone"
        serves = CATALOGUE[name].serves if name in CATALOGUE else ""
        task = shorten(spec.task.name, 44, placeholder=" …")
        rows.append((name, task, spec.model.summary, f"{spec.recipe.epochs:,}", str(spec.seed), state,
                     f"{4 * weights / 2**20:.1f} MiB", serves))  # fmt: skip
    *widths, _ = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for *cells, serves in rows:
        print("  ".join([*map(str.ljust, cells, widths), serves]).rstrip())


def _trained(options: argparse.Namespace) -> bool:
    """Train; whether every run ended with finite weights."""
    from modinterp.training import diverged, prepare_cpu

    prepare_cpu()
    from modinterp.runs import matching, train

    specs = matching(*options.names)
    if options.epochs is not None:
        specs = {n: replace(s, recipe=replace(s.recipe, epochs=options.epochs)) for n, s in specs.items()}
    ended = train(specs, writable(options.out), options.device, together=options.together)
    for name, why in ended.items():
        print(f"{options.out / name}: {why}")
    return not any(map(diverged, ended.values()))


def _searched(options: argparse.Namespace) -> None:
    from modinterp.training import prepare_cpu

    prepare_cpu()
    from modinterp.runs import search
    from modinterp.runs.study import searched

    out = options.out or Path("trained") / options.source / f"search-p{options.p}"
    question = search.Question(options.p, options.epochs, options.seed)
    say = partial(print, flush=True)
    found = searched(question, options.trials, options.storage or out / "study.journal", options.device, say)
    if not len(found.trials):
        return
    search.write(found, out)
    print(f"{out / search.TRIALS}: {len(found.trials)} trials; what sets the best apart:")
    for name, share in found.importances.items():
        print(f"  {name:<14} {share:.2f}")


@one_line_errors("stopped; the same command goes on from the last snapshot")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    if options.command == "list":
        _listed(options.names, options.runs)
        return 0
    if options.command == "search":
        _searched(options)
        return 0
    return 0 if _trained(options) else 1


if __name__ == "__main__":
    sys.exit(main())
