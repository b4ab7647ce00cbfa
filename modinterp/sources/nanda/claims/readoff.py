"""Claims of section 4.2 and table 1: W_L reads cos and sin of w_k(a + b) from the neurons."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import mean

from modinterp.analyses.fourier.readout import Readoff, ReadoffTable
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.ablations import ACCURACY, LOSS, LOSS_RATIO, TEST_LOSS_RATIO
from modinterp.sources.nanda.claims.trainings import settled_alone
from modinterp.sources.nanda.runs import MAIN

RANK = "rank 2|K|"
SQUARED_RESIDUAL = "squared residual over squared norm"
LOWEST_FVE = "lowest FVE of its wave"
OTHER_CENTRES = ("logit_fve_raw", "logit_fve_row", "logit_fve_row_class")
TWO_LARGEST = "two products largest"
IMBALANCE = "largest imbalance of the two products"
SIGNS_RIGHT = "share of products with the right signs"


def as_printed(*rows: tuple[str, int, float, float, float, float]) -> ReadoffTable:
    """Return a table of the paper in the format of our measurements.

    Args:
        rows: direction of W_L (wave and frequency), coefficients of the two products, amplitude of their wave of a + b,
            fraction of variance explained.
    """
    return ReadoffTable(
        tuple(
            Readoff(freq, wave, first, second, amplitude, fve, math.nan, True)
            for wave, freq, first, second, amplitude, fve in rows
        )
    )


TABLE_1 = as_printed(
    ("cos", 14, 44.6, -43.6, 44.1, 0.932),
    ("sin", 14, 44.1, 44.1, 44.1, 0.935),
    ("cos", 35, 40.7, -43.6, 42.2, 0.968),
    ("sin", 35, 41.8, 41.8, 41.8, 0.965),
    ("cos", 41, 44.8, -44.8, 44.8, 0.970),
    ("sin", 41, 44.5, 44.5, 44.5, 0.970),
    ("cos", 42, 64.6, -68.5, 66.6, 0.964),
    ("sin", 42, 67.8, 67.8, 67.8, 0.964),
    ("cos", 52, 60.5, -65.5, 63.0, 0.974),
    ("sin", 52, 64.5, 64.5, 64.5, 0.982),
)
_LOWEST, _MEAN = 0.932, mean(row.explained for row in TABLE_1.rows)  # FVE

UNCLEAN = (
    "In some networks, one wave of a + b explains too small a share of the neurons' variance along the "
    "weakest W_L direction"
)
UNEQUAL = mixed(f"{UNCLEAN}, or the neurons' two products along a W_L direction differ by more than 10%")
UNCLEAN_SINES = mixed(UNCLEAN)


def _rank(m: CyclicMeasurements) -> dict[str, Value]:
    rank = m.low_rank
    return {
        RANK: rank.rank,
        "next over last singular value": rank.drop,
        "share of the squared norm": rank.leading_share,
    }


def _approximation(m: CyclicMeasurements) -> dict[str, Value]:
    changed = m.changed(m.logit_fit.logits(m.p).to(m.logits.device))
    return {
        TEST_LOSS_RATIO: changed.test_loss_ratio,
        ACCURACY: changed.accuracy,
        "ablated test loss": changed.test_loss,
        LOSS_RATIO: changed.loss_ratio,
        LOSS: changed.loss,
    }


def _no_skip(m: CyclicMeasurements) -> dict[str, Value]:
    changed = m.changed(m.post @ m.W_L.double())
    return {ACCURACY: changed.accuracy}


def said_of(row: Readoff) -> str:
    """Return a row of tables 1 and 3 as a sentence, with the numbers that the paper prints."""
    products = ("cos cos", "sin sin") if row.wave == "cos" else ("sin cos", "cos sin")
    wave = f"{row.wave}(w_{row.freq}(a + b))"
    return f"{row.first} {products[0]} {row.second:+} {products[1]}, about {row.amplitude} {wave}, FVE {row.explained}"


@dataclass(frozen=True)
class _Table1:
    """A measure of a network's own directions of one wave, and beside it of that of one frequency, NaN without it.

    What is expected is asked of all directions, so that measures of one wave are one measurement (they are equal).
    """

    wave: str
    freq: int = field(compare=False)

    def __call__(self, m: CyclicMeasurements) -> dict[str, Value]:
        rows = [row for row in m.readoff.rows if row.wave == self.wave]
        own = next((row for row in rows if row.freq == self.freq), None)
        return {
            LOWEST_FVE: min(row.explained for row in rows),
            TWO_LARGEST: mean(row.two_largest for row in rows),
            IMBALANCE: max(row.imbalance for row in rows),
            SIGNS_RIGHT: mean(row.signs_agree for row in rows),
            **(self.numbers(own) if own else dict.fromkeys(self.names, math.nan)),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers of the one direction."""
        kinds = ("size of the first product", "size of the second product", "amplitude", "FVE")
        return tuple(f"{kind}, {self.wave} {self.freq}" for kind in kinds)

    def numbers(self, row: Readoff) -> dict[str, float]:
        """Return the numbers of one direction by their names; sizes alone, since a wave may be drawn with either sign."""
        return dict(zip(self.names, (abs(row.first), abs(row.second), abs(row.amplitude), row.explained), strict=True))


