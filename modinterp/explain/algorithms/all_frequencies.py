"""Hypothesis "all frequencies": the logits use waves of most frequencies, without a gap between key and other
frequencies.
"""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import TURNED
from modinterp.explain.labels import FOURIER


def _says(m: Any) -> str:
    turned, count = m.causal.turn_of_all, len(m.causal.circles)
    return (
        f"The network adds by turning nearly all circles ({count} of {m.causal.basis.n // 2}), so no few "
        "frequencies are key. With all circles turned by half a step for both numbers the answer moves by one on "
        f"{turned.moved:.1%} of all pairs, and {turned.kept:.0%} of the formula's fit is kept, where a table of "
        "tokens keeps about 13%."
    )


ALL_FREQUENCIES = Algorithm(
    "all frequencies",
    FOURIER,
    {
        "turn_of_all": TURNED,
        "turn_of_all_kept": at_least(0.4, "rectified networks of all frequencies keep 0.61 to 0.65, a table 0.13"),
    },
    _says,
)
