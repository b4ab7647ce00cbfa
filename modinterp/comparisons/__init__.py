"""Several networks side by side: checkpoints of one training, seeds, architectures, networks of others.

`compare` is the function, `python -m modinterp.compare A B ...` the command, and a `Comparison` what both give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import lazy_names

if TYPE_CHECKING:
    from modinterp.comparisons.comparison import Comparison
    from modinterp.comparisons.entry import compare

_HOMES = {"Comparison": "modinterp.comparisons.comparison", "compare": "modinterp.comparisons.entry"}

__all__ = ["Comparison", "compare"]

__getattr__ = lazy_names(__name__, _HOMES)
