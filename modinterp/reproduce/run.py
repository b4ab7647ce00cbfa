"""Measure every claim of a source on the runs that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from modinterp.claims import SOURCES, Claim, Result
from modinterp.reproduce import circuits, clock, miiii, mlp, nanda
from modinterp.reproduce.drawings import Page
from modinterp.runs import TrainedRun, load, named

DRAWN = {
    "nanda": nanda.DRAWINGS,
    "clock": clock.DRAWINGS,
    "mlp": mlp.DRAWINGS,
    "circuits": circuits.DRAWINGS,
    "miiii": miiii.DRAWINGS,
}


@dataclass(frozen=True)
class Reproduction:
    """What came out for one source.

    Attributes:
        results: one a claim, in the order of the source.
        figures, tables: by the key that claims name, each with its number in the source.
        runs: what was measured.
        foreign: whether that was somebody's checkpoint and not what this project trained.
    """

    source: str
    results: tuple[Result, ...]
    figures: dict[str, tuple[str, go.Figure]]
    tables: dict[str, tuple[str, pd.DataFrame]]
    runs: dict[str, TrainedRun]
    foreign: bool = False

    def part(self, page: Page) -> Reproduction:
        """What belongs to one question."""
        chosen = tuple(result for result in self.results if result.claim.figure in page.figures)
        figures = {key: self.figures[key] for key in page.figures if key in self.figures}
        return replace(self, results=chosen, figures=figures)

    @property
    def pages(self) -> tuple[Page, ...]:
        """Questions with a page of their own, of which something was drawn."""
        return tuple(page for page in DRAWN[self.source].pages if set(page.figures) & set(self.figures))

    @property
    def as_recorded(self) -> bool:
        """Whether every verdict is the recorded one."""
        return all(result.as_recorded for result in self.results)

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the recorded one; of a foreign checkpoint, whether nothing is refuted."""
        return not self.count("refuted") if self.foreign else self.as_recorded

    def count(self, verdict: str) -> int:
        """Number of claims with a verdict."""
        return sum(result.verdict == verdict for result in self.results)


def chosen_claims(source: str, only: str | None = None) -> tuple[Claim, ...]:
    """The claims of a source, or those whose id fits a pattern.

    Raises:
        ValueError: unknown source, or a pattern that fits no claim.
    """
    if source not in SOURCES:
        raise ValueError(f"unknown source {source!r}; known are {', '.join(SOURCES)}")
    claims = SOURCES[source].matching(only or "*")
    if not claims:
        raise ValueError(f"no claim of {source} fits {only!r}; --list shows all ids")
    return claims


def available_runs(
    claims: Sequence[Claim], root: Path | None, device: str, beside: Sequence[str] = ()
) -> dict[str, TrainedRun]:
    """Those of the runs that the claims need which are there, by name, in the order of first need.

    Args:
        beside: more runs, which figures show.
    Raises:
        ValueError: a run is there but damaged.
    """
    runs = {}
    for name in dict.fromkeys([*(name for claim in claims for name in claim.needs), *beside]):
        try:
            runs[name] = load(name, root=root, device=device)
        except FileNotFoundError:
            continue
    return runs


def _results(
    claims: Sequence[Claim], checked: Callable[[Claim], Result], on_claim: Callable[[Result], None] | None
) -> tuple[Result, ...]:
    results = []
    for claim in claims:
        results.append(checked(claim))
        if on_claim is not None:
            on_claim(results[-1])
    return tuple(results)


def reproduction_on(
    source: str,
    checkpoint: Path,
    only: str | None = None,
    device: str = "cpu",
    on_claim: Callable[[Result], None] | None = None,
) -> Reproduction:
    """Measure the claims of a source on somebody's checkpoint of its main network, as far as one tells.

    Its task and the kind of its neurons are those of the source's own run.

    Args:
        checkpoint: a `.safetensors`, `.pt` or `.pth` file.
        only, device, on_claim: as in `reproduction`.
    Raises:
        FileNotFoundError, ValueError: as `modinterp.load`; unknown source, pattern without a match.
    """
    claims, drawn = chosen_claims(source, only), DRAWN[source]
    spec = named(drawn.main)
    run = load(checkpoint, spec.task, device=device, act_fn=spec.model.act_fn)

    def checked(claim: Claim) -> Result:
        ours = drawn.main in claim.needs or not claim.needs  # else it is about other networks
        return claim.check_foreign(run) if ours else claim.check_available({})

    results = _results(claims, checked, on_claim)
    wanted = {r.claim.figure for r in results if r.verdict != "not measured" and r.claim.needs}
    runs = {drawn.main: run}
    return Reproduction(source, results, drawn.figures(runs, wanted), drawn.tables(runs, wanted), runs, True)


def reproduction(
    source: str,
    only: str | None = None,
    root: Path | None = None,
    device: str = "cpu",
    on_claim: Callable[[Result], None] | None = None,
) -> Reproduction:
    """Measure the claims of a source and draw the figures that belong to them.

    Args:
        only: pattern of claim ids, such as `fig7.*`.
        root: folder of runs laid out like `checkpoints/`, which is the default.
        device: where networks run.
        on_claim: called with each result; for a progress bar.
    Raises:
        ValueError: unknown source, pattern without a match, damaged run.
    """
    claims, drawn = chosen_claims(source, only), DRAWN[source]
    wanted = drawn.along({claim.figure for claim in claims})
    runs = available_runs(claims, root, device, drawn.needed(wanted))
    results = _results(claims, lambda claim: claim.check_available(runs), on_claim)
    return Reproduction(source, results, drawn.figures(runs, wanted), drawn.tables(runs, wanted), runs)
