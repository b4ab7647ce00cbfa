"""`modinterp distill RUN_OR_FILE` writes the formulas of a network, and one formula as a program of its own."""

from __future__ import annotations

from pathlib import Path

from modinterp.cluster.cores import set_threads
from modinterp.commands.explain import add_forward_pass, add_operation
from modinterp.lazy import staying
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser

RUNGS = (
    "answers",
    "distance",
    "phases",
    "waves",
    "double",
    "products",
    "path",
    "keys",
    "reads",
    "attention",
    "compact",
    "pairs",
)


def _parser(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="""Write a network over pairs as formulas, from a few numbers to all of its weights.

Prints how many numbers each formula has, and how far its answers are from the network's on all pairs.
Every number is a projection of weights and activations. --out writes one formula as a program: a module of numpy, and
its numbers as JSON.""",
        epilog="""examples:
  %(prog)s SOURCE/RUN --out clock.py
  %(prog)s model.pt --op add --p 97 --rung waves --out waves.py

exit code: 0 for every result, 2 on bad usage or if no formula can be written, 130 after Ctrl-C.""",
    )
    add = parser.add_argument
    add("network", metavar="RUN_OR_FILE", help="name of a run, SOURCE/RUN, or a .safetensors, .pt or .pth file")
    add_operation(parser)
    add("--p", metavar="P", type=int, help="the modulus of a network in a file (default: taken from the shapes)")
    add_forward_pass(parser)
    rung = f"the formula that --out writes: {', '.join(RUNGS)} (default: the shortest that answers as the network does)"
    add("--rung", choices=RUNGS, metavar="RUNG", help=rung)
    add(
        "--out",
        metavar="FILE",
        type=Path,
        help="the Python module to write, with a JSON file of its numbers (default: none)",
    )
    add(
        "--stages",
        action="store_true",
        help="print the loss when parts of the formula replace parts of the network, one after the other",
    )
    add("--runs", metavar="DIR", help="look for named runs in DIR, or in hf://OWNER/REPO (default: checkpoints/)")
    add("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    return parser


@one_line_errors("stopped; nothing was written")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.distill") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options, is_own_process = vars(_parser(prog).parse_args(arguments)), arguments is None
    with staying(is_own_process):
        set_threads()
        from modinterp.distill.entry import distill
        from modinterp.distill.exported import write_program
        from modinterp.training import prepare_cpu

    if is_own_process:
        prepare_cpu()
    network, out, key = options.pop("network"), options.pop("out"), options.pop("rung")
    root, with_stages = options.pop("runs"), options.pop("stages")
    d = distill(network, root=root, **{name: value for name, value in options.items() if value is not None})
    print(d)
    if with_stages:
        print(f"\n{d.stages(key).to_string(index=False, float_format=lambda x: f'{x:.4g}')}")
    if out is None:
        return 0
    rung = d.shortest if key is None else (d[key] if key in {x.key for x in d.rungs} else None)
    if rung is None:
        why = (
            "; ".join(f"{name}: {reason}" for name, reason in d.absent.items())
            or "no formula answers as the network does"
        )
        raise ValueError(
            f"there is no formula to write ({why}); --rung names one of {', '.join(x.key for x in d.rungs) or 'none'}"
        )
    module, numbers = write_program(d, rung, out)
    print(f"\nprogram: {module}\nnumbers: {numbers}")
    return 0
