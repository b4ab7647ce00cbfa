"""Claims of the notebook's cells 80 and 81: functions of a and b that W_U reads from the neurons."""

from __future__ import annotations

import math
from functools import cache
from statistics import mean

from modinterp.analyses.fourier.readout import readoff
from modinterp.claims.band import at_least, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Measure, Value, each
from modinterp.claims.finding import HOLDS, mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.mlp.runs import MAIN, SEEDS

USED = "the frequency is a key frequency"
LOWEST_FVE = "lowest FVE, two products"

TABLE = {  # frequency -> FVE along sin and cos, as printed
    1: (0.876045, 0.873625),
    3: (0.962507, 0.959093),
    17: (0.956503, 0.946393),
    19: (0.840360, 0.852645),
    21: (0.980572, 0.983368),
    23: (0.851571, 0.863526),
    28: (0.923306, 0.926279),
    29: (0.949293, 0.951330),
    33: (0.945226, 0.941864),
    35: (0.835319, 0.841190),
    37: (0.916977, 0.915845),
    42: (0.966886, 0.969676),
    44: (0.910832, 0.909630),
}


_NOT_OF_MAIN = {  # key frequencies of the notebook that other-draw-0 does not use -> lowest FVE where used
    19: "the explained shares are 0.971 and 0.980 in other-draw-3 and other-draw-4",
    42: "the explained shares are 0.943 and 0.957 in other-draw-1 and other-draw-4",
    44: "the explained share is 0.975 in other-draw-2",
}


_LOW_AT_19 = mixed(
    "Along the cosine direction of frequency 19, one wave explains a share of 0.716 of the neurons' variance in "
    "kissane-0, and 0.840 in the notebook. The network kissane-0 and the notebook's network have the same data "
    "split, initial weights and thirteen key frequencies."
)
_MISSED = {19: _LOW_AT_19}


def _by_own_draw(before: str) -> Change:
    return Change(
        date="2026-11-25",
        what="the network with the notebook's seed",
        before=f"the initial embedding was divided by the root of its number of rows (this network is now other-draw-0): {before}",
        now=(
            "the initial embedding is divided as in the notebook, and the share of variance explained at "
            "frequency 19 is 0.716 in our network; mixed"
        ),
        why=(
            "the notebook divides the initial embedding by the root of d_model; with the notebook's "
            "initialisation our network has all key frequencies of the notebook's network"
        ),
    )


def _explained_everywhere(m: CyclicMeasurements) -> dict[str, Value]:
    """Return the share of variance explained (FVE) along the directions of W_U at all key frequencies."""
    return {LOWEST_FVE: min(row.explained_by_two for row in m.readoff.rows)}


@cache
def _explained(freq: int) -> Measure:
    """Return a measure of the share of variance explained (FVE) along the two directions of W_U at one frequency."""

    def explained(m: CyclicMeasurements) -> dict[str, Value]:
        rows = readoff(m.post, m.W_L, [freq]).rows if freq <= (m.p - 1) // 2 else ()
        return {
            LOWEST_FVE: min((row.explained_by_two for row in rows), default=math.nan),
            USED: freq in m.freqs,
            **{f"FVE of {row.wave} {row.freq}": row.explained_by_two for row in rows},
        }

    return explained


def _fve_claim(freq: int, sine: float, cosine: float) -> Claim:
    return Claim(
        id=f"mlp.fve.k{freq}",
        where="cell 81",
        statement=(
            f"In networks that use the frequency {freq}, the neurons along the W_U directions of sin and cos "
            f"of w_{freq} c are sin and cos of w_{freq}(a + b)."
        ),
        source_says=f"sin {sine:.4f}, cos {cosine:.4f}",
        measure=_explained(freq),
        expected={
            LOWEST_FVE: at_least(0.75, "the lowest explained share in the notebook is 0.835; other networks vary"),
            "readoff_two_terms_mean": at_least(0.88, "the mean of the 26 explained shares in the notebook is 0.918"),
        },
        reported=(f"FVE of sin {freq}", f"FVE of cos {freq}"),
        given={USED: equals(1, f"the claim is about a network that uses the frequency {freq}")},
        needs=(MAIN,),
        figure="readoff",
        finding=_MISSED.get(freq, HOLDS),
        changed=(
            *(
                (_by_own_draw("the main network did not use this frequency, and the claim held in two other seeds"),)
                if freq == 19
                else ()
            ),
            Change(
                date="2026-11-23",
                what="the networks and the frequency that count",
                before=f"every network was measured; in a network without the frequency {freq}, the lowest share "
                "of variance explained at the network's own key frequencies counted"
                + (" (0.879 in other-draw-0)" if freq in _NOT_OF_MAIN else ""),
                now=(
                    f"only networks that use the frequency {freq} are measured; "
                    f"{_NOT_OF_MAIN.get(freq, 'other-draw-0 uses this frequency')}"
                ),
                why="a network that does not use a frequency shows nothing about this frequency",
            ),
        ),
    )


CLAIMS = (
    Claim(
        id="mlp.readoff_heatmaps",
        where="cell 80",
        statement=(
            "Along each direction of W_U at a key frequency, the two products of the angle-sum formula are the "
            "largest terms."
        ),
        source_says="the products are sin cos + cos sin, and cos cos - sin sin",
        measure=each(lambda m: {"two products largest": mean(row.two_largest for row in m.readoff.rows)}),
        expected={
            "two products largest": equals(1, "the two products are the largest terms in every map of the notebook")
        },
        needs=SEEDS,
        scope="any seed",
        figure="readoff",
    ),
    *(_fve_claim(freq, *printed) for freq, printed in TABLE.items()),
    Claim(
        id="mlp.claim84",
        where="summary",
        statement=(
            "The source says that waves of a + b explain more than 84% of the neurons' variance at every key "
            "frequency. The lowest share of variance explained in the notebook's own table is 0.8353."
        ),
        source_says="lowest 0.8353",
        measure=_explained_everywhere,
        expected={
            LOWEST_FVE: at_least(0.75, "the lowest explained share in the notebook is 0.8353; other networks vary")
        },
        needs=(MAIN,),
        figure="readoff",
        finding=_LOW_AT_19,
        changed=(_by_own_draw("the lowest explained share was 0.879; held"),),
    ),
)
