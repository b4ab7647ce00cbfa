"""Find the available sources: the sources of modinterp, and those that installed packages register.

A package registers each source under the entry point `modinterp.sources`, by the import path of its `Source`:

    [project.entry-points."modinterp.sources"]
    yours = "your_package.source:SOURCE"
"""

from __future__ import annotations

import fnmatch
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar

from modinterp.sources.contract import Source
from modinterp.terminal.errors import printable
from modinterp.terminal.suggestions import suggestion

if TYPE_CHECKING:
    from modinterp.training import RunSpec

GROUP = "modinterp.sources"
_FOLDER = Path(__file__).parent
_TOLD: set[str] = set()  # packages that were named as skipped
T = TypeVar("T")


@cache
def sources() -> Mapping[str, Source]:
    """Map short names to sources: those of modinterp in alphabetical order, then installed sources.

    An installed package that cannot be imported is skipped with a warning, as is one with no source or a taken name.
    """
    names = sorted(module.name for module in iter_modules([str(_FOLDER)]) if module.ispkg)
    own = [import_module(f"modinterp.sources.{name}.source").SOURCE for name in names]
    by_name: dict[str, Source] = {source.name: source for source in own}
    for entry in entry_points(group=GROUP):
        with _skipped(entry.value):
            source = entry.load()
            if not isinstance(source, Source):
                raise ValueError(f"the entry point {entry.name} of {GROUP} does not name a Source")
            if source.name in by_name:
                raise ValueError(f"it registers the source {source.name}, but another source has this name")
            by_name[source.name] = source
    return by_name


def of_each(part: Callable[[Source], T]) -> dict[str, T]:
    """Map short names to one part of each source; an installed source whose part cannot be imported is skipped with a
    warning.
    """
    parts = {}
    for name, each in sources().items():
        with nullcontext() if each.is_own else _skipped(each.package):
            parts[name] = part(each)
    return parts


@contextmanager
def _skipped(package: str) -> Iterator[None]:
    """Whatever an installed package does wrong meanwhile becomes one line on stderr, told once."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if package not in _TOLD and multiprocessing.parent_process() is None:
            reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            print(printable(f"warning: the installed source {package} is skipped: {reason}"), file=sys.stderr)
        _TOLD.add(package)


def source(name: str) -> Source:
    """Return the source with a short name.

    Raises:
        ValueError: no source has that name.
    """
    if name not in sources():
        raise ValueError(f"unknown source {name!r}; known are {', '.join(sources())}{suggestion(name, sources())}")
    return sources()[name]


@cache
def catalogue() -> Mapping[str, RunSpec]:
    """Map the name of every run of every source to its spec."""
    return {name: spec for runs in of_each(lambda each: each.runs).values() for name, spec in runs.items()}


def spec(name: str) -> RunSpec:
    """Return the spec of the run with a name.

    Raises:
        ValueError: no source has a run of that name.
    """
    if name not in catalogue():
        shown = f"`python -m modinterp.runs list` shows all {len(catalogue())}"
        raise ValueError(f"unknown run {name!r}; {shown}{suggestion(name, catalogue())}")
    return catalogue()[name]


def specs(*patterns: str) -> dict[str, RunSpec]:
    """Return the specs of all runs whose name fits one of the patterns, such as `SOURCE/*`.

    Raises:
        ValueError: no run fits one of the patterns.
    """
    for pattern in patterns:
        if not fnmatch.filter(catalogue(), pattern):
            spec(pattern)
    return {n: each for n, each in catalogue().items() if any(fnmatch.fnmatch(n, p) for p in patterns)}


def claims_of(run: str) -> tuple[str, ...]:
    """Return the ids of all claims, of any source, that are measured on a run."""
    every = of_each(lambda each: each.claims).values()
    return tuple(claim.id for claims in every for claim in claims.values() if run in claim.needs)


def figures_of(run: str) -> tuple[str, ...]:
    """Return all figures, as `SOURCE: number`, that are drawn from a run."""
    return tuple(
        f"{name}: {drawing.number}"
        for name, drawings in of_each(lambda each: each.drawings).items()
        for drawing in drawings.values()
        if drawing.shows(run, sources()[name].main_run)
    )
