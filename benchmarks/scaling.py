"""How training grows with the number of runs, and an explanation with p: time and peak memory, as figure and page.

    python benchmarks/scaling.py [--runs 1 4 16 64] [--p 53 113 227 401] [--seconds 4] [--write] [--smallest]

Each number is taken in a process of its own, so that its peak memory is its own. Runs are at initialisation; networks
that are explained are planted, in the mainline's shape, so that all interventions are carried out. Exponents are those
of a power law through the two largest settings, where what does not grow counts least; ratios are to the smallest.
`--write` puts `docs/scaling.svg` and `docs/scaling.md` in place.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import torch
from shaped import shaped_clock
from timing import versions

from modinterp.explain import explain
from modinterp.runs import TrainedRun
from modinterp.sources import sources, spec
from modinterp.training import faster_mode, prepare_cpu
from modinterp.training.program import Program

DOCS = Path(__file__).parents[1] / "docs"
MAINLINE = sources()["nanda"].main_run
RECIPES = {
    "mainline, p = 113": MAINLINE,
    "p = 53": "nanda/p53-0",
    "maximum": sources()["circuits"].main_run,
    "MLP": sources()["mlp"].main_run,
}
SMALL = {"p = 53": RECIPES["p = 53"]}
EXPLANATION = "explanation"
LIMIT = 3600.0  # seconds for one number


@dataclass(frozen=True)
class Measured:
    """One number of runs, or one p.

    Attributes:
        size: how many runs, or which p.
        seconds: of an epoch of all runs together, or of an explanation.
        mebibytes: peak memory of its process.
    """

    size: int
    seconds: float
    mebibytes: float


def epoch_seconds(name: str, runs: int, at_least: float) -> float:
    """Time of an epoch of some runs of a recipe as one program, the median of three stretches. [s]"""
    prepare_cpu()
    first, device = spec(name), torch.device("cpu")
    specs = [replace(first, seed=seed) for seed in range(runs)]
    program = Program.at_start(specs, device, faster_mode(first))
    program.advance(2)
    epochs, taken = 1, list[float]()
    while len(taken) < 3:
        began = perf_counter()
        program.advance(epochs)
        lasted = perf_counter() - began
        if lasted < at_least / 3 and not taken:
            epochs *= max(2, min(64, math.ceil(at_least / 3 / max(lasted, 1e-9))))
        else:
            taken.append(lasted / epochs)
    return sorted(taken)[1]


def explanation_seconds(p: int) -> float:
    """Time of an explanation of a network of the mainline's shape that adds by circles. [s]"""
    run = TrainedRun(f"p = {p}", *shaped_clock(p))
    began = perf_counter()
    explain(run)
    return perf_counter() - began


def alone(what: str, size: int, at_least: float) -> Measured:
    """What this process measures, beside its peak memory: for a child."""
    seconds = explanation_seconds(size) if what == EXPLANATION else epoch_seconds(RECIPES[what], size, at_least)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Measured(size, seconds, peak)


