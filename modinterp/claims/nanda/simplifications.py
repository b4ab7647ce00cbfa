"""Appendix A.1: what may be left out of the analysis, and what may not."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.claims.evidence import PATTERN, SCORES, evidence
from modinterp.claims.nanda.ablations import SOLVED, intervention
from modinterp.claims.nanda.setup import SEEDS
from modinterp.runs import TrainedRun


def _self_attention(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    return {
        "largest mean attention to itself": max(head.mean_to_self for head in ev.heads.heads),
        "loss over original, without it": ev.ablated("attention to self zero").loss_ratio,
        "loss over original, renormalised": ev.ablated("attention to self zero, renormalised").loss_ratio,
    }


def _skip_around_attention(*runs: TrainedRun) -> dict[str, Value]:
    found = [evidence(run) for run in runs]
    return {
        "loss": [ev.ablated("skip around attention zero").loss for ev in found],
        "accuracy": [ev.ablated("skip around attention zero").accuracy for ev in found],
        "accuracy before": [ev.accuracy for ev in found],
    }


def _sigmoid(run: TrainedRun) -> dict[str, Value]:
    grid = evidence(run).grid
    pattern, scores = grid[PATTERN].double(), grid[SCORES].double()
    off = (pattern[..., 0] - (scores[..., 0] - scores[..., 1]).sigmoid()).abs()
    rest = (pattern[..., 0] + pattern[..., 1] - 1).abs()
    return {
        "mean difference to the sigmoid": float(off.mean()),
        "mean difference of the sum to 1": float(rest.mean()),
        "largest difference": float(off.max()),
        "largest difference of the sum to 1": float(rest.max()),
    }


CLAIMS = (
    Claim(
        "nanda.A1.self_attention",
        "appendix A.1",
        "The last position hardly attends to itself, and taking that out changes nothing.",
        "0.1% to 0.4% a head",
        _self_attention,
        {
            "largest mean attention to itself": at_most(0.02, "0.004 at most in the paper, 0.007 in archived networks"),
            "loss over original, without it": between(0.5, 2, "nothing: within a factor of 2"),
            "loss over original, renormalised": between(0.5, 2, "nothing: within a factor of 2"),
        },
        figure="interventions",
        finding=refuted(
            "0.2% to 0.3% a head in the snapshots of epochs 6,700 and 17,800, as in the paper; then the head of frequency 5 begins to attend to itself, 0.8% at epoch 28,900 and 15.9% at 40,000, and the network comes to rely on it. Not of this seed alone: 18.3% on mainline-2; on mainline-1 it is 0.3% and the claim holds"
        ),
    ),
    Claim(
        "nanda.A1.skip_zero",
        "appendix A.1",
        "Without the skip connection around the MLP the network still solves the task.",
        "9.12e-7, ratio 3.8",
        intervention("skip around MLP zero"),
        {"accuracy": at_least(0.999, "unchanged"), "loss": at_most(1e-5, "9.12e-7 in the paper")},
        figure="interventions",
    ),
    Claim(
        "nanda.A1.skip_mean",
        "appendix A.1",
        "With its mean in place of the skip connection around the MLP the network still solves the task, in the paper a little better than without it.",
        "7.25e-7, ratio 3.0",
        intervention("skip around MLP mean"),
        {"accuracy": at_least(0.999, "unchanged"), "loss": at_most(1e-5, "7.25e-7 in the paper")},
        figure="interventions",
    ),
    Claim(
        "nanda.A1.attn_zero",
        "appendix A.1",
        "Without the output of the attention heads it is worse than guessing.",
        "24.3",
        intervention("attention output zero"),
        {"loss": at_least(4.73, "worse than chance, ln 113"), **SOLVED},
        figure="interventions",
    ),
    Claim(
        "nanda.A1.attn_skip_zero",
        "appendix A.1",
        "Without the skip connection around the attention heads it is worse than guessing.",
        "19.1",
        _skip_around_attention,
        {
            "loss": at_least(4.73, "worse than chance, ln 113, which is our reading of 19.1"),
            "accuracy before": at_least(0.999, "the paper ablates a network that solves the task"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="interventions",
        finding=refuted(
            "harmful, not fatal, in every seed: losses of 0.68, 0.03, 0.75, 0.08 and 0.54 with 77% to 99% of the pairs right, far from the 19.1 of the paper, which goes with its own seed"
        ),
    ),
    Claim(
        "nanda.A1.sigmoid",
        "appendices A.1 and C.1.3",
        "Attention to a is the sigmoid of the score of a minus that of b, and attention to b is the rest.",
        "equal but for self-attention",
        _sigmoid,
        {
            "mean difference to the sigmoid": at_most(0.02, "self-attention is 0.004 at most"),
            "mean difference of the sum to 1": at_most(0.02, "the same"),
        },
        figure="heads",
        finding=refuted(
            "follows from the self-attention of one head, 15.9% on the mean: what is left for a and b adds to less than 1; the same on mainline-2, while on mainline-1 the claim holds"
        ),
    ),
)
