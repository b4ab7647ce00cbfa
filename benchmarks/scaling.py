"""How training grows with the number of runs, and an explanation with p: time and peak memory, as figure and page.

    python benchmarks/scaling.py [--runs 1 4 16 64] [--p 53 113 227 401 997] [--seconds 4] [--only Training] [--write]
                                 [--smallest]

Each number is taken in a process of its own, so that its peak memory is its own. CPU time is that of all its threads;
on a busy machine it says more than the time that passes. Runs are at initialisation; networks that are explained are
planted, in the mainline's shape, so that all interventions are carried out. Exponents are those of a power law through
the two largest settings, where what does not grow counts least; ratios are to the smallest.
`--write` puts `docs/scaling.svg` and `docs/scaling.md` in place; a part that `--only` leaves out stays as it is there.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

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
PARTS: dict[str, Callable[[str], bool]] = {
    "Training": lambda what: what != EXPLANATION,
    "Explanations": lambda what: what == EXPLANATION,
}
WRITTEN = (
    "`python benchmarks/scaling.py --write` measures the numbers on this page, and writes the page. CPU time is the "
    "sum over all threads. On a busy machine, CPU time is more reliable than wall time."
)
LIMIT = 3600.0  # seconds for one number


@dataclass(frozen=True)
class Measured:
    """One number of runs, or one p.

    Attributes:
        size: how many runs, or which p.
        seconds: of an epoch of all runs together, or of an explanation.
        mebibytes: peak memory of its process.
        cpu: CPU time of the same; NaN where it was not measured. [s]
    """

    size: int
    seconds: float
    mebibytes: float
    cpu: float = math.nan


def epoch_seconds(name: str, runs: int, at_least: float) -> tuple[float, float]:
    """Time and CPU time of an epoch of some runs of a recipe as one program, the median of three stretches. [s]"""
    prepare_cpu()
    first, device = spec(name), torch.device("cpu")
    specs = [replace(first, seed=seed) for seed in range(runs)]
    program = Program.at_start(specs, device, faster_mode(first))
    program.advance(2)
    epochs, taken = 1, list[tuple[float, float]]()
    while len(taken) < 3:
        lasted, used = both_times(partial(program.advance, epochs))
        if lasted < at_least / 3 and not taken:
            epochs *= max(2, min(64, math.ceil(at_least / 3 / max(lasted, 1e-9))))
        else:
            taken.append((lasted / epochs, used / epochs))
    return sorted(taken)[1]


def both_times(work: Callable[[], object]) -> tuple[float, float]:
    """Time and CPU time of one call. [s]"""
    began, used = perf_counter(), process_time()
    work()
    return perf_counter() - began, process_time() - used


def explanation_seconds(p: int) -> tuple[float, float]:
    """Time and CPU time of an explanation of a network of the mainline's shape that adds by circles. [s]"""
    return both_times(partial(explain, TrainedRun(f"p = {p}", *shaped_clock(p))))


def alone(what: str, size: int, at_least: float) -> Measured:
    """What this process measures, beside its peak memory: for a child."""
    seconds, cpu = explanation_seconds(size) if what == EXPLANATION else epoch_seconds(RECIPES[what], size, at_least)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Measured(size, seconds, peak, cpu)


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


def time_of(what: str) -> Callable[[Measured], float]:
    """The time that is shown: CPU time of an explanation, and time of an epoch."""
    return (lambda x: x.cpu) if what == EXPLANATION else (lambda x: x.seconds)


def sentences(found: Mapping[str, Sequence[Measured]]) -> list[str]:
    """What was measured, in words: one sentence a recipe, and one on explanations."""
    lines = []
    for what, rows in found.items():
        first, last = rows[0], rows[-1]
        if len(rows) < 2:
            lines.append(f"{what} at {first.size}: {first.seconds:.3g} s, {first.mebibytes:,.0f} MiB.")
            continue
        time, memory = (exponent(rows, value) for value in (time_of(what), lambda x: x.mebibytes))
        if what == EXPLANATION:
            lines.append(
                f"An explanation takes {first.cpu:.1f} s of CPU time and {first.mebibytes:,.0f} MiB of memory at p = "
                f"{first.size}, and {last.cpu:.1f} s and {last.mebibytes:,.0f} MiB at p = {last.size}. The CPU time "
                f"of an explanation grows as p to the power {time:.2f}, and its peak memory as p to the power "
                f"{memory:.2f}."
            )
        else:
            lines.append(
                f"{what}: {first.size} run trains {first.size / first.seconds:.1f} epochs a second, and {last.size} "
                f"runs together train {last.size / last.seconds:.1f} epochs a second. The time of one epoch of all "
                f"runs grows as the number of runs to the power {time:.2f}, and their peak memory "
                f"({first.mebibytes:,.0f} to {last.mebibytes:,.0f} MiB) to the power {memory:.2f}."
            )
    return lines


UNMEASURED = "not measured"


