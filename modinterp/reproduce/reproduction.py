"""Reproduce a source: measure every claim on the available runs, and draw the figures of the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from modinterp.claims import Claim, Result, Share
from modinterp.claims.tally import Tally
from modinterp.measurements import NetworkMeasurements, measure_as_published
from modinterp.measurements.degenerate import UNDEFINED
from modinterp.measurements.memory import check_memory
from modinterp.models import ForwardPass, with_tokens_of
from modinterp.reproduce.evidence import Evidence, checked
from modinterp.reproduce.weights_at_hand import named_first, ships_weights
from modinterp.runs import NotRecorded, load
from modinterp.runs.weights import READ, read_weights
from modinterp.sources import Page, Source, catalogue, source
from modinterp.sources import load as load_named
from modinterp.tasks import Group, ModularArithmetic, Task
from modinterp.terminal.suggestions import suggestion
from modinterp.training import RunSpec

SPLIT_UNKNOWN = "The training inputs of this network are not known: test accuracy and test loss may include them."


@dataclass(frozen=True)
class Reproduction:
    """The reproduction of one source: results of its claims, figures, tables and measurements.

    Attributes:
        results: the result of each claim, in the order of the source.
        figures: map from the key of a figure to its number in the source and the figure.
        tables: map from the key of a figure to the title of the table below the figure, and the table.
        measured: the measurements for claims and figures, by name of the run.
        foreign: True if the measured network is a user's checkpoint, and not a run of this project.
        damaged: map from the name of each damaged run, which is left out, to the reason.
        recompute: True if networks without weights, whose numbers are only recorded, are left out of the reproduction.
        beside: results of single-network claims on the run that a user's checkpoint replaces, by id of the claim.
    """

    source: Source
    results: tuple[Result, ...]
    figures: dict[str, tuple[str, go.Figure]]
    tables: dict[str, tuple[str, pd.DataFrame]]
    measured: dict[str, NetworkMeasurements]
    foreign: bool = False
    beside: Mapping[str, Result] = field(default_factory=dict)
    damaged: Mapping[str, str] = field(default_factory=dict)
    recompute: bool = False

    def part(self, page: Page) -> Reproduction:
        """Return the part of the reproduction that belongs to one question of the source."""
        shown = {key for figure in page.figures for key in self.source.figures_shown_with(figure)}
        results = tuple(result for result in self.results if result.claim.figure in shown)
        figures = {key: self.figures[key] for key in page.figures if key in self.figures}
        return replace(self, results=results, figures=figures)

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages of questions and of single figures for which something was drawn."""
        apart = {key: self.source.drawings[key].own_page for key in self.figures}
        figures = [Page(key=key, title=title, figures=(key,)) for key, title in apart.items() if title]
        return (*(page for page in self.source.pages if set(page.figures) & set(self.figures)), *figures)

    @property
    def as_recorded(self) -> bool:
        """True if every verdict equals the recorded verdict."""
        return all(result.as_recorded for result in self.results)

    @property
    def as_expected(self) -> bool:
        """True if every verdict equals the record; for a user's checkpoint, True if no claim about networks is refuted.

        If only some of the recorded networks are measured (`recompute`), True if no verdict contradicts the record.
        Refuted claims about mathematics, set-up and misprints do not count against a user's checkpoint.
        """
        if self.recompute:
            return not any(r.contradicts_record for r in self.results)
        if not self.foreign:
            return self.as_recorded
        return not any(r.verdict == "refuted" and r.claim.is_about_networks for r in self.results)

    @property
    def recomputed(self) -> Share:
        """The share of single-network results, one per network and claim, that were recomputed from weights."""
        of_one = [result for result in self.results if result.claim.of_one is not None]
        of = sum(len(result.runs) for result in of_one)
        return Share(of - sum(len(result.recorded) for result in of_one), of)

    @property
    def recomputable(self) -> Share:
        """The share of single-network results whose networks have weights here; `--recompute` measures these again."""
        names = [name for result in self.results if result.claim.of_one is not None for name in result.runs]
        there = {n for n, m in self.measured.items() if m.has_weights} | set(filter(ships_weights, set(names)))
        return Share(sum(name in there for name in names), len(names))

    def count(self, verdict: str) -> int:
        """Return the number of claims with a given verdict."""
        return sum(result.verdict == verdict for result in self.results)

    @property
    def tally(self) -> Tally:
        """Counts of the verdicts, with each measurement counted once."""
        return Tally.of((self.source.measurement(r.claim), r.counts_as) for r in self.results)


