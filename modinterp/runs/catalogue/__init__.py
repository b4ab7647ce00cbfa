"""Every named run of every source, and what it is trained from: one file a source."""

from __future__ import annotations

import fnmatch

from modinterp.runs.catalogue import circuits, clock, miiii, mlp, nanda
from modinterp.runs.catalogue.entry import Entry
from modinterp.training import RunSpec
from modinterp.usage import perhaps

CATALOGUE: dict[str, Entry] = {**nanda.RUNS, **clock.RUNS, **miiii.RUNS, **circuits.RUNS, **mlp.RUNS}


def named(name: str) -> RunSpec:
    """The spec of a named run.

    Raises:
        ValueError: no run of that name.
    """
    if name not in CATALOGUE:
        shown = f"`python -m modinterp.runs list` shows all {len(CATALOGUE)}"
        raise ValueError(f"unknown run {name!r}; {shown}{perhaps(name, CATALOGUE)}")
    return CATALOGUE[name].spec


def matching(*patterns: str) -> dict[str, RunSpec]:
    """The specs of all runs whose name matches one of the patterns, such as `clock/*`, in the catalogue's order.

    Raises:
        ValueError: a pattern that no run matches.
    """
    for pattern in patterns:
        if not fnmatch.filter(CATALOGUE, pattern):
            named(pattern)
    return {n: entry.spec for n, entry in CATALOGUE.items() if any(fnmatch.fnmatch(n, p) for p in patterns)}
