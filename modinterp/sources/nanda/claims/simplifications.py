"""Claims of appendix A.1: parts of the network that the analysis may leave out, and parts that it may not."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import SCORES
from modinterp.sources.nanda.claims.ablations import ACCURACY, LOSS, LOSS_RATIO, SOLVED, intervention
from modinterp.sources.nanda.claims.trainings import settled_alone
from modinterp.sources.nanda.runs import MAIN

SELF_ATTENTION = "largest mean attention to itself"
LEAST_SELF_ATTENTION = "smallest mean attention to itself"


def _self_attention(m: CyclicMeasurements) -> dict[str, Value]:
    return {
        SELF_ATTENTION: max(head.mean_to_self for head in m.heads.heads),
        LEAST_SELF_ATTENTION: min(head.mean_to_self for head in m.heads.heads),
        "loss over original, without it": m.ablated("attention to self zero").loss_ratio,
        "loss over original, renormalised": m.ablated("attention to self zero, renormalised").loss_ratio,
    }


def _sigmoid(m: CyclicMeasurements) -> dict[str, Value]:
    pattern, scores = m.pattern.double(), m.activation(SCORES).double()
    off_sigmoid = (pattern[..., 0] - (scores[..., 0] - scores[..., 1]).sigmoid()).abs()
    off_one = (pattern[..., 0] + pattern[..., 1] - 1).abs()
    return {
        "mean difference to the sigmoid": float(off_sigmoid.mean()),
        "mean difference of the sum to 1": float(off_one.mean()),
    }


CLAIMS = (
    Claim(
        id="nanda.A1.self_attention",
        where="appendix A.1",
        statement=(
            "The last position hardly attends to itself, and removing the last position's attention to itself "
            "changes nothing."
        ),
        source_says="each head gives the last position 0.1% to 0.4% of its attention",
        measure=_self_attention,
        printed={SELF_ATTENTION: 0.004, LEAST_SELF_ATTENTION: 0.001},
        outside={LEAST_SELF_ATTENTION: "the paper prints 0.107% as 0.1%, rounded to one digit"},
        expected={
            SELF_ATTENTION: at_most(
                0.02,
                "the attention of the last position to itself is at most 0.004 in the paper, and 0.007 in "
                "archived networks",
            ),
            "loss over original, without it": between(
                0.5,
                2,
                "removing the last position's attention to itself changes nothing if the loss stays within a factor of 2",
            ),
            "loss over original, renormalised": between(
                0.5,
                2,
                "removing the last position's attention to itself changes nothing if the loss stays within a factor of 2",
            ),
        },
        needs=(MAIN,),
        finding=mixed(
            "In our main network, the last position gives itself at most 1.1% of its attention. Removing the "
            "last position's attention to itself changes our main network's loss by 11%. In some other seeds, "
            "late in training, the last position gives itself much attention in one head, and the network relies "
            "on it."
        ),
        figure="interventions",
        control="also true after memorising",
    ),
    Claim(
        id="nanda.A1.skip_zero",
        where="appendix A.1",
        statement="Without the skip connection around the MLP the network still solves the task.",
        source_says="loss 9.12e-7, 3.8 times the original loss",
        measure=intervention("skip around MLP zero"),
        printed={LOSS_RATIO: 3.8, LOSS: 9.12e-7},
        expected={
            ACCURACY: at_least(0.999, "the change to the skip connection must not change the accuracy"),
            LOSS: at_most(1e-5, "the paper's loss without the skip connection is 9.12e-7"),
        },
        behaviour=(ACCURACY,),
        needs=(MAIN,),
        figure="interventions",
        changed=settled_alone("a loss of 1.4e-5, with all answers right,", "mixed"),
    ),
    Claim(
        id="nanda.A1.skip_mean",
        where="appendix A.1",
        statement=(
            "With the mean in place of the skip connection around the MLP the network still solves the task. In "
            "the paper, the loss with the mean in place of the skip connection is slightly lower than the loss "
            "without the skip connection."
        ),
        source_says="loss 7.25e-7, 3.0 times the original loss",
        measure=intervention("skip around MLP mean"),
        printed={LOSS_RATIO: 3.0, LOSS: 7.25e-7},
        expected={
            ACCURACY: at_least(0.999, "the change to the skip connection must not change the accuracy"),
            LOSS: at_most(1e-5, "the paper's loss with the mean in place of the skip connection is 7.25e-7"),
        },
        behaviour=(ACCURACY,),
        needs=(MAIN,),
        figure="interventions",
        changed=settled_alone("a loss of 2.0e-5, with all answers right,", "mixed"),
        finding=mixed(),
    ),
    Claim(
        id="nanda.A1.attn_zero",
        where="appendix A.1",
        statement="Without the output of the attention heads the network is worse than guessing.",
        source_says="24.3",
        measure=lambda m: {
            **intervention("attention output zero")(m),
            "loss, the output at its mean": m.ablated("attention output mean").loss,
        },
        printed={LOSS: 24.3, "loss, the output at its mean": 24.3},
        expected={LOSS: at_least(4.73, "the loss must be worse than the loss of guessing, ln 113"), **SOLVED},
        reported=("ablated accuracy", "loss over original", "test loss over original"),
        needs=(MAIN,),
        figure="interventions",
        control="also true before training",
    ),
    Claim(
        id="nanda.A1.attn_skip_zero",
        where="appendix A.1",
        statement="Without the skip connection around the attention heads the network is worse than guessing.",
        source_says="19.1",
        measure=intervention("skip around attention zero"),
        printed={LOSS: 19.1},
        outside={
            LOSS: (
                "the reason is unknown: removing the skip around attention is never fatal, neither with "
                "zeros nor with the mean embedding, nor in the authors' archived networks (4e-7 to 5e-3). "
                'At "=", which the skip passes on, the mean is the embedding itself'
            )
        },
        expected={
            LOSS: at_least(
                4.73,
                "the loss must be above the loss of guessing, ln 113; this is how we read the paper's loss of 19.1",
            ),
            **SOLVED,
        },
        needs=(MAIN,),
        finding=refuted(
            "In every network, removing the skip connection around attention is harmful but not fatal. Without "
            "the skip connection around attention, the loss is 1.15 in our main network, far from the 19.1 of "
            "the paper."
        ),
        figure="interventions",
        control="also true before training",
    ),
    Claim(
        id="nanda.A1.sigmoid",
        where="appendices A.1 and C.1.3",
        statement=(
            "The last position's attention to a is the sigmoid of the attention score of a minus the attention "
            "score of b. The last position's attention to b is 1 minus its attention to a."
        ),
        source_says=(
            "the attention to a and the sigmoid are equal, except for the attention of the last position to itself"
        ),
        measure=_sigmoid,
        expected={
            "mean difference to the sigmoid": at_most(
                0.02, "the attention of the last position to itself is at most 0.004 in the paper"
            ),
            "mean difference of the sum to 1": at_most(
                0.02, "the attention of the last position to itself is at most 0.004 in the paper"
            ),
        },
        needs=(MAIN,),
        finding=mixed(
            "The sigmoid of the scores' difference differs from the attention to a because the last position "
            "also attends to itself. The difference between sigmoid and attention is small in networks where the "
            "last position hardly attends to itself, such as the paper's seed."
        ),
        figure="heads",
        control="also true after memorising",
    ),
)