def claims_matching(name: str, only: str | None = None) -> tuple[Claim, ...]:
    """Return the claims of a source, or only the claims whose id matches a pattern.

    Raises:
        ValueError: the source does not exist, or the pattern matches no claim.
    """
    claims = source(name).matching(only or "*")
    if not claims:
        step = suggestion(only or "", [id.removeprefix(f"{name}.") for id in source(name)])
        raise ValueError(f"no claim of {name} matches {only!r}{step}; --list shows all ids")
    return claims


def measurements_of(
    names: Sequence[str],
    root: Path | str | None = None,
    device: str = "cpu",
    damaged: dict[str, str] | None = None,
    recompute: bool = False,
) -> dict[str, NetworkMeasurements]:
    """Return the measurements of the available runs among the named runs, in the same order.

    Args:
        names: names of runs, without patterns.
        root: folder of runs, with the layout of `checkpoints/`, which is the default.
        device: device of the networks.
        damaged: dict that receives the reason for each damaged run; damaged runs are left out.
        recompute: True to leave out runs without weights, whose numbers are only recorded.
    Raises:
        ValueError: a run is damaged, and `damaged` is not given.
    """
    measured, leading = {}, set[str]() if recompute else named_first()
    for name in dict.fromkeys(names):
        try:
            run = load_named(name, root=root, device=device)
            run.snapshots.check()
            if recompute and not run.has_weights and run.recorded is not None:
                continue
            if recompute:
                run = replace(run, recorded=None)
            elif run.recorded is not None and name not in leading:  # what is recorded of it is quicker, and takes less
                run = replace(run, model=None)
            measured[name] = measure_as_published(run)
        except FileNotFoundError:
            continue
        except ValueError as error:
            if damaged is None:
                raise
            damaged[name] = str(error)
    return measured


def run_names(claims: Sequence[Claim], about: Source) -> tuple[str, ...]:
    """Return the names of all runs that some claims of a source, and the figures of these claims, need.

    Runs of the claims come first, in the order in which they are needed, followed by their replicates.
    """
    keys = about.figures_beside({claim.figure for claim in claims if claim.figure})
    figures = [drawing for key, drawing in about.drawings.items() if key in keys]
    drawn = [name for name in catalogue() if any(figure.shows(name, about.main_run) for figure in figures)]
    needs = [name for claim in claims for name in (*claim.needs, *claim.contrast)]
    subjects = [name for claim in claims for name in claim.subjects(catalogue())]
    controls = about.controls if any(claim.of_one is not None for claim in claims) else ()
    return tuple(dict.fromkeys([*needs, *subjects, *drawn, *controls]))


Made = dict[tuple[str, str], tuple[go.Figure | None, pd.DataFrame | None]]  # key of a figure of one run, and the run


def _drawn(
    about: Source,
    keys: set[str],
    measured: dict[str, NetworkMeasurements],
    main: str | None = None,
    made: Made | None = None,
    undefined: tuple[type[Exception], ...] = (),
):
    """Draw the figures and tables that the available runs allow, in the order of the source.

    Args:
        main: run that replaces the source's main run in figures; by default the main run itself.
        made: figures and tables of one run that exist already.
        undefined: errors for which a figure is left out, for example because a user's network has no key frequency.
    """
    main, figures, tables = main or about.main_run, {}, {}
    for key, drawing in about.drawings.items():
        if key not in keys:
            continue
        of = key, drawing.drawn_from(measured, main) or ""
        try:
            figure, table = (made or {}).get(of) or (drawing.figure(measured, main), drawing.made_table(measured, main))
        except undefined:
            continue
        if figure is not None:
            figures[key] = drawing.number, figure
        if drawing.table is not None and table is not None:
            tables[key] = drawing.table.title, table
    return figures, tables


def spec_of(about: Source, run: str | None) -> RunSpec:
    """Return the spec of a run of a source; by default of its main run, which may belong to another source.

    Raises:
        ValueError: the source does not have the run.
    """
    if run is not None and run not in about.runs and run != about.main_run:
        raise ValueError(f"{about.name} has no run {run!r}{suggestion(run, about.runs)}; `runs list` shows all")
    return catalogue()[run or about.main_run]


