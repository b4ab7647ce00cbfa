"""Compare several networks, such as checkpoints of one training, seeds, architectures and external networks.

The function `compare` and the command `python -m modinterp.compare A B ...` both produce a `Comparison`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import callable_package, lazy_names

if TYPE_CHECKING:
    from modinterp.compare.comparison import Comparison
    from modinterp.compare.entry import compare

_HOMES = {"Comparison": "modinterp.compare.comparison", "compare": "modinterp.compare.entry"}

__all__ = ["Comparison", "compare"]

__getattr__ = lazy_names(__name__, _HOMES)

callable_package(__name__, "compare")
