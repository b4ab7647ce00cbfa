"""Claims of appendix B and figure 8: why several frequencies give larger margins than one."""

from __future__ import annotations

import math

from modinterp.analyses.fourier.cosine_sums import cosine_waves, margin
from modinterp.claims.band import at_least, at_most, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value
from modinterp.claims.finding import HOLDS, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.runs import MAIN, PAPER_FREQS

OFF_PRINTED = "difference to the printed value"
VALUE = "value of the formula"


def _margins(m: CyclicMeasurements) -> dict[str, Value]:
    total = cosine_waves(113, PAPER_FREQS).sum(dim=1)
    single = 1 - math.cos(2 * math.pi / m.p)
    return {
        "runner-up for the paper's frequencies": float(total[1:].max()),
        "margin of the five over five, less that of one frequency": (
            margin(113, PAPER_FREQS) / len(PAPER_FREQS) - single
        ),
        "margin of our frequencies": margin(m.p, m.freqs),
    }


def _value_claim(freq: int, x: int, printed: float, misprint: str = "") -> Claim:
    def measure(*_: CyclicMeasurements) -> dict[str, Value]:
        value = float(cosine_waves(113, [freq])[x, 0])
        return {OFF_PRINTED: abs(value - printed), VALUE: value}

    return Claim(
        id=f"nanda.B.f{freq}_{x}",
        where="appendix B",
        statement=f"cos(2 pi {freq} x {x} / 113) is {printed}.",
        source_says=f"{printed}",
        measure=measure,
        expected={
            OFF_PRINTED: at_most(0.002, "we accept an error of two units in the third digit of the printed value")
        },
        reported=(VALUE,),
        scope="any network",
        figure="margins",
        finding=refuted(misprint, "source") if misprint else HOLDS,
    )


CLAIMS = (
    Claim(
        id="nanda.fig8",
        where="appendix B, figure 8",
        statement=(
            "Each single cosine cos(2 pi k x / 113) of a key frequency k comes close to 1 at some x other than "
            "0. The sum of the five key frequencies' cosines is much larger at x = 0 than anywhere else."
        ),
        source_says=(
            "the sum of the cosines is 5 at 0; elsewhere it is at most 2.590, computed from the printed frequencies"
        ),
        measure=_margins,
        expected={
            "runner-up for the paper's frequencies": near(2.590, 0.001, "arithmetic"),
            "margin of the five over five, less that of one frequency": at_least(
                0, "the sum of several cosines must have a larger margin than any single cosine"
            ),
        },
        needs=(MAIN,),
        scope="any network",
        figure="margins",
        reported=("margin of our frequencies",),
        changed=(
            Change(
                date="2026-11-23",
                what="the frequencies whose margin is compared with that of one frequency",
                before=(
                    "the claim compared the margin of the cosine sum at our network's frequencies with the margin of each "
                    "single one of these frequencies"
                ),
                now=(
                    "the claim compares the margin of the cosine sum at the paper's five frequencies with the margin of each "
                    "single one of these frequencies"
                ),
                why=(
                    "the claim is arithmetic about the frequencies that the paper prints; the margin of the "
                    "cosine sum at our network's frequencies is also reported"
                ),
            ),
        ),
    ),
    _value_claim(14, 8, 0.998),
    _value_claim(14, 105, 0.998),
    _value_claim(14, 16, 0.994),
    _value_claim(14, 89, 0.994, "a misprint: cos(w_14 x) is 0.994 at x = 97 = 113 - 16, and 0.986 at x = 89"),
    _value_claim(35, 8, -0.99),
    _value_claim(35, 105, -0.99),
    _value_claim(35, 16, 0.961),
    _value_claim(52, 16, -0.56, "a misprint: the correct value of the cosine is -0.651"),
)
