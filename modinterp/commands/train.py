"""`modinterp train` trains your own network on arithmetic mod p, described by command-line options or by a .yaml or .py
file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modinterp.cluster.cores import set_threads
from modinterp.files import writable_folder
from modinterp.lazy import staying
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser, folder

if TYPE_CHECKING:
    from modinterp.runs import TrainedRun

GENERALISED = 0.95  # accuracy from which a network has learned its task
OPS = ("add", "sub", "mul", "div", "quadratic", "squares", "cubic")


def operation(text: str) -> str:
    """Return the key of an operation, which the user may also write as a sign or word, such as `+` or `plus`."""
    from modinterp.tasks.modular import OTHER_NAMES

    return OTHER_NAMES.get(text, text)


def _parser(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="""Train a network of your own on arithmetic mod p, and name the next command.

You can stop the training at any moment: the same command continues it. Runs of the sources are trained by
`modinterp runs train`.""",
        epilog="""examples:
  %(prog)s --op add --p 59 --seed 1
  %(prog)s --p 113 --arch mlp
  %(prog)s --p 113 --recipe paper
  %(prog)s mine.yaml                 such as `mine/first: {op: add, p: 59, epochs: 2000}`
  %(prog)s mine.py                   a file with SPECS = {name: modinterp.runs.own_specs.own_spec(...)}

exit code: 0 when all is done, 1 when a loss did not stay finite, 2 on bad usage, 130 after Ctrl-C.""",
    )
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        nargs="?",
        type=Path,
        help="a .yaml or .py file of runs; it replaces --op, --p, --seed, --arch and --recipe",
    )
    add("--op", type=operation, choices=OPS, default="add", help="the operation to learn (default: add)")
    add("--p", metavar="P", type=int, default=113, help="the modulus (default: 113)")
    add("--seed", metavar="S", type=int, default=0, help="seed of split, weights and batches (default: 0)")
    shape = (
        "transformer: one layer that reads a b =; mlp: one hidden layer on the sum of embeddings (default: transformer)"
    )
    add("--arch", choices=("transformer", "mlp"), default="transformer", help=shape)
    recipe = "paper: the training of Nanda et al. 2023; fast: a minute or two (default: fast)"
    add("--recipe", choices=("fast", "paper"), default="fast", help=recipe)
    add("--epochs", metavar="E", type=int, help="optimiser steps (default: as in the recipe)")
    add("--out", metavar="DIR", type=folder, default=Path("trained"), help="folder for the runs (default: trained)")
    add("--device", default="auto", help="cpu, cuda, or auto for the GPU if there is one (default: auto)")
    add("--threads", metavar="N", type=int, help="number of threads (default: one for each free core)")
    return parser


def _learned(run: TrainedRun) -> str:
    """How accurate a trained network is, as clauses, and what to try where it does not generalise."""
    last = run.history.iloc[-1]
    train, test = last["train_accuracy"], last["test_accuracy"]
    line = f"; the network is right on {train:.1%} of the training pairs, and on {test:.1%} of the test pairs"
    if train > GENERALISED > test:
        line += "\nThe network memorised its training pairs and does not generalise."
        line += " More epochs or training pairs may help: a FILE with `fraction: 0.7`, or a larger --p"
    return line


@one_line_errors("stopped; the same command continues from the last snapshot")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp train") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options, is_own_process = _parser(prog).parse_args(arguments), arguments is None
    with staying(is_own_process):
        set_threads(options.threads)
        from modinterp.runs import load, train
        from modinterp.runs.own_specs import own_name, own_spec, specs_in
        from modinterp.training import OutcomeKind, prepare_cpu

    if is_own_process:
        prepare_cpu()
    words = {name: getattr(options, name) for name in ("op", "p", "seed", "arch", "recipe")}
    if options.file is not None:
        specs = specs_in(options.file)
    else:
        changes = {} if options.epochs is None else {"epochs": options.epochs}
        specs = {own_name(**words): own_spec(**words, **changes)}
    outcomes = train(specs, writable_folder(options.out), options.device)
    for name, outcome in outcomes.items():
        print(f"{options.out / name}: {outcome}{_learned(load(name, root=options.out))}")
    first = next(iter(specs))
    command = prog.rpartition(" ")[0]
    print(f"next: {command} explain {first} --runs {options.out}")
    print(f"or, in Python: modinterp.measure(modinterp.load({first!r}, root={str(options.out)!r}))")
    print(f"for curves during the training, and a film afterwards: {command} runs watch {first} --runs {options.out}")
    return int(any(outcome.kind is OutcomeKind.NOT_FINITE for outcome in outcomes.values()))
