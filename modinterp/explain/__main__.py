"""`python -m modinterp.explain FILE`: what a network over pairs does with them, as one table and one page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from modinterp.usage import one_line_errors


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m modinterp.explain",
        description="Explain a network that was trained to add or subtract two numbers mod p: which frequencies it "
        "uses, against calibrated nulls, how much of it they explain, and whether a sum of cosines takes its place. "
        "Prints one table and writes one page. Exit code 0 whatever the verdict, 2 on bad usage.",
    )
    parser.add_argument("network", metavar="FILE", help=".safetensors, .pt or .pth, or a run such as nanda/mainline-0")
    parser.add_argument("--op", choices=["add", "sub"], help="what a file was trained on (default: add)")
    parser.add_argument("--p", type=int, help="the modulus (default: read off the shapes)")
    parser.add_argument("--act", default="relu", choices=["relu", "gelu", "none"],
                        help="the neurons of a file, which it does not name (default: relu)")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", type=Path, help="look for named runs in DIR")
    parser.add_argument("--out", metavar="DIR", type=Path, help="where to write (default: reports/explain/NAME)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... or auto (default: cpu)")
    parser.add_argument("--draws", type=int, default=199, help="of each null (default: 199)")
    return parser


@one_line_errors("stopped; nothing was written")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    from modinterp.explain.explanation import explanation
    from modinterp.explain.page import write_explanation

    out = options.out or Path("reports/explain") / Path(options.network).stem
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is not a folder")
    found = explanation(options.network, options.op, options.p, act_fn=options.act, device=options.device,
                        root=options.runs, draws=options.draws)  # fmt: skip
    path = write_explanation(found, out)
    print(f"{found}\n\nreport: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
