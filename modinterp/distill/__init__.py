"""Measure how much of a network formulas of growing size explain, and export a formula as a program.

The function `distill` returns a `Distilled`. The command `python -m modinterp.distill RUN_OR_FILE` calls the function
`distill`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import callable_package, lazy_names

if TYPE_CHECKING:
    from modinterp.distill.entry import distill
    from modinterp.formulas.distilled import Distilled

_HOMES = {"Distilled": "modinterp.formulas.distilled", "distill": "modinterp.distill.entry"}

__all__ = ["Distilled", "distill"]

__getattr__ = lazy_names(__name__, _HOMES)

callable_package(__name__, "distill")
