"""Appendix A.1: what may be left out of the analysis, and what may not."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.measurements import PairMeasurements
from modinterp.measurements.network import SCORES
from modinterp.sources.nanda.claims.ablations import ACCURACY, ACCURACY_BEFORE, LOSS, SOLVED, intervention
from modinterp.sources.nanda.runs import MAIN, SEEDS

SELF_ATTENTION = "largest mean attention to itself"
RATIO_WITHOUT = "loss over original, without it"
RATIO_RENORMALISED = "loss over original, renormalised"
OFF_SIGMOID = "mean difference to the sigmoid"
OFF_ONE = "mean difference of the sum to 1"


def _self_attention(m: PairMeasurements) -> dict[str, Value]:
    return {
        SELF_ATTENTION: max(head.mean_to_self for head in m.heads.heads),
        RATIO_WITHOUT: m.ablated("attention to self zero").loss_ratio,
        RATIO_RENORMALISED: m.ablated("attention to self zero, renormalised").loss_ratio,
    }


def _skip_around_attention(*runs: PairMeasurements) -> dict[str, Value]:
    return {
        LOSS: [m.ablated("skip around attention zero").loss for m in runs],
        ACCURACY: [m.ablated("skip around attention zero").accuracy for m in runs],
        ACCURACY_BEFORE: [m.accuracy for m in runs],
    }


def _sigmoid(m: PairMeasurements) -> dict[str, Value]:
    pattern, scores = m.pattern.double(), m.activation(SCORES).double()
    off_sigmoid = (pattern[..., 0] - (scores[..., 0] - scores[..., 1]).sigmoid()).abs()
    off_one = (pattern[..., 0] + pattern[..., 1] - 1).abs()
    return {
        OFF_SIGMOID: float(off_sigmoid.mean()),
        OFF_ONE: float(off_one.mean()),
        "largest difference": float(off_sigmoid.max()),
        "largest difference of the sum to 1": float(off_one.max()),
    }


CLAIMS = (
    Claim(
        id="nanda.A1.self_attention",
        where="appendix A.1",
        statement="The last position hardly attends to itself, and taking that out changes nothing.",
        source_says="0.1% to 0.4% a head",
        measure=_self_attention,
        expected={
            SELF_ATTENTION: at_most(0.02, "0.004 at most in the paper, 0.007 in archived networks"),
            RATIO_WITHOUT: between(0.5, 2, "nothing: within a factor of 2"),
            RATIO_RENORMALISED: between(0.5, 2, "nothing: within a factor of 2"),
        },
        needs=(MAIN,),
        finding=refuted(
            "0.2% to 0.3% a head in the snapshots of epochs 6,700 and 17,800, as in the paper; then the head of frequency 5 begins to attend to itself, 0.8% at epoch 28,900 and 15.9% at 40,000, and the network comes to rely on it. Not of this seed alone: 18.3% on mainline-2; on mainline-1 it is 0.3% and the claim holds"
        ),
        figure="interventions",
    ),
    Claim(
        id="nanda.A1.skip_zero",
        where="appendix A.1",
        statement="Without the skip connection around the MLP the network still solves the task.",
        source_says="9.12e-7, ratio 3.8",
        measure=intervention("skip around MLP zero"),
        expected={ACCURACY: at_least(0.999, "unchanged"), LOSS: at_most(1e-5, "9.12e-7 in the paper")},
        needs=(MAIN,),
        figure="interventions",
    ),
    Claim(
        id="nanda.A1.skip_mean",
        where="appendix A.1",
        statement="With its mean in place of the skip connection around the MLP the network still solves the task, in the paper a little better than without it.",
        source_says="7.25e-7, ratio 3.0",
        measure=intervention("skip around MLP mean"),
        expected={ACCURACY: at_least(0.999, "unchanged"), LOSS: at_most(1e-5, "7.25e-7 in the paper")},
        needs=(MAIN,),
        figure="interventions",
    ),
    Claim(
        id="nanda.A1.attn_zero",
        where="appendix A.1",
        statement="Without the output of the attention heads it is worse than guessing.",
        source_says="24.3",
        measure=intervention("attention output zero"),
        expected={LOSS: at_least(4.73, "worse than chance, ln 113"), **SOLVED},
        needs=(MAIN,),
        figure="interventions",
    ),
    Claim(
        id="nanda.A1.attn_skip_zero",
        where="appendix A.1",
        statement="Without the skip connection around the attention heads it is worse than guessing.",
        source_says="19.1",
        measure=_skip_around_attention,
        expected={
            LOSS: at_least(4.73, "worse than chance, ln 113, which is our reading of 19.1"),
            ACCURACY_BEFORE: at_least(0.999, "the paper ablates a network that solves the task"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "harmful, not fatal, in every seed: losses of 0.68, 0.03, 0.75, 0.08 and 0.54 with 77% to 99% of the pairs right, far from the 19.1 of the paper, which goes with its own seed"
        ),
        figure="interventions",
    ),
    Claim(
        id="nanda.A1.sigmoid",
        where="appendices A.1 and C.1.3",
        statement="Attention to a is the sigmoid of the score of a minus that of b, and attention to b is the rest.",
        source_says="equal but for self-attention",
        measure=_sigmoid,
        expected={
            OFF_SIGMOID: at_most(0.02, "self-attention is 0.004 at most"),
            OFF_ONE: at_most(0.02, "the same"),
        },
        needs=(MAIN,),
        finding=refuted(
            "follows from the self-attention of one head, 15.9% on the mean: what is left for a and b adds to less than 1; the same on mainline-2, while on mainline-1 the claim holds"
        ),
        figure="heads",
    ),
)