def _table_1_claim(row: Readoff) -> Claim:
    measure = _Table1(row.wave, row.freq)
    return Claim(
        id=f"nanda.table1.{row.wave}{row.freq}",
        where="section 4.2, table 1",
        statement=(
            f"Along the W_L direction of {row.wave}(w_{row.freq} c) the neurons carry two products of equal size that "
            f"make {row.wave}(w_{row.freq}(a + b)). We measure every {row.wave} direction of W_L at the key "
            "frequencies of our own networks."
        ),
        source_says=said_of(row),
        measure=measure,
        printed=measure.numbers(row),
        outside=dict.fromkeys(
            measure.names,
            "rounding: the few networks that have this key frequency agree with the paper's number to one digit",
        ),
        expected={
            LOWEST_FVE: at_least(
                0.85,
                f"the FVE of this row is {row.explained} in table 1, where the lowest FVE is 0.932; other "
                "networks vary",
            ),
            TWO_LARGEST: equals(1, "the two largest products must be the two products of this row of table 1"),
            IMBALANCE: at_most(
                0.1, f"the two products of this row of table 1 have the sizes {abs(row.first)} and {abs(row.second)}"
            ),
            SIGNS_RIGHT: equals(
                1, "the two products have signs (+, -) for a cosine direction and (+, +) for a sine direction"
            ),
        },
        needs=(MAIN,),
        finding=UNEQUAL if row.wave == "cos" else UNCLEAN_SINES,
        figure="readoff",
    )


CLAIMS = (
    Claim(
        id="nanda.s42.rank10",
        where="section 4.2, equation 2",
        statement=(
            "W_L has effective rank 2|K|: a cosine and a sine direction for each frequency of the set K of key "
            "frequencies."
        ),
        source_says="rank 10 for 5 key frequencies",
        measure=_rank,
        printed={RANK: 10},
        by_selection=(RANK,),
        expected={
            "next over last singular value": at_most(
                0.35,
                "the singular values must drop clearly after 2|K|; in a network that the authors archived "
                "they drop from 13.5 to 3.0",
            ),
            "share of the squared norm": at_least(
                0.98,
                "in a network that the authors archived, the directions of key frequencies hold a share of 0.995 of W_L",
            ),
        },
        needs=(MAIN,),
        figure="spectra",
        finding=mixed(),
    ),
    Claim(
        id="nanda.s42.wl_residual",
        where="section 4.2",
        statement=(
            "Besides a cosine and a sine direction for every key frequency, W_L contains little. The paper says "
            "that the norm of the rest of W_L is below 0.55% of W_L's norm, and may mean the squared norm."
        ),
        source_says="below 0.0055",
        measure=lambda m: {SQUARED_RESIDUAL: m.low_rank.residual_energy},
        printed={"read_residual": 0.0055, SQUARED_RESIDUAL: 0.0055},
        outside={"read_residual": "our definition differs: the paper reports the share of the squared norm"},
        expected={
            SQUARED_RESIDUAL: at_most(
                0.01,
                "the share of the squared norm is 0.0055 in the paper, if the paper means the squared norm,"
                " and 0.0099 in an archived network",
            )
        },
        needs=(MAIN,),
        figure="spectra",
        finding=mixed(),
        changed=settled_alone("a share of 0.018 of the squared norm of W_L"),
    ),
    Claim(
        id="nanda.s42.dot_products_90",
        where="section 4.2",
        statement=(
            "Along each direction of W_L at a key frequency, the neurons are a multiple of cos or sin(w_k(a + b))."
        ),
        source_says="each wave explains more than 0.90 of the variance (the lowest FVE in table 1 is 0.932)",
        measure=lambda m: {"lowest FVE, two products": min(row.explained_by_two for row in m.readoff.rows)},
        printed={
            "readoff_lowest": _LOWEST,
            "readoff_mean": _MEAN,
            "lowest FVE, two products": _LOWEST,
            "readoff_two_terms_mean": _MEAN,
        },
        expected={
            "readoff_lowest": at_least(0.85, "the lowest FVE of the paper's table 1 is 0.932; other networks vary"),
            "readoff_mean": at_least(0.92, "the mean FVE of table 1 is 0.962"),
        },
        needs=(MAIN,),
        figure="readoff",
        finding=UNCLEAN_SINES,
    ),
    Claim(
        id="nanda.s42.logit_fve",
        where="section 4.2",
        statement=(
            "The logits are a sum over key frequencies of alpha_k cos(w_k(a + b - c)), with one coefficient "
            "alpha_k for each key frequency."
        ),
        source_says="0.95",
        printed=dict.fromkeys(("logit_fve", *OTHER_CENTRES), 0.95),
        expected={
            "logit_fve": at_least(0.90, "the FVE of the logits is 0.95 in the paper, and 0.975 in an archived network")
        },
        needs=(MAIN,),
        figure="readoff",
        finding=mixed(),
    ),
    Claim(
        id="nanda.s42.logit_approx_loss",
        where="section 4.2",
        statement="Putting the sum over key frequencies of alpha_k cos(w_k(a + b - c)) in place of the logits lowers the test loss.",
        source_says="the loss changes from 2.4e-7 to 4.7e-8, which is 0.196 times as high",
        measure=_approximation,
        printed={TEST_LOSS_RATIO: 0.196, "ablated test loss": 4.7e-8, LOSS_RATIO: 0.196, LOSS: 4.7e-8},
        expected={
            TEST_LOSS_RATIO: at_most(1, "the claim only says that the test loss falls"),
            ACCURACY: at_least(0.999, "the sum of cosines must still solve the task"),
        },
        behaviour=(ACCURACY,),
        needs=(MAIN,),
        control="also true before training",
    ),
    Claim(
        id="nanda.s42.no_skip_approx",
        where="section 3, equation 3; appendix A.1",
        statement="The logits are nearly W_L times the neurons; the skip connection around the MLP can be left out.",
        source_says="without the skip the accuracy does not change",
        measure=_no_skip,
        expected={ACCURACY: at_least(0.999, "leaving out the skip must not change the accuracy")},
        needs=(MAIN,),
    ),
    *map(_table_1_claim, TABLE_1.rows),
)
