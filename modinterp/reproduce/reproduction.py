"""A source measured: every claim on the runs that are there, and the figures that belong to the claims."""

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

SPLIT_UNKNOWN = "Which inputs it was trained on is not known: test accuracy and test loss may count them."


@dataclass(frozen=True)
class Reproduction:
    """All measurements of one source.

    Attributes:
        results: one a claim, in the order of the source.
        figures: key to the figure's number in the source and the figure.
        tables: key of a figure to the title of the table below it and the table.
        measured: the measurements that claims and figures asked, by name of the run.
        foreign: whether they are of somebody's checkpoint and not of what this project trained.
        damaged: name of each run that is there and cannot be read to the reason; it is left out.
        recompute: whether networks without weights, of which recorded numbers are shipped, were left out.
        beside: where they are, of claims about one network, by id, the result on the run in whose place it stands.
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
        """The part of a reproduction that belongs to one question of the source."""
        shown = {key for figure in page.figures for key in self.source.figures_shown_with(figure)}
        results = tuple(result for result in self.results if result.claim.figure in shown)
        figures = {key: self.figures[key] for key in page.figures if key in self.figures}
        return replace(self, results=results, figures=figures)

    @property
    def pages(self) -> tuple[Page, ...]:
        """Questions, and figures, with a page of their own, of which something was drawn."""
        apart = {key: self.source.drawings[key].own_page for key in self.figures}
        figures = [Page(key=key, title=title, figures=(key,)) for key, title in apart.items() if title]
        return (*(page for page in self.source.pages if set(page.figures) & set(self.figures)), *figures)

    @property
    def as_recorded(self) -> bool:
        """Whether every verdict is the recorded one."""
        return all(result.as_recorded for result in self.results)

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the recorded one; of a foreign checkpoint, that nothing said of networks is refuted.

        Of fewer networks than were recorded a claim may be open, or hold where some of the others refute it.

        Mathematics, set-up and misprints are not held against it.
        """
        if self.recompute:
            return not any(r.contradicts_record for r in self.results)
        if not self.foreign:
            return self.as_recorded
        return not any(r.verdict == "refuted" and r.claim.is_about_networks for r in self.results)

    @property
    def recomputed(self) -> Share:
        """Of the numbers of claims about one network, one a network and claim, those recomputed from weights."""
        of_one = [result for result in self.results if result.claim.of_one is not None]
        of = sum(len(result.runs) for result in of_one)
        return Share(of - sum(len(result.recorded) for result in of_one), of)

    @property
    def recomputable(self) -> Share:
        """Of the same numbers, those of networks whose weights are there: `--recompute` measures them again."""
        names = [name for result in self.results if result.claim.of_one is not None for name in result.runs]
        there = {n for n, m in self.measured.items() if m.has_weights} | set(filter(ships_weights, set(names)))
        return Share(sum(name in there for name in names), len(names))

    def count(self, verdict: str) -> int:
        """Number of claims with a verdict."""
        return sum(result.verdict == verdict for result in self.results)

    @property
    def tally(self) -> Tally:
        """The verdicts counted, what is one measurement once."""
        return Tally.of((self.source.measurement(r.claim), r.counts_as) for r in self.results)


def claims_matching(name: str, only: str | None = None) -> tuple[Claim, ...]:
    """The claims of a source, or those whose id fits a pattern.

    Raises:
        ValueError: there is no such source, or the pattern fits no claim.
    """
    claims = source(name).matching(only or "*")
    if not claims:
        step = suggestion(only or "", [id.removeprefix(f"{name}.") for id in source(name)])
        raise ValueError(f"no claim of {name} fits {only!r}{step}; --list shows all ids")
    return claims


def measurements_of(
    names: Sequence[str],
    root: Path | str | None = None,
    device: str = "cpu",
    damaged: dict[str, str] | None = None,
    recompute: bool = False,
) -> dict[str, NetworkMeasurements]:
    """Measurements of those of the named runs that are there, in the same order.

    Args:
        names: of runs; none may be a pattern.
        root: folder of runs laid out like `checkpoints/`, which is the default.
        device: where the networks are to live.
        damaged: where a damaged run is noted with the reason, and left out.
        recompute: whether to leave out runs without weights, whose numbers are recorded.
    Raises:
        ValueError: a run is there but damaged, and `damaged` is not given.
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
    """Names of all runs that some claims of a source, and the figures that belong to them, are measured on.

    Those of the claims come first, in the order in which they are needed, with their relatives behind them.
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
    """Figures and tables of the keys that the runs which are there allow, in the order of the source.

    Args:
        main: the run that what shows the source's main run is drawn from; by default that run.
        made: figures and tables of one run that were made already.
        undefined: errors that leave a figure out, as where a user's network has no frequency that it could show.
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
    """The spec of a run of a source; by default of its main run, which may belong to another source.

    Raises:
        ValueError: the source has no such run.
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
    """Measure the claims of a source on a user's checkpoint, in the place of one of its runs.

    How its network computes, of which a file says nothing, is as in that run.

    Args:
        name: short name of the source.
        checkpoint: a `.safetensors`, `.pt`, `.pth`, `.ckpt` or `.bin` file.
        only, device, on_claim: as in `reproduction`.
        run: in the place of which it stands; by default of the source's main run.
        task: what it was trained on, by default what the run was; whether a and b have tokens of their own is read
            from the file's shapes.
    Raises:
        FileNotFoundError: there is no such file.
        ValueError: an unknown source or run, a pattern without a match, a file that is damaged or does not fit.
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
        raise ValueError(f"{error} (taken for {run}; --as names the run whose place it takes)") from error
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
    """The results of claims about one network on a run, by id; none where the run is not there."""
    found: dict[str, Result] = {}
    for m in measurements_of([run], device=device, damaged={}).values():
        for claim in claims:
            with suppress(NotRecorded):
                if claim.of_one is not None:
                    found[claim.id] = claim.check(m)
    return found


def _with_vocabularies_of(checkpoint: Path, task: Task) -> Task:
    """A task over pairs with as many vocabularies as a file's network has; the task as it is where that cannot be."""
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
        root: folder of runs laid out like `checkpoints/`, which is the default.
        device: where networks run.
        on_claim: called with each result; for a progress bar.
        measured, evidence, made: measurements of the runs, what claims about one network measured, and figures and
            tables of one run, where they are there already, as from `modinterp.reproduce.ensemble`; by default they are
            made here.
        damaged: runs that were left out when `measured` was made, with the reason.
        recompute: whether to leave out runs without weights, whose numbers are recorded.
    Raises:
        ValueError: unknown source, pattern without a match.
    """
    claims, about = claims_matching(name, only), source(name)
    if measured is None:
        damaged = {}
        measured = measurements_of(run_names(claims, about), root, device, damaged, recompute)
    results = checked(claims, measured, on_claim, evidence, about.controls)
    keys = about.figures_beside({claim.figure for claim in claims})
    drawn = _drawn(about, keys, measured, made=made)
    return Reproduction(about, results, *drawn, measured, damaged=damaged or {}, recompute=recompute)
