"""Claims on the sign of a running sum: uniform attention writes the mean of the numbers so far along one direction."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.sequences.written_direction import WrittenDirection, written_direction
from modinterp.analyses.statistics.explained import affine_fit
from modinterp.analyses.statistics.lines import correlation
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.subject import ACCURACY, LOSS, LOWEST, judged
from modinterp.sources.arena.runs import CUMSUM

UNSURE = "mean probability of the right answer, sum of size 1, last five positions"
QUERIES, KEYS, SCORE = "W_Q over W_V, norms", "W_K over W_V, norms", "largest attention score"
LINE, SLOPE = "correlation of coordinate and number", "slope of the coordinate over the number"
WITH_MEAN, WITH_SUM = "correlation with the mean", "correlation with the sum"
ONCE, TWICE = "projection of 1, 1, 2", "projection of 1, 1, 2 twice"
POS_U, NEG_U, POS_NEG = (
    "cosine of the output of positive and u",
    "cosine of the output of negative and u",
    "cosine of both",
)
POS_ZERO, NEG_ZERO = "cosine of positive and zero", "cosine of negative and zero"
NEGATIVE, ZERO, POSITIVE = range(3)  # outputs


def numbers_in_order(m: SequenceMeasurements) -> list[int]:
    """Return the tokens of the numbers, in ascending order of the numbers."""
    largest = m.task.largest
    return [value % m.task.d_vocab for value in range(-largest, largest + 1)]


def u(m: SequenceMeasurements) -> WrittenDirection:
    """Return the direction u in which the attention head writes numbers to the residual stream."""
    attn = m.precise.blocks[0].attn
    return written_direction((m.precise.W_E[numbers_in_order(m)] @ attn.W_V[0] @ attn.W_O[0]).detach())


def means_so_far(m: SequenceMeasurements) -> tuple[Float[Tensor, "input pos"], Float[Tensor, "input pos"]]:
    """Return the mean and the sum of the numbers up to each position, for the sampled inputs."""
    sums = m.task.numbers(m.sampled.inputs).cumsum(dim=1).double()
    return sums / torch.arange(1, sums.shape[1] + 1), sums


def projections(m: SequenceMeasurements) -> Float[Tensor, "input pos"]:
    """Return the projection of the residual stream after attention onto the direction u, for the sampled inputs."""
    return projection(m, m.sampled.inputs)


def projection(m: SequenceMeasurements, inputs: Tensor) -> Float[Tensor, "input pos"]:
    """Return the projection of the residual stream after attention onto the direction u."""
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(inputs, names_filter=["blocks.0.hook_resid_mid"])
    return cache["blocks.0.hook_resid_mid"] @ u(m).direction


def _solved(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    sums = m.task.numbers(m.examples(len(m.answered.right)).inputs).cumsum(dim=1)
    close = m.answered.sureness[:, 15:][sums[:, 15:].abs() == 1]
    return {
        ACCURACY: m.answered.accuracy,
        LOSS: m.answered.loss,
        LOWEST: float(m.answered.sureness.min()),
        UNSURE: float(close.mean()),
    }


def _uniform(m: SequenceMeasurements) -> dict[str, float]:
    pattern = judged(m).patterns[0]
    seen = torch.arange(1, pattern.shape[-1] + 1).unsqueeze(-1)
    deviation = (pattern * seen - 1).abs() * torch.ones_like(pattern[0, 0]).tril()
    return {"largest deviation from uniform attention, as a share": float(deviation.max())}


def _qk_zero(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    hook = "blocks.0.attn.hook_attn_scores"
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(m.inputs, names_filter=[hook])
    scores = cache[hook]
    size = float(m.precise.W_V.detach().norm())
    return {
        QUERIES: float(m.precise.W_Q.detach().norm()) / size,
        KEYS: float(m.precise.W_K.detach().norm()) / size,
        SCORE: float(scores[scores.isfinite()].abs().max()),
    }


def _linear(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    values, coordinates = torch.arange(-m.task.largest, m.task.largest + 1).double(), u(m).coordinates
    return {
        LINE: correlation(values, coordinates),
        SLOPE: float((values * coordinates).sum() / values.square().sum()),
    }


def _mean(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    (means, sums), along = means_so_far(m), projections(m)
    estimate = affine_fit(along.flatten().unsqueeze(1), means.flatten().unsqueeze(1)).view_as(means)
    named = torch.where(estimate.abs() < 1 / 40, 0.0, estimate).sign() + 1
    example = torch.tensor([[1, 1, 2, 1, 1, 2]]).repeat(1, 4)[:, : m.task.n]
    of_example = projection(m, example)[0]
    return {
        WITH_MEAN: correlation(along, means),
        WITH_SUM: correlation(along, sums),
        ONCE: float(of_example[2]),
        TWICE: float(of_example[5]),
        "accuracy by the sign of the projection": float((named == m.sampled.labels).double().mean()),
    }


def _u_align(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    outputs = m.folded.W_U.detach().T

    def cosine(a: Tensor, b: Tensor) -> float:
        return float(torch.nn.functional.cosine_similarity(a, b, dim=0))

    return {
        POS_U: cosine(outputs[POSITIVE], u(m).direction),
        NEG_U: cosine(outputs[NEGATIVE], u(m).direction),
        POS_NEG: cosine(outputs[POSITIVE], outputs[NEGATIVE]),
        POS_ZERO: cosine(outputs[POSITIVE], outputs[ZERO]),
        NEG_ZERO: cosine(outputs[NEGATIVE], outputs[ZERO]),
    }


CLAIMS = (
    Claim(
        id="arena.cumsum.solved",
        where="November, the network",
        statement="The network predicts every sign correctly, but is uncertain about sums near zero.",
        source_says="accuracy 1.000, loss .073; mean probability of the right answer .938, smallest .579",
        measure=each(_solved),
        expected={
            ACCURACY: at_least(0.9999, "the source's accuracy is 1.000"),
            LOSS: between(0.06, 0.09, "the source's loss is 0.073"),
        },
        behaviour=(ACCURACY,),
        printed={LOSS: 0.073},
        reported=(LOWEST, UNSURE),
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_sureness",
    ),
    Claim(
        id="arena.cumsum.uniform",
        where="November, attention",
        statement="At each position, the head attends equally to this position and all earlier positions.",
        source_says="attention is uniform",
        measure=each(_uniform),
        expected={
            "largest deviation from uniform attention, as a share": at_most(
                0.01, "attention is uniform in the source; we allow a deviation of 0.01 for rounding"
            )
        },
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_attention",
    ),
    Claim(
        id="arena.cumsum.qk_zero",
        where="November, attention, a footnote",
        statement="Attention is uniform because queries and keys are zero.",
        source_says="queries and keys are identically zero",
        measure=each(_qk_zero),
        expected={
            QUERIES: at_most(0.05, "the source calls the weights of queries and keys zero"),
            KEYS: at_most(0.05, "the source calls the weights of queries and keys zero"),
            SCORE: at_most(0.01, "the source's scores are zero, so no score distinguishes two positions"),
        },
        needs=CUMSUM,
        scope="any seed",
    ),
    Claim(
        id="arena.cumsum.rank_one",
        where="November, OV circuit",
        statement="The head writes all numbers along one direction.",
        source_says="only one singular value of the head's output matrix is far from zero",
        measure=each(lambda m: {"energy of the first direction": u(judged(m)).energy}),
        expected={
            "energy of the first direction": at_least(
                0.999, "the source finds that the head writes along one direction"
            )
        },
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_line",
    ),
    Claim(
        id="arena.cumsum.linear",
        where="November, OV circuit",
        statement="The head writes each number along one direction, in proportion to the number's value.",
        source_says="the output is linear in the number",
        measure=each(_linear),
        expected={LINE: at_least(0.999, "the source's plot shows a straight line")},
        reported=(SLOPE,),
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_line",
    ),
    Claim(
        id="arena.cumsum.mean",
        where="November, what the MLP reads",
        statement=(
            "Along the head's output direction, the residual stream holds the mean of the numbers so "
            "far, not the sum of these numbers."
        ),
        source_says="the head computes the cumulative mean",
        measure=each(_mean),
        expected={
            WITH_MEAN: at_least(0.999, "the source says that the residual stream holds the mean"),
            "accuracy by the sign of the projection": at_least(
                0.999, "the sign of the projection on the head's direction should give the answer"
            ),
        },
        behaviour=("accuracy by the sign of the projection",),
        reported=(WITH_SUM, ONCE, TWICE),
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_mean",
    ),
    Claim(
        id="arena.cumsum.u_align",
        where="November, unembedding",
        statement=(
            "The logit direction of 'positive' points along u, the direction in which the head writes; the "
            "logit direction of 'negative' points against u. The logit directions of 'positive' and "
            "'negative' point slightly against the direction of 'zero'."
        ),
        source_says="the logit directions have cosines of .970, -.958, -.949, -.190 and -.128",
        measure=each(_u_align),
        expected={
            POS_U: at_least(0.9, "in the source 'positive' and u have a cosine of 0.970"),
            NEG_U: at_most(-0.9, "in the source 'negative' and u have a cosine of -0.958"),
            POS_NEG: at_most(-0.8, "in the source 'positive' and 'negative' have a cosine of -0.949"),
            POS_ZERO: between(-0.4, 0, "in the source 'positive' and 'zero' have a cosine of -0.190"),
            NEG_ZERO: between(-0.4, 0, "in the source 'negative' and 'zero' have a cosine of -0.128"),
        },
        printed={POS_U: 0.970, NEG_U: -0.958, POS_NEG: -0.949, POS_ZERO: -0.190, NEG_ZERO: -0.128},
        needs=CUMSUM,
        scope="any seed",
    ),
)
