"""Define sources: papers and reports, each a folder (or an installed package) with runs, claims and figures.

`source("NAME")` returns one source, `sources()` all sources, `specs("NAME/*")` the specs of a source's runs, and `load`
a trained run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import lazy_names
from modinterp.sources.contract import Page, Source
from modinterp.sources.registry import catalogue, claims_of, of_each, source, sources, spec, specs

if TYPE_CHECKING:
    from modinterp.sources.drawing import Drawing, Table
    from modinterp.sources.named_runs import load

_HOMES = {
    "Drawing": "modinterp.sources.drawing",
    "Table": "modinterp.sources.drawing",
    "load": "modinterp.sources.named_runs",
}

__all__ = [
    "Drawing",
    "Page",
    "Source",
    "Table",
    "catalogue",
    "claims_of",
    "load",
    "of_each",
    "source",
    "sources",
    "spec",
    "specs",
]

__getattr__ = lazy_names(__name__, _HOMES)
