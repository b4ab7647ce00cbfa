"""Appendix B and figure 8: why several frequencies are better than one."""

from __future__ import annotations

import math

from modinterp.analyses.cosine_sums import cosine_waves, margin
from modinterp.claims.band import at_least, at_most, near
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.claims.evidence import evidence
from modinterp.runs import TrainedRun

PRINTED_KEYS = (14, 35, 41, 42, 52)


def _margins(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    total = cosine_waves(113, PRINTED_KEYS).sum(dim=1)
    single = 1 - math.cos(2 * math.pi / ev.p)
    return {
        "runner-up for the paper's frequencies": float(total[1:].max()),
        "margin of ours over |K| less that of one frequency": margin(ev.p, ev.freqs) / len(ev.freqs) - single,
        "margin of ours": margin(ev.p, ev.freqs),
    }


def _value_claim(freq: int, x: int, printed: float, wrong: str = "") -> Claim:
    def measure(*_: TrainedRun) -> dict[str, Value]:
        value = float(cosine_waves(113, [freq])[x, 0])
        return {"difference to the printed value": abs(value - printed), "value": value}

    return Claim(
        f"nanda.B.f{freq}_{x}",
        "appendix B",
        f"cos(2 pi {freq} x {x} / 113) is {printed}.",
        f"{printed}",
        measure,
        {"difference to the printed value": at_most(0.002, "two units of the third digit")},
        needs=(),
        scope="any network",
        figure="margins",
        **({"finding": refuted(wrong)} if wrong else {}),
    )


CLAIMS = (
    Claim(
        "nanda.fig8",
        "appendix B, figure 8",
        "Every single cosine comes close to 1 away from 0; the sum of the five is much larger at 0 than anywhere else.",
        "sum 5 at 0; the runner-up, computed from the printed frequencies, is 2.590",
        _margins,
        {
            "runner-up for the paper's frequencies": near(2.590, 0.001, "arithmetic"),
            "margin of ours over |K| less that of one frequency": at_least(0, "several beat one"),
        },
        scope="any network",
        figure="margins",
    ),
    _value_claim(14, 8, 0.998),
    _value_claim(14, 105, 0.998),
    _value_claim(14, 16, 0.994),
    _value_claim(14, 89, 0.994, "a misprint: the peak is at 97 = 113 - 16, and the value at 89 is 0.986"),
    _value_claim(35, 8, -0.99),
    _value_claim(35, 105, -0.99),
    _value_claim(35, 16, 0.961),
    _value_claim(52, 16, -0.56, "a misprint: the value is -0.651"),
)
