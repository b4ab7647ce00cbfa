"""`modinterp publish ground-truth` writes networks with known mechanisms, as cases on which to score methods."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from modinterp.files import writable_folder
from modinterp.terminal.parser import Parser, folder


def ground_truth(arguments: list[str], prog: str) -> int:
    """Write the networks with known mechanisms, print how well attribution patching finds the important parts, and
    return the exit code.
    """
    parser = Parser(
        prog=prog,
        description="Write networks whose mechanism is known, with the effect of ablating every edge,\n"
        "in the layout of InterpBench; see docs/ground_truth.md.",
        epilog="""examples:
  %(prog)s --out cases
  %(prog)s --out cases --planted

exit code: 0 when all were written, 2 on bad usage.""",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="trained runs (default: the main runs of the sources)")
    parser.add_argument("--out", metavar="DIR", type=folder, default=Path("ground-truth"),
                        help="folder for the networks (default: ground-truth/)")  # fmt: skip
    parser.add_argument("--planted", action="store_true", help="only the networks with weights set by hand")
    options = parser.parse_args(arguments)
    from modinterp.publish.ground_truth import planted_cases, trained_cases, write_ground_truth

    out = writable_folder(options.out)
    cases = planted_cases() if options.planted else chain(planted_cases(), trained_cases(options.names))
    for case in write_ground_truth(cases, out):
        edges = f"removing one of {len(case.matter)} of {len(case.truth['edges'])} edges changes the answers"
        print(f"{out / case.name}: {edges}; attribution patching finds them with an AUC of {case.score:.2f}")
    return 0
