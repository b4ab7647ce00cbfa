"""`modinterp compare A B ...` compares several networks in one table and on one page."""

from __future__ import annotations

from pathlib import Path

from modinterp.commands.explain import add_forward_pass
from modinterp.files import writable_folder
from modinterp.lazy import staying
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser, folder


def _parser(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="""Put several networks over pairs of numbers side by side.

Compares frequencies, how much of each layer they explain, clock or pizza, losses without each frequency, and sizes.
Prints one table and writes one page.""",
        epilog="""examples:
  %(prog)s SOURCE/RUN-0 SOURCE/RUN-1
  %(prog)s SOURCE/RUN --epochs 1000 5000 20000
  %(prog)s a.pt b.safetensors --op add --p 97 --out mine
  %(prog)s a.pt b.pt --attention-rate 0 --no-causal

exit code: 0 for every result, 2 on bad usage, 130 after Ctrl-C.""",
    )
    add = parser.add_argument
    add("networks", metavar="NETWORK", nargs="+", help="names of runs, SOURCE/RUN, or .safetensors, .pt or .pth files")
    add("--epochs", metavar="N", type=int, nargs="+", default=[], help="compare the snapshots of runs at these epochs")
    add("--op", help="the operation that the networks in files learned; runs have their own (default: add)")
    add("--p", metavar="P", type=int, help="the modulus of networks in files (default: taken from the shapes)")
    add_forward_pass(parser)
    add("--runs", metavar="DIR", help="look for named runs in DIR, or in hf://OWNER/REPO (default: checkpoints/)")
    add(
        "--out",
        metavar="DIR",
        type=folder,
        default=Path("reports/compare"),
        help="folder for the report (default: %(default)s)",
    )
    add("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    draws = "random matrices for each null hypothesis about the spectrum, at least 99 (default: 99)"
    add("--draws", metavar="N", type=int, default=99, help=draws)
    return parser


@one_line_errors("stopped; nothing was written")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.compare") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options = vars(_parser(prog).parse_args(arguments))
    with staying(arguments is None):
        from modinterp.compare.entry import compare
        from modinterp.compare.page import write_comparison

    networks, out, root = options.pop("networks"), options.pop("out"), options.pop("runs")
    writable_folder(out)
    comparison = compare(networks, **options, root=root)
    print(f"{comparison}\n\nreport: {write_comparison(comparison, out)}")
    return 0
