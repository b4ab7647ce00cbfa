"""`python -m modinterp.explain FILE`: what a network over pairs does with them, as one table and one page."""

from __future__ import annotations

import sys
from pathlib import Path

from modinterp.usage import Parser, one_line_errors, writable


def _arguments() -> Parser:
    parser = Parser(
        prog="python -m modinterp.explain",
        description="""Explain a network that was trained to add or subtract two numbers mod p.

Which frequencies it uses, against calibrated nulls, how much of it they explain, and whether a sum of cosines takes its
place. Prints one table and writes one page. Nothing in a file is executed.""",
        epilog="""examples:
  python -m modinterp.explain model.pt --op add --p 113
  python -m modinterp.explain model.safetensors --act gelu --out mine
  python -m modinterp.explain nanda/mainline-0          a run of this project

exit code: 0 whatever the verdict, 2 on bad usage, 130 after Ctrl-C.""",
    )
    parser.add_argument("network", metavar="FILE", help=".safetensors, .pt or .pth, or a run such as nanda/mainline-0")
    parser.add_argument("--op", choices=["add", "sub"],
                        help="what a file was trained on; a run says so itself (default: add)")  # fmt: skip
    parser.add_argument("--p", metavar="P", type=int, help="the modulus (default: read off the shapes)")
    parser.add_argument("--act", default="relu", choices=["relu", "gelu", "none"],
                        help="the neurons of a file, which it does not name (default: relu)")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", type=Path, help="look for named runs in DIR (default: checkpoints/)")
    parser.add_argument("--out", metavar="DIR", type=Path, help="where to write (default: reports/explain/NAME)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    parser.add_argument("--draws", metavar="N", type=int, default=199,
                        help="of each null of the spectrum, 99 or more (default: 199)")  # fmt: skip
    return parser


@one_line_errors("stopped; nothing was written")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    from modinterp.explain.explanation import explanation
    from modinterp.explain.page import write_explanation
    from modinterp.runs.weights import READ

    path = Path(options.network)
    name = path.stem if path.suffix in READ else path.name
    out = options.out or Path("reports/explain") / name
    writable(out)
    found = explanation(options.network, options.op, options.p, act_fn=options.act, device=options.device,
                        root=options.runs, draws=options.draws)  # fmt: skip
    path = write_explanation(found, out)
    print(f"{found}\n\nreport: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
