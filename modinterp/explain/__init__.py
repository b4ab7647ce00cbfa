"""Find the algorithm of a network over pairs (a, b) or sequences, and report a verdict, a table of numbers and a page.

The function `explain` and the command `python -m modinterp.explain FILE` both produce an `Explanation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import callable_package, lazy_names

if TYPE_CHECKING:
    from modinterp.explain.entry import explain
    from modinterp.explain.explanation import Explanation
    from modinterp.explain.measuring import measure

_HOMES = {
    "Explanation": "modinterp.explain.explanation",
    "explain": "modinterp.explain.entry",
    "measure": "modinterp.explain.measuring",
}

__all__ = ["Explanation", "explain", "measure"]

__getattr__ = lazy_names(__name__, _HOMES)

callable_package(__name__, "explain")