def in_a_child(what: str, size: int, at_least: float) -> Measured:
    """One number, taken in a process of its own."""
    command = [sys.executable, __file__, "--child", what, str(size), "--seconds", str(at_least)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode:
        raise SystemExit(f"{what}, {size}: {done.stderr.strip().splitlines()[-1]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def exponent(rows: Sequence[Measured], value: Callable[[Measured], float]) -> float:
    """Of a power law through the two largest sizes; NaN for one size."""
    if len(rows) < 2:
        return math.nan
    one, other = rows[-2], rows[-1]
    return math.log(value(other) / value(one)) / math.log(other.size / one.size)


def sentences(found: Mapping[str, Sequence[Measured]]) -> list[str]:
    """What was measured, in words: one sentence a recipe, and one on explanations."""
    lines = []
    for what, rows in found.items():
        first, last = rows[0], rows[-1]
        if len(rows) < 2:
            lines.append(f"{what} at {first.size}: {first.seconds:.3g} s, {first.mebibytes:,.0f} MiB.")
            continue
        time, memory = (exponent(rows, value) for value in (lambda x: x.seconds, lambda x: x.mebibytes))
        if what == EXPLANATION:
            lines.append(
                f"An explanation takes {first.seconds:.1f} s and {first.mebibytes:,.0f} MiB at p = {first.size}, "
                f"{last.seconds:.1f} s and {last.mebibytes:,.0f} MiB at p = {last.size}: time grows as p to the power "
                f"{time:.2f}, peak memory as p to the power {memory:.2f}."
            )
        else:
            lines.append(
                f"{what}: {first.size / first.seconds:.1f} epochs a second of {first.size} run, "
                f"{last.size / last.seconds:.1f} of {last.size} runs in all; the time of an epoch grows as the number "
                f"of runs to the power {time:.2f}, peak memory ({first.mebibytes:,.0f} to {last.mebibytes:,.0f} MiB) "
                f"to the power {memory:.2f}."
            )
    return lines


def table(found: Mapping[str, Sequence[Measured]]) -> list[str]:
    """Every number as a row of a table in Markdown."""
    lines = ["| what | runs, or p | seconds | epochs a second, all runs | peak memory [MiB] |", "|---|---|---|---|---|"]
    for what, rows in found.items():
        for x in rows:
            rate = "" if what == EXPLANATION else f"{x.size / x.seconds:.1f}"
            lines.append(f"| {what} | {x.size} | {x.seconds:.4g} | {rate} | {x.mebibytes:,.0f} |")
    return lines


def drawing(found: Mapping[str, Sequence[Measured]]) -> str:
    """Four panels on logarithmic axes, as SVG."""
    width, height, gap, colours = 330, 230, 62, ("#2f6db5", "#d1495b", "#2a9d8f", "#e09f3e", "#7b5ea7")
    trainings = {what: rows for what, rows in found.items() if what != EXPLANATION}
    explanations = {what: rows for what, rows in found.items() if what == EXPLANATION}
    panels: list[tuple[str, str, Mapping[str, Sequence[Measured]], Callable[[Measured], float]]] = [
        ("Epochs a second, all runs", "runs", trainings, lambda x: x.size / x.seconds),
        ("Peak memory of training [MiB]", "runs", trainings, lambda x: x.mebibytes),
        ("Time of an explanation [s]", "p", explanations, lambda x: x.seconds),
        ("Peak memory of an explanation [MiB]", "p", explanations, lambda x: x.mebibytes),
    ]
    size = f'viewBox="0 0 {2 * (width + gap) + 20} {2 * (height + gap) + 40}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>']  # fmt: skip
    for place, (title, name, series, value) in enumerate(panels):
        x0, y0 = gap + place % 2 * (width + gap), 28 + place // 2 * (height + gap)
        parts += panel(title, name, series, value, (x0, y0, width, height), colours)
    for i, what in enumerate(trainings):
        x, y = gap + i * 150, 2 * (height + gap) + 26
        parts.append(
            f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colours[i]}"/><text x="{x + 9}" y="{y}">{what}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def panel(
    title: str,
    name: str,
    series: Mapping[str, Sequence[Measured]],
    value: Callable[[Measured], float],
    box: tuple[int, int, int, int],
    colours: Sequence[str],
) -> list[str]:
    """One panel: a line for each series, ticks at what was measured and at powers of ten."""
    x0, y0, width, height = box
    points = [(x.size, value(x)) for rows in series.values() for x in rows]
    if not points:
        return []
    low, high = (math.log10(end) for end in (min(y for _, y in points) / 1.3, max(y for _, y in points) * 1.3))
    left, right = (math.log10(end) for end in (min(x for x, _ in points) / 1.2, max(x for x, _ in points) * 1.2))

    def at(x: float, y: float) -> tuple[float, float]:
        across, up = (math.log10(x) - left) / (right - left), (math.log10(y) - low) / (high - low)
        return x0 + width * across, y0 + height * (1 - up)

    parts = [f'<text x="{x0}" y="{y0 - 8}" font-size="13">{title}</text>',
             f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#9aa5b1"/>']  # fmt: skip
    for size in sorted({x for x, _ in points}):
        x = at(size, points[0][1])[0]
        parts.append(f'<text x="{x:.1f}" y="{y0 + height + 14}" text-anchor="middle">{size}</text>')
    parts.append(f'<text x="{x0 + width / 2}" y="{y0 + height + 28}" text-anchor="middle">{name}</text>')
    for tick in ticks(low, high):
        y = at(points[0][0], tick)[1]
        parts.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e8eb"/>')
        parts.append(f'<text x="{x0 - 5}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for colour, rows in zip(colours, series.values(), strict=False):
        line = [at(x.size, value(x)) for x in rows]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in line]
    return parts


def ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two decimal logarithms."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    return [
        t for power in powers for t in (10.0**power, 2 * 10.0**power, 5 * 10.0**power) if low < math.log10(t) < high
    ]


def page(found: Mapping[str, Sequence[Measured]], line: str) -> str:
    """`docs/scaling.md`."""
    head = ["# How time and memory grow", "", "Written by `python benchmarks/scaling.py --write`; measured with",
            f"{line}.", "", "![Epochs a second and peak memory by the number of runs; time and peak memory of an "
            "explanation by p](scaling.svg)", ""]  # fmt: skip
    return "\n".join([*head, *(f"- {sentence}" for sentence in sentences(found)), "", *table(found), ""])


def measured(options: argparse.Namespace) -> dict[str, list[Measured]]:
    """Everything, a line printed for each number."""
    recipes = SMALL if options.smallest else RECIPES
    wanted = {**dict.fromkeys(recipes, options.runs), EXPLANATION: options.p}
    found: dict[str, list[Measured]] = {what: [] for what in wanted}
    for what, sizes in wanted.items():
        for size in sizes:
            x = in_a_child(what, size, options.seconds)
            found[what].append(x)
            print(f"  {what:<20} {size:5d}  {x.seconds:9.4f} s  {x.mebibytes:8,.0f} MiB", flush=True)
    return found


def main() -> None:
    """Measure, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--p", type=int, nargs="+", default=[53, 113, 227, 401])
    parser.add_argument("--seconds", type=float, default=4.0, help="at least, for each rate of epochs")
    parser.add_argument("--write", action="store_true", help="write docs/scaling.svg and docs/scaling.md")
    parser.add_argument("--smallest", action="store_true", help="one run, one small p, to see that all of it runs")
    parser.add_argument("--child", nargs=2, metavar=("WHAT", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        what, size = options.child
        print(json.dumps(vars(alone(what, int(size), options.seconds))))
        return
    if options.smallest:
        options.runs, options.p, options.seconds = [1], [13], 0.0
    line = versions()
    print(line)
    found = measured(options)
    print("\n".join(sentences(found)))
    text, figure = page(found, line), drawing(found)
    if options.write:
        (DOCS / "scaling.md").write_text(text)
        (DOCS / "scaling.svg").write_text(figure)
        print(f"{DOCS / 'scaling.md'}, {DOCS / 'scaling.svg'}")


if __name__ == "__main__":
    main()
