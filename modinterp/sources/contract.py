"""Define a source: a paper or report as one folder, with its runs, claims and figures.

Making a `Source` costs nothing, so that a command can list all of them. The parts of a source are imported on first
use. Names of runs and figures are checked when the parts are imported, so that a wrong name fails at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame

    from modinterp.claims import Claim, Contradiction, Result
    from modinterp.sources.drawing import Drawing
    from modinterp.sources.story import Story
    from modinterp.training import RunSpec


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of its own for one question of a source, with the figures and claims that answer the question.

    Attributes:
        key: name of the page's file, without its ending.
        title: the question that the page answers.
        figures: keys of the figures on the page; the page shows the claims of these figures.
    """

    key: str
    title: str
    figures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Source(Mapping):
    """A paper, report or notebook whose statements are compared with trained networks.

    A source maps the id of each of its claims to the claim. An id may be given with or without the source's name in
    front.

    Attributes:
        name: short name, with which ids of claims and names of runs begin.
        package: the package of the source's folder, `__package__` in its `source.py`. The package holds three modules:
            `runs` (`RUNS`, name to spec), `claims` (`CLAIMS`, and `CONTRADICTIONS` if there are any) and `drawings`
            (`FIGURES`, key to `Drawing`). The package may hold three more modules: `search`, `story` and `overview`.
            The optional module `search` defines a space of hyper-parameters. The optional module `story` has sentences
            for the top of the page (`STORY`), and `overview` a table (`TITLE`, and `table` from results to a data
            frame).
        title: title of the paper or report.
        citation: authors and year, or the kind of text.
        link: web address of the text; empty if the text has no public address.
        main_run: name of the run that stands for the source's own network. A source without a network of its own names
            a run of another source as `main_run`, and its `RUNS` may be empty.
        pages: questions of the source that have a page of their own.
        note: a remark that applies to all of the source's runs.
    """

    name: str
    package: str
    title: str
    citation: str
    link: str = ""
    main_run: str
    pages: tuple[Page, ...] = ()
    note: str = ""

    @property
    def is_own(self) -> bool:
        """True if the source comes with modinterp."""
        return self.package.startswith("modinterp.")

    def _part(self, module: str) -> Any:
        if self.is_own:
            return import_module(f"{self.package}.{module}")
        try:
            return import_module(f"{self.package}.{module}")
        except (Exception, SystemExit) as error:
            what = f"{self.package}.{module} cannot be imported: {type(error).__name__}: {error}"
            raise ValueError(what) from error

    @cached_property
    def runs(self) -> Mapping[str, RunSpec]:
        """Map the name of each run to its spec.

        Raises:
            ValueError: a run's name does not begin with the source's name, or the source's own main run is missing.
        """
        runs: Mapping[str, RunSpec] = self._part("runs").RUNS
        if astray := [name for name in runs if not name.startswith(f"{self.name}/")]:
            raise ValueError(f"names of runs of {self.name} must begin with {self.name}/, got {', '.join(astray)}")
        if self.main_run not in runs and self.main_run.startswith(f"{self.name}/"):
            raise ValueError(f"the main run of {self.name}, {self.main_run}, is not among the source's runs")
        return runs

    @property
    def controls(self) -> Mapping[str, str]:
        """Map the name of each control run, which learned another task, to its description, such as "of random labels".

        Claims about a network of equal shape are evaluated on the control too, as if the control had learned the
        claims' task. A control may be a run of another source, and may have claims of its own.
        """
        controls: Mapping[str, str] = getattr(self._part("runs"), "CONTROLS", {})
        return controls

    @cached_property
    def claims(self) -> Mapping[str, Claim]:
        """Map the id of each claim to the claim, in the order of the source.

        Raises:
            ValueError: two claims have one id; an id does not begin with the source's name; a claim names a run or a
                figure that the source does not have. (Runs of other sources need not be there: a claim that needs one
                is then not measured.)
        """
        claims: dict[str, Claim] = {}
        for claim in self._part("claims").CLAIMS:
            if claim.id in claims or claim.source != self.name:
                raise ValueError(
                    f"{claim.id} is not a valid new claim id: ids of {self.name} must begin with its name and be unique"
                )
            own = {run for run in claim.needs if run.startswith(f"{self.name}/")}
            if unknown := own - set(self.runs):
                raise ValueError(f"{claim.id} needs {', '.join(sorted(unknown))}, which {self.name} does not have")
            if claim.figure and claim.figure not in self.drawings:
                raise ValueError(f"{claim.id} is shown by the figure {claim.figure!r}, which {self.name} does not have")
            claims[claim.id] = claim
        return claims

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return contradictions between this source and other sources, or within this source, and the claims that
        settle them.

        Raises:
            ValueError: a contradiction refers to a claim that does not exist.
        """
        conflicts: tuple[Contradiction, ...] = getattr(self._part("claims"), "CONTRADICTIONS", ())
        for conflict in conflicts:
            if unknown := [key for key in conflict.settled_by if f"{self.name}.{key}" not in self.claims]:
                raise ValueError(f"{conflict.id} is settled by {', '.join(unknown)}, which {self.name} does not claim")
        return conflicts

    @cached_property
    def drawings(self) -> Mapping[str, Drawing]:
        """Map the key of each figure to its `Drawing`.

        Raises:
            ValueError: a page or a figure names a figure that does not exist.
        """
        drawings: Mapping[str, Drawing] = self._part("drawings").FIGURES
        shown = {key for page in self.pages for key in page.figures}
        if unknown := (shown | {d.beside for d in drawings.values() if d.beside}) - set(drawings):
            raise ValueError(f"{self.name} has no figure {', '.join(sorted(unknown))}")
        return drawings

    @cached_property
    def story(self) -> Story | None:
        """Return the story at the top of the source's page; None for a page that begins with its claims and first
        figures.

        Raises:
            KeyError: the story names a claim that does not exist.
            ValueError: the story shows a figure that does not exist, or a number that a claim may lack.
        """
        if find_spec(f"{self.package}.story") is None:
            return None
        story: Story = self._part("story").STORY
        for key, number in story.numbers:
            claim = self[key]
            if number and number not in claim.names:
                raise ValueError(
                    f"the story of {self.name} quotes {number!r} of {claim.id}, but the claim has no such number"
                )
        if unknown := set(story.figures) - set(self.drawings):
            raise ValueError(
                f"the story of {self.name} shows {', '.join(sorted(unknown))}, but the source has no such figure"
            )
        return story

    def overview(self, results: Mapping[str, Result]) -> tuple[str, DataFrame] | None:
        """Return a title and the source's own table of results, for the top of the source's page; None without such a
        table.

        Args:
            results: map from the id of a claim, without the source's name, to its result.
        """
        if find_spec(f"{self.package}.overview") is None:
            return None
        module = self._part("overview")
        return module.TITLE, module.table(results)

    @property
    def has_search(self) -> bool:
        """True if the source states which hyper-parameters were searched for."""
        return find_spec(f"{self.package}.search") is not None

    @property
    def search(self) -> Any:
        """Return the module that defines the source's hyper-parameter search; see `modinterp.runs.search.Space`."""
        return self._part("search")

    @property
    def folder(self) -> Path:
        """Return the source's folder; a source in its own package may ship `checkpoints/` in this folder."""
        spec = find_spec(self.package)
        assert spec is not None
        return Path(next(iter(spec.submodule_search_locations or ())))

    def __getitem__(self, key: str) -> Claim:
        full = f"{self.name}.{key}"
        if full not in self.claims and key.startswith(f"{self.name}."):
            full = key
        if full not in self.claims:
            raise KeyError(f"there is no claim {full}; `python -m modinterp.reproduce {self.name} --list` shows all")
        return self.claims[full]

    def __iter__(self) -> Iterator[str]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def __bool__(self) -> bool:
        """Always True, even for a source without claims; nothing is imported."""
        return True

    def __hash__(self) -> int:
        return hash(self.name)

    def matching(self, pattern: str) -> tuple[Claim, ...]:
        """Return the claims whose id, with or without the source's name, fits a pattern with `*`, `?` and `[...]`."""
        return tuple(
            claim
            for key, claim in self.claims.items()
            if fnmatchcase(key, pattern) or fnmatchcase(key.removeprefix(f"{self.name}."), pattern)
        )

    def measurement(self, claim: Claim) -> Hashable:
        """Return the key of a claim's measurement: the measuring function, the recipe of the networks, and the names of
        the numbers.

        Claims that share a measurement count once. (Factories of claims make their measures once for equal arguments.)
        """
        if not claim.needs or claim.needs[0] not in self.runs:
            return claim.id
        about = self.runs[claim.needs[0]].shared_recipe if claim.of_one is not None else claim.needs
        own = None if set(claim.expected) <= set(claim.keys) else getattr(claim.measure, "of_one", claim.measure)
        return own, about, tuple(sorted(claim.expected))

    def figure(self, number: str | int) -> go.Figure:
        """Return the figure with a number in the paper, drawn from the available runs.

        >>> import modinterp as mi
        >>> mi.source("nanda").figure("2").write_image("figure2.png")  # doctest: +SKIP

        Args:
            number: number of the figure in the paper, such as `"2"`, `"Figure 2"` or `"Table 1"`, or a key of
                `drawings`.
        Raises:
            ValueError: no figure, or more than one, has that number; the message lists the figures.
            FileNotFoundError: none of the figure's runs is available; the message says how to train the first run.
        """
        drawn: Callable[[Source, str], go.Figure] = import_module("modinterp.sources.numbered").drawn
        return drawn(self, str(number))

    def figures_beside(self, keys: set[str]) -> set[str]:
        """Return the given keys of figures, and the keys of figures that are drawn beside these figures."""
        return keys | {key for key, drawing in self.drawings.items() if drawing.beside in keys}

    def figures_shown_with(self, key: str) -> set[str]:
        """Return the key of a figure, and the key of the figure beside which it is drawn; claims may name the latter."""
        return {key, self.drawings[key].beside} - {""}

    def __repr__(self) -> str:
        return f"Source({self.name}: {self.title}, {self.citation})"
