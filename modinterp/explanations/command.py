"""`python -m modinterp.explain FILE`: what a network over pairs does with them, as one table and one page."""

from __future__ import annotations

from pathlib import Path

from modinterp.files import writable_folder
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser


def _parser() -> Parser:
    parser = Parser(
        prog="python -m modinterp.explain",
        description="""Explain a network that was trained to add or subtract two numbers mod p.

Which frequencies it uses, against calibrated nulls, how much of it they explain, and whether a sum of cosines takes its
place. Prints one table and writes one page. Nothing in a file is executed.""",
        epilog="""examples:
  python -m modinterp.explain model.pt --op add --p 97
  python -m modinterp.explain model.safetensors --act gelu --out mine
  python -m modinterp.explain SOURCE/RUN                a run that `python -m modinterp.runs list` shows

exit code: 0 whatever the verdict, 2 on bad usage, 130 after Ctrl-C.""",
    )
    add = parser.add_argument
    add("network", metavar="FILE", help=".safetensors, .pt or .pth, or the name of a run, SOURCE/RUN")
    add("--op", choices=["add", "sub"], help="what a file was trained on; a run says so itself (default: add)")
    add("--p", metavar="P", type=int, help="the modulus (default: taken from the shapes)")
    neurons = "the neurons of a file, which it does not name (default: relu)"
    add("--act", default="relu", choices=["relu", "gelu", "none"], help=neurons)
    add("--runs", metavar="DIR", type=Path, help="look for named runs in DIR (default: checkpoints/)")
    add("--out", metavar="DIR", type=Path, help="where to write (default: reports/explain/NAME)")
    add("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    draws = "how many are drawn for each null of the spectrum, 99 or more (default: 199)"
    add("--draws", metavar="N", type=int, default=199, help=draws)
    return parser


@one_line_errors("stopped; nothing was written")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    from modinterp.explanations.entry import explain
    from modinterp.explanations.page import write_explanation
    from modinterp.runs.weights import READ

    path = Path(options.network)
    name = path.stem if path.suffix in READ else path.name
    out = options.out or Path("reports/explain") / name
    writable_folder(out)
    explanation = explain(
        options.network,
        options.op,
        options.p,
        act_fn=options.act,
        device=options.device,
        root=options.runs,
        draws=options.draws,
    )
    page = write_explanation(explanation, out)
    print(f"{explanation}\n\nreport: {page}")
    return 0
