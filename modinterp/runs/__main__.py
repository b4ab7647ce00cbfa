"""`python -m modinterp.runs list | train NAME ...`: what there is to train, and training it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from math import prod
from pathlib import Path

from modinterp.usage import one_line_errors


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m modinterp.runs", description="List the catalogue of runs, or train some."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="every run, whether it is trained, and what needs it")
    listing.add_argument("--runs", metavar="DIR", type=Path, help="folder to look in (default: checkpoints/)")
    training = commands.add_parser("train", help="train runs of the catalogue, going on with what was begun")
    training.add_argument("names", metavar="NAME", nargs="+", help="such as nanda/mainline-0")
    training.add_argument("--out", metavar="DIR", type=Path, default=Path("trained"), help="default: trained/")
    training.add_argument("--device", default="auto", help="cpu, cuda, ... or auto (default: auto)")
    training.add_argument("--epochs", type=int, help="other than the catalogue's, to stop early or go on longer")
    return parser


def _listed(root: Path | None) -> None:
    from modinterp.runs import CATALOGUE, store

    where = root or store.checkpoints()
    line = "{:<26} {:<40} {:<32} {:>7} {:>5}  {:<18} {:>8}  {}".format
    print(line("run", "task", "shape", "epochs", "seed", "state", "weights", "claims"))
    for name, entry in CATALOGUE.items():
        spec, folder = entry.spec, where / name
        weights = sum(prod(shape) for shape in spec.model.shapes().values())
        trained = (folder / store.RECORD).is_file()
        state = f"trained, {store.size(folder) / 2**20:.1f} MiB" if trained else "pending"
        print(line(name, spec.task.name, spec.model.summary, f"{spec.recipe.epochs:,}", spec.seed, state,
                   f"{4 * weights / 2**20:.1f} MiB", entry.serves))  # fmt: skip


def _trained(options: argparse.Namespace) -> None:
    from modinterp.training import prepare_cpu

    prepare_cpu()
    from modinterp.runs import named, train

    specs = {name: named(name) for name in options.names}
    if options.epochs is not None:
        specs = {n: replace(s, recipe=replace(s.recipe, epochs=options.epochs)) for n, s in specs.items()}
    for name, ended in train(specs, options.out, options.device).items():
        print(f"{options.out / name}: {ended}")


@one_line_errors("stopped; the same command goes on from the last snapshot")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    if options.command == "list":
        _listed(options.runs)
    else:
        _trained(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
