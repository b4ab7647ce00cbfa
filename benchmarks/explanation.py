"""How long an explanation takes, beside the least that any look at all pairs must do.

    python benchmarks/explanation.py [NETWORK] [--rounds 3] [--draws 199] [--smallest]

NETWORK is a run's name or a file (default: nanda/mainline-0). Rounds alternate between the contestants, so that a noisy
machine hurts all alike; ratios are of medians. The least is one forward pass over all pairs in float64 that keeps every
activation. The sections are timed in the order of the page: each pays for what it is the first to ask for.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from timing import alternated, seconds, versions

from modinterp.activations import activations
from modinterp.explain import explain
from modinterp.explain.page import write_explanation
from modinterp.explain.subject import subject
from modinterp.explain.verdict import verdict
from modinterp.measurements import measure
from modinterp.measurements.cyclic import FEWEST_DRAWS
from modinterp.measurements.quantity import STAGES

SMALL = "nanda/p53-decay-5-0"  # a network of which an explanation is quick


def by_section(name: str, draws: int) -> dict[str, float]:
    """Time until each section is done [s], in the order of the page."""
    m = measure(subject(name).run, draws=draws)
    times = {stage: seconds(lambda stage=stage: list(m.readings(stage))) for stage in STAGES}
    return times | {"verdict": seconds(lambda: verdict(m))}


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", default="nanda/mainline-0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=199)
    smallest = "one round on a small network, to see that all of it runs"
    parser.add_argument("--smallest", action="store_true", help=smallest)
    options = parser.parse_args()
    if options.smallest:
        options.network, options.rounds, options.draws = SMALL, 1, FEWEST_DRAWS
    run = subject(options.network).run
    print(f"{run}\n{versions('transformer-lens', 'plotly')}, {options.draws} draws")
    with tempfile.TemporaryDirectory() as folder:
        contestants: dict[str, Callable[[], object]] = {
            "one forward pass over all pairs": lambda: activations(run.network, run.task),
            "explanation": lambda: explain(options.network, draws=options.draws),
            "explanation, page and files": lambda: write_explanation(
                explain(options.network, draws=options.draws), Path(folder) / "out"
            ),
        }
        times = alternated(contestants, options.rounds)
    least = median(times["one forward pass over all pairs"])
    for name, each in times.items():
        middle, spread = median(each), f"({min(each):.2f} to {max(each):.2f})"
        print(f"  {name:<34} {middle:7.2f} s  {spread:<18} {middle / least:6.1f} times the pass")
    print("by section")
    for title, taken in by_section(options.network, options.draws).items():
        print(f"  {title:<42} {taken:7.2f} s  {taken / least:6.1f} times the pass")


if __name__ == "__main__":
    main()
