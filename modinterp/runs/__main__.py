"""`python -m modinterp.runs list | train NAME ... | search SOURCE`: what there is to train, training it, tuning it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path

from modinterp.usage import one_line_errors


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m modinterp.runs", description="List the catalogue of runs, train some, or search for better settings."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="every run, whether it is trained, and what needs it")
    listing.add_argument("names", metavar="NAME", nargs="*", default=["*"], help="such as 'clock/*' (default: all)")
    listing.add_argument("--runs", metavar="DIR", type=Path, help="folder to look in (default: checkpoints/)")
    training = commands.add_parser("train", help="train runs of the catalogue, going on with what was begun")
    training.add_argument("names", metavar="NAME", nargs="+", help="such as nanda/mainline-0, 'clock/*' or '*'")
    training.add_argument("--out", metavar="DIR", type=Path, default=Path("trained"), help="default: trained/")
    training.add_argument("--device", default="auto", help="cpu, cuda, ... or auto (default: auto)")
    training.add_argument("--together", metavar="N", type=int, help="runs of one shape that train at once "
                          "(default: 64 on a GPU, 1 on a CPU)")  # fmt: skip
    training.add_argument("--epochs", type=int, help="other than the catalogue's, to stop early or go on longer")
    searching = commands.add_parser("search", help="search for hyper-parameters, going on with what was begun")
    searching.add_argument("source", choices=["miiii"], help="whose space is searched")
    searching.add_argument("--p", metavar="P", type=int, default=23, help="base of the remainders (default: 23)")
    searching.add_argument("--trials", metavar="N", type=int, default=24, help="of the study in all (default: 24)")
    searching.add_argument("--epochs", metavar="E", type=int, default=4096, help="of a trial (default: 4096)")
    searching.add_argument("--seed", metavar="S", type=int, default=0, help="default: 0")
    searching.add_argument("--storage", metavar="FILE", type=Path, help="the study's journal, which processes and "
                           "machines may share (default: study.journal in OUT)")  # fmt: skip
    searching.add_argument("--out", metavar="DIR", type=Path, help="default: trained/miiii/search-pP")
    searching.add_argument("--device", default="auto", help="cpu, cuda, ... or auto (default: auto)")
    return parser


def _listed(patterns: list[str], root: Path | None) -> None:
    from modinterp.runs import CATALOGUE, matching, store

    where = root or store.checkpoints()
    line = "{:<26} {:<40} {:<32} {:>7} {:>5}  {:<18} {:>8}  {}".format
    print(line("run", "task", "shape", "epochs", "seed", "state", "weights", "claims"))
    for name, spec in matching(*patterns).items():
        folder = where / name
        weights = sum(prod(shape) for shape in spec.model.shapes().values())
        trained = (folder / store.RECORD).is_file()
        state = f"trained, {store.size(folder) / 2**20:.1f} MiB" if trained else "pending"
        print(line(name, spec.task.name, spec.model.summary, f"{spec.recipe.epochs:,}", spec.seed, state,
                   f"{4 * weights / 2**20:.1f} MiB", CATALOGUE[name].serves))  # fmt: skip


def _trained(options: argparse.Namespace) -> bool:
    """Train; whether every run ended with finite weights."""
    from modinterp.training import diverged, prepare_cpu

    prepare_cpu()
    from modinterp.runs import matching, train

    specs = matching(*options.names)
    if options.epochs is not None:
        specs = {n: replace(s, recipe=replace(s.recipe, epochs=options.epochs)) for n, s in specs.items()}
    ended = train(specs, options.out, options.device, together=options.together)
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