def reproduction_on(
    name: str,
    checkpoint: Path,
    only: str | None = None,
    device: str = "cpu",
    on_claim: Callable[[Result], object] = lambda _: None,
    run: str | None = None,
    task: Task | None = None,
) -> Reproduction:
    """Measure the claims of a source on a user's checkpoint, which replaces one of the source's runs.

    Settings of the forward pass that the file does not hold are taken from the replaced run.

    Args:
        name: short name of the source.
        checkpoint: a `.safetensors`, `.pt`, `.pth`, `.ckpt` or `.bin` file.
        only, device, on_claim: the arguments of `reproduction`.
        run: name of the replaced run; by default the source's main run.
        task: task of the checkpoint; by default the task of the replaced run. The shapes of the weights in the file
            show whether a and b have separate tokens.
    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the source or run is unknown, the pattern matches no claim, or the file is damaged or does not fit.
    """
    claims, about = claims_matching(name, only), source(name)
    spec, run = spec_of(about, run), run or about.main_run
    assumed = asdict(ForwardPass.of(spec.model))
    try:
        m = measure_as_published(
            load(checkpoint, _with_vocabularies_of(checkpoint, task or spec.task), device=device, **assumed)
        )
        check_memory(m.name, m.task, m.model)
    except ValueError as error:
        raise ValueError(f"{error} (read as {run}; --as names the run that the file replaces)") from error
    results = []
    for claim in claims:
        about_this = run in claim.needs or not claim.needs  # else it is about other networks
        results.append(claim.check_foreign(m) if about_this else claim.open("does not apply"))
        on_claim(results[-1])
    keys = {r.claim.figure for r in results if r.measured and r.claim.needs}
    measured, beside = {run: m}, _results_on(run, [r.claim for r in results if r.measured], device)
    return Reproduction(
        about, tuple(results), *_drawn(about, keys, measured, run, undefined=UNDEFINED), measured, True, beside
    )


def _results_on(run: str, claims: Sequence[Claim], device: str) -> dict[str, Result]:
    """Return the results of single-network claims on a run, by id; empty if the run is not available."""
    found: dict[str, Result] = {}
    for m in measurements_of([run], device=device, damaged={}).values():
        for claim in claims:
            with suppress(NotRecorded):
                if claim.of_one is not None:
                    found[claim.id] = claim.check(m)
    return found


def _with_vocabularies_of(checkpoint: Path, task: Task) -> Task:
    """Return a task over pairs with the number of vocabularies in a file's network, or the unchanged task if this is
    impossible.
    """
    if isinstance(task, Group | ModularArithmetic) and checkpoint.suffix in READ:
        with suppress(ValueError):
            return with_tokens_of(read_weights(checkpoint), task, task.equals)
    return task


def reproduction(
    name: str,
    only: str | None = None,
    root: Path | str | None = None,
    device: str = "cpu",
    on_claim: Callable[[Result], object] = lambda _: None,
    measured: dict[str, NetworkMeasurements] | None = None,
    evidence: Evidence | None = None,
    made: Made | None = None,
    damaged: dict[str, str] | None = None,
    recompute: bool = False,
) -> Reproduction:
    """Measure the claims of a source and draw the figures that belong to them.

    Args:
        name: short name of the source.
        only: pattern of claim ids, such as `fig7.*`.
        root: folder of runs, with the layout of `checkpoints/`, which is the default.
        device: device on which networks run.
        on_claim: function called with each result, for example for a progress bar.
        measured, evidence, made: measurements of the runs, numbers of single-network claims, and figures of single
            runs, if they exist, as from `modinterp.reproduce.ensemble`.
        damaged: runs that were left out of `measured`, with the reason.
        recompute: True to leave out runs without weights, whose numbers are only recorded.
    Raises:
        ValueError: the source is unknown, or the pattern matches no claim.
    """
    claims, about = claims_matching(name, only), source(name)
    if measured is None:
        damaged = {}
        measured = measurements_of(run_names(claims, about), root, device, damaged, recompute)
    results = checked(claims, measured, on_claim, evidence, about.controls)
    keys = about.figures_beside({claim.figure for claim in claims})
    drawn = _drawn(about, keys, measured, made=made)
    return Reproduction(about, results, *drawn, measured, damaged=damaged or {}, recompute=recompute)