def table(found: Mapping[str, Sequence[Measured]]) -> list[str]:
    """Every number as a row of a table in Markdown."""
    names = (
        "training, or explanation, that is measured",
        "number of runs, or p for an explanation",
        "time of one epoch of all runs, or of the explanation [s]",
        "CPU time [s]",
        "epochs a second, all runs together",
        "peak memory [MiB]",
    )
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for what, rows in found.items():
        for x in rows:
            rate = "not applicable" if what == EXPLANATION else f"{x.size / x.seconds:.1f}"
            cpu = UNMEASURED if math.isnan(x.cpu) else f"{x.cpu:.4g}"
            lines.append(f"| {what} | {x.size} | {x.seconds:.4g} | {cpu} | {rate} | {x.mebibytes:,.0f} |")
    return lines


def in_table(text: str) -> dict[str, list[Measured]]:
    """The numbers of the rows that `table` wrote."""
    found: dict[str, list[Measured]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[1].isdigit():
            what, size, seconds, cpu, _, memory = cells
            x = Measured(
                int(size),
                float(seconds),
                float(memory.replace(",", "")),
                float("nan" if cpu == UNMEASURED else cpu),
            )
            found.setdefault(what, []).append(x)
    return found


def drawing(found: Mapping[str, Sequence[Measured]]) -> str:
    """Four panels on logarithmic axes, as SVG."""
    width, height, gap, colours = 330, 230, 62, ("#2f6db5", "#d1495b", "#2a9d8f", "#e09f3e", "#7b5ea7")
    trainings = {what: rows for what, rows in found.items() if what != EXPLANATION}
    explanations = {what: rows for what, rows in found.items() if what == EXPLANATION}
    panels: list[tuple[str, str, Mapping[str, Sequence[Measured]], Callable[[Measured], float]]] = [
        ("Epochs a second, all runs", "runs", trainings, lambda x: x.size / x.seconds),
        ("Peak memory of training [MiB]", "runs", trainings, lambda x: x.mebibytes),
        ("CPU time of an explanation [s]", "p", explanations, lambda x: x.cpu),
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


def page(found: Mapping[str, Sequence[Measured]], line: str, kept: Mapping[str, str]) -> str:
    """`docs/scaling.md`, with one section for training and one for explanations.

    Args:
        line: what it was measured with.
        kept: title of a section to its text, for what was not measured anew.
    """
    lines = ["# How time and memory grow", "", WRITTEN, "",
             "![Epochs a second and peak memory by the number of runs; CPU time and peak memory of an explanation by "
             "p](scaling.svg)", ""]  # fmt: skip
    for title, of_title in PARTS.items():
        some = {what: rows for what, rows in found.items() if of_title(what)}
        measured_with = f"The numbers in this section were measured with {line}."
        told = [measured_with, "", *(f"- {x}" for x in sentences(some)), "", *table(some), ""]
        lines += [f"## {title}", "", *([kept[title].strip(), ""] if title in kept else told)]
    return "\n".join(lines)


def sections(text: str) -> dict[str, str]:
    """Title of each section of a page to its text."""
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def measured(options: argparse.Namespace) -> dict[str, list[Measured]]:
    """Everything, or one part of it, a line printed for each number."""
    recipes = SMALL if options.smallest else RECIPES
    wanted = {**dict.fromkeys(recipes, options.runs), EXPLANATION: options.p}
    wanted = {what: sizes for what, sizes in wanted.items() if options.only is None or PARTS[options.only](what)}
    found: dict[str, list[Measured]] = {what: [] for what in wanted}
    for what, sizes in wanted.items():
        for size in sizes:
            x = in_a_child(what, size, options.seconds)
            found[what].append(x)
            times = f"{x.seconds:9.4f} s  {x.cpu:9.4f} s of CPU time"
            print(f"  {what:<20} {size:5d}  {times}  {x.mebibytes:8,.0f} MiB", flush=True)
    return found


def main() -> None:
    """Measure, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--p", type=int, nargs="+", default=[53, 113, 227, 401, 997])
    parser.add_argument("--seconds", type=float, default=4.0, help="at least, for each rate of epochs")
    parser.add_argument("--only", choices=[*PARTS], help="measure that part alone")
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
    line = f"{versions()}, load average {os.getloadavg()[0]:.1f} at the start"
    print(line)
    found = measured(options)
    print("\n".join(sentences(found)))
    old = (DOCS / "scaling.md").read_text(encoding="utf-8")
    kept = {title: text for title, text in sections(old).items() if options.only not in (None, title)}
    text, figure = page(found, line, kept), drawing(in_table("\n".join(kept.values())) | found)
    if options.write:
        (DOCS / "scaling.md").write_text(text, encoding="utf-8")
        (DOCS / "scaling.svg").write_text(figure, encoding="utf-8")
        print(f"{DOCS / 'scaling.md'}, {DOCS / 'scaling.svg'}")


if __name__ == "__main__":
    main()
