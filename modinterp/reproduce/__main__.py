"""`python -m modinterp.reproduce SOURCE`: measure every claim of a source, print one table, write one page."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modinterp.usage import SOURCES, Parser, one_line_errors, progress, writable

if TYPE_CHECKING:
    from modinterp.reproduce.run import Reproduction


def _arguments() -> Parser:
    parser = Parser(
        prog="python -m modinterp.reproduce",
        description="""Measure every claim of a source on trained networks.

Prints one table, and writes claims.json, claims.csv, contradictions.csv, tables/ and index.html, a page with all
figures inside that opens from disk. Sources: nanda (Progress measures for grokking), clock (The Clock algorithm and
its petals), mlp (Kissane's notebook), circuits (Circuit engineering), miiii (remainders by many primes).""",
        epilog="""examples:
  python -m modinterp.reproduce nanda                   every claim of one source
  python -m modinterp.reproduce all --out mine          every source, and an index of them
  python -m modinterp.reproduce nanda --only 'fig7.*'   some claims; --list shows their ids
  python -m modinterp.reproduce mlp --checkpoint model.pt

exit code: 0 when every verdict is the recorded one, 1 when one is not, 2 on bad usage, 130 after Ctrl-C. With
--checkpoint, 0 when everything that the file lets be measured holds, 1 when something is refuted.""",
    )
    parser.add_argument("source", choices=[*SOURCES, "all"], help="which source, or all of them")
    parser.add_argument("--only", metavar="GLOB", help="only claims whose id fits, such as 'fig7.*' (default: all)")
    parser.add_argument("--runs", metavar="DIR", type=Path,
                        help="measure the runs in DIR, laid out like checkpoints/ (default: checkpoints/)")  # fmt: skip
    parser.add_argument("--checkpoint", metavar="FILE", type=Path,
                        help="measure somebody's network (.safetensors, .pt, .pth) in place of the source's main run; "
                        "what needs its training is not measured")  # fmt: skip
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="where to write (default: reports/SOURCE, for all reports/; with --only in only/ there, "
        "with --checkpoint or --runs in a folder of that name)",
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    parser.add_argument("--list", action="store_true", help="list the claims with the verdicts recorded, and stop")
    return parser


def _folder(options: argparse.Namespace) -> Path:
    """Where to write: what is asked of a part, or of somebody's network, leaves the whole report as it is."""
    if options.out is not None:
        return options.out
    whole = Path("reports") if options.source == "all" else Path("reports") / options.source
    which = options.checkpoint.stem if options.checkpoint else options.runs.resolve().name if options.runs else ""
    return whole / which / ("only" if options.only else "")


def _sources(wanted: str, only: str | None) -> tuple[str, ...]:
    """The source, or all that have a claim which fits the pattern."""
    if wanted != "all" or only is None:
        return SOURCES if wanted == "all" else (wanted,)
    from modinterp.claims import SOURCES as CLAIMS

    fitting = tuple(source for source in SOURCES if CLAIMS[source].matching(only))
    if not fitting:
        raise ValueError(f"no claim of any source fits {only!r}; --list shows all ids")
    return fitting


def _listed(source: str, only: str | None) -> None:
    from modinterp.reproduce.run import chosen_claims

    for claim in chosen_claims(source, only):
        print(f"{claim.id:<32} {claim.finding.verdict:<13} {claim.where:<36} {claim.statement}")


def _reproduced(source: str, options: argparse.Namespace, device: str) -> Reproduction:
    from modinterp.reproduce.report import terminal_table, write_report
    from modinterp.reproduce.run import chosen_claims, reproduction, reproduction_on
    from modinterp.runs.store import RECORD

    began, claims = time.perf_counter(), chosen_claims(source, options.only)
    needed = {name for claim in claims for name in claim.needs}
    if options.runs and needed and not any((options.runs / name / RECORD).is_file() for name in needed):
        raise ValueError(f"none of the runs that these claims of {source} ask for is in {options.runs}")
    out = _folder(options) / source if options.source == "all" else _folder(options)
    writable(out)
    with progress(len(claims), source, "claim", leave=False) as bar:
        if options.checkpoint is not None:
            found = reproduction_on(source, options.checkpoint, options.only, device, lambda _: bar.update())
        else:
            found = reproduction(source, options.only, options.runs, device, lambda _: bar.update())
    path = write_report(found, out, inside=options.source == "all")
    print(terminal_table(found.results))
    counts = (
        f"{found.count('holds')} hold, {found.count('refuted')} refuted, {found.count('not measured')} not measured"
    )
    subject = f" on {options.checkpoint}" if found.foreign else ""
    n = len(found.results)
    print(f"\n{source}{subject}: {n} claim{'s' * (n > 1)}: {counts}; {time.perf_counter() - began:.0f} s")
    if partly := sum(bool(result.runs_pending) for result in found.results):
        print(f"{partly} on some of the runs that they ask for; `python -m modinterp.runs list` shows what is pending")
    for result in found.results:
        if not found.foreign and not result.as_recorded:
            print(f"{result.claim.id} is {result.verdict}, but was recorded as {result.claim.finding.verdict}")
    print(f"report: {path}")
    found = replace(found, runs={}, figures={}, tables={})  # on disk by now
    gc.collect()  # gigabytes of activations: a run and what was measured of it know one another
    return found


@one_line_errors("stopped")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    sources = _sources(options.source, options.only)
    if options.runs is not None and not options.runs.is_dir():
        raise ValueError(f"--runs {options.runs} is not a folder")
    if options.checkpoint is not None and (options.runs is not None or options.source == "all"):
        raise ValueError("--checkpoint is one network of one source, without --runs")
    if options.list:
        for source in sources:
            _listed(source, options.only)
        return 0
    from modinterp.training import resolved_device

    device = str(resolved_device(options.device))
    found = [_reproduced(source, options, device) for source in sources]
    if options.source == "all":
        from modinterp.reproduce.report import write_index

        print(f"all sources: {write_index(found, _folder(options))}")
    return 0 if all(each.as_expected for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
