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
        f"The network adds by rotating the circles of nearly all frequencies ({count} of "
        f"{m.causal.basis.n // 2}), so it has no small set of key frequencies. If all circles are "
        f"rotated by half a step for both numbers, the answer changes by one on {turned.moved:.1%} of "
        f"all pairs, and {turned.kept:.0%} of the formula's fit remains. In a network that only looks "
        "up a table of tokens, about 13% of the fit remains."
    )


ALL_FREQUENCIES = Algorithm(
    "all frequencies",
    FOURIER,
    {
        "turn_of_all": TURNED,
        "turn_of_all_kept": at_least(
            0.4, "in ReLU networks with all frequencies 0.61 to 0.65 of the fit remains, in a lookup table 0.13"
        ),
    },
    _says,
)
