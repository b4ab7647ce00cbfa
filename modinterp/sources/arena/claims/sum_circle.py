"""Claims on the sum of two numbers: digits and their sums lie on circles, and interventions move them."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.sequences.output_circle import OutputCircle, output_circle
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.columns import (
    digits_of,
    foretold_share,
    own_sum_or_nearest,
    targets_of_sum,
    written,
)
from modinterp.sources.arena.claims.sum_carries import (
    AGREES,
    BACKWARDS,
    ENOUGH,
    backwards,
    best_agreements,
    with_mean_attention,
)
from modinterp.sources.arena.runs import SUM

ENERGY, COSINE = "energy of the digits in two directions of W_U", "cosine of the digits with a circle there"
IS_IN_ORDER = "the circle has 1 or 3 turns"
BY_ANGLE, BY_TWO = "accuracy by the nearest angle", "accuracy of two directions"
ONE_TURN, TWO_TURNS = "R2 of the digit sum on a circle of one turn", "R2 of the digit sum on a circle of two turns"
EARLY = "largest accuracy of a digit read after the first layer"
FIRST_WAVES, FIRST_OVER_SECOND = "share of products of the first waves of two digits", "first products over second"
OF_ONE_DIGIT, FIXED = "share of waves of one digit alone", "accuracy with fixed attention in the first layer"
SAME = "carry heads, backward heads and one circle"
CIRCLE = (0.9, 0.95, 0.98)  # least energy, cosine, accuracy by angle


def circle(m: SequenceMeasurements) -> OutputCircle:
    """Return the circle on which the ten digits lie in the unembedding."""
    return output_circle(m.folded.W_U[:, :10])


def _stream(m: SequenceMeasurements, layer: int) -> Float[Tensor, "input answer d_model"]:
    """Return the residual stream after a layer, as the last LayerNorm leaves it, where digits are read."""
    hook, normalised = f"blocks.{layer}.hook_resid_post", m.folded.ln_final
    assert isinstance(normalised, torch.nn.Module)
    with torch.no_grad():
        _, cache = m.folded.run_with_cache(m.sampled.inputs, names_filter=[hook])
        return normalised(cache[hook])[:, list(m.task.read_positions)]


def _circle(m: SequenceMeasurements) -> dict[str, float]:
    found, last = circle(m), _stream(m, len(m.model.blocks) - 1)
    right = m.sampled.labels
    planar = last @ found.plane.T @ (found.plane @ m.folded.W_U.detach()) + m.folded.unembed.b_U.detach()
    return {
        ENERGY: found.energy,
        COSINE: found.cosine,
        IS_IN_ORDER: float(found.step in (1, 3)),
        BY_ANGLE: float((found.nearest(last) == right).double().mean()),
        BY_TWO: float((planar[..., :10].argmax(dim=-1) == right).double().mean()),
    }


def _sum_circle(m: SequenceMeasurements) -> dict[str, float]:
    column = m.task.digits - 1
    looks = own_sum_or_nearest(m, column)
    first = _stream(m, 0) @ m.folded.W_U.detach() + m.folded.unembed.b_U.detach()
    early = (first[..., :10].argmax(dim=-1) == m.sampled.labels).double().mean(dim=0)
    x = written(m, looks).transpose(0, 1).flatten(1)
    shares = [foretold_share(x, targets_of_sum(m, column, step)) for step in (1, 2)]
    return {ONE_TURN: shares[0], TWO_TURNS: shares[1], EARLY: float(early.max())}


def waves_of_two_digits(m: SequenceMeasurements) -> Float[Tensor, "wave_a wave_b"]:
    """Return the Fourier energy over both digits of the last column, in the output of the heads that attend to this
    column.

    Each entry is a share of the energy, by turns per ten digits (0 to 5) of either digit; the constant is left out.
    """
    column = m.task.digits - 1
    first, second = (m.sampled.inputs[:, place] for place in digits_of(m, column))
    x = written(m, own_sum_or_nearest(m, column)).sum(dim=0)
    pair = 10 * first + second
    count = torch.bincount(pair, minlength=100).clamp(min=1).unsqueeze(1)
    means = torch.zeros(100, x.shape[1], dtype=x.dtype).index_add(0, pair, x) / count
    energy = torch.fft.fft2(means.view(10, 10, -1), dim=(0, 1)).abs().square().sum(dim=-1)
    energy[0, 0] = 0
    turns = torch.minimum(torch.arange(10), 10 - torch.arange(10))
    by_turns = torch.zeros(6, 10, dtype=energy.dtype).index_add(0, turns, energy)
    shares = torch.zeros(6, 6, dtype=energy.dtype).index_add(1, turns, by_turns)
    return shares / shares.sum()


def _products(m: SequenceMeasurements) -> dict[str, float]:
    with with_mean_attention(m, 0) as network:
        fixed = m.answers_to(m.sampled, network).accuracy
    shares = waves_of_two_digits(m)
    return {
        FIRST_WAVES: float(shares[1, 1]),
        FIRST_OVER_SECOND: float(shares[1, 1] / shares[2, 2]),
        OF_ONE_DIGIT: float(shares[0].sum() + shares[:, 0].sum()),
        FIXED: fixed,
    }


def _same(m: SequenceMeasurements) -> dict[str, float]:
    best, found = best_agreements(m), _circle(m)
    is_circle = all(found[key] >= least for key, least in zip((ENERGY, COSINE, BY_ANGLE), CIRCLE, strict=True))
    follows = min(best) >= ENOUGH and sum(x >= AGREES for x in best) >= 2
    return {SAME: float(follows and backwards(m)[BACKWARDS] >= 3 and is_circle and found[IS_IN_ORDER] == 1)}


_SWAP = at_least(
    0.75,
    "the carry should predict every exchanged digit; no control exchange may change three of four digits as predicted",
)
_STILL = at_most(
    0.35,
    "exchanges along a random direction should change few digits as predicted; by chance one digit in ten is "
    "predicted right",
)

CLAIMS = (
    Claim(
        id="arena.sum.circle",
        where="September, unembedding",
        statement=(
            "In two directions of the unembedding, the ten digits lie evenly on a circle. The angle of the "
            "network's output on the circle of the digits gives the answer."
        ),
        source_says="the source shows this in a figure",
        measure=each(_circle),
        expected={
            ENERGY: at_least(CIRCLE[0], "two directions should hold most of the digits' energy in the unembedding"),
            COSINE: at_least(CIRCLE[1], "the source's digits lie evenly on a circle"),
            IS_IN_ORDER: equals(
                1, "around the circle, either the digits or three times the digits (mod 10) must be in order"
            ),
            BY_ANGLE: at_least(CIRCLE[2], "the source says that the angle gives the answer"),
        },
        behaviour=(BY_ANGLE,),
        reported=(BY_TWO,),
        needs=SUM,
        scope="any seed",
        finding=mixed(
            "The digits lie on one circle in the network of the authors' seed and in some other networks. "
            "The remaining networks spread the digits over two circles."
        ),
        figure="sum_circle",
    ),
    Claim(
        id="arena.sum.sum_circle",
        where="September, linear probes",
        statement=(
            "After the first layer, the residual stream holds the digit sum on a circle, but not yet at the position "
            "where the answer is read."
        ),
        source_says="the source shows this in a figure",
        measure=each(_sum_circle),
        expected={
            ONE_TURN: at_least(0.5, "the digit sum should lie on a circle of one turn"),
            TWO_TURNS: at_most(0.2, "the digit sum should lie on no circle of two turns"),
            EARLY: at_most(0.5, "after the first layer, the answer position should not hold the digit sum yet"),
        },
        behaviour=(EARLY,),
        finding=mixed(),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.products",
        where="September, linear probes, a conjecture",
        statement="Attention multiplies a wave of one digit with a wave of the other digit.",
        source_says="the source finds products sin x cos y + cos x sin y",
        measure=each(_products),
        expected={
            FIRST_WAVES: at_least(0.1, "the source finds products of the digits' waves of one period"),
            FIRST_OVER_SECOND: at_least(10, "the source finds hardly any products of the digits' waves of two periods"),
        },
        reported=(OF_ONE_DIGIT, FIXED),
        finding=mixed(
            "The statement fails in one network, which has not learned to add: one digit of its sums stays unlearned."
        ),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.other_seeds",
        where="not in the source",
        statement="Networks of other seeds learn the same algorithm as the source's network.",
        source_says="not stated",
        measure=each(_same),
        expected={SAME: equals(1, "we require every part of the algorithm that the source finds")},
        needs=SUM,
        scope="any seed",
        finding=mixed(
            "Some other seeds learn every part of the algorithm of the source's network. The remaining "
            "networks add without heads that find carries, or do not learn to add."
        ),
    ),
    Claim(
        id="arena.sum.carry_swap",
        where="not in the source, which shows that the carry can be read",
        statement=(
            "Exchanging the residual streams of two inputs along the carry's direction alone changes the "
            "answered digit by the carry."
        ),
        source_says="not stated",
        expected={"carry_swap": _SWAP, "carry_swap_control": _STILL},
        needs=SUM,
        scope="any seed",
        finding=refuted(
            "Exchanging the residual streams of two inputs along one carry direction, shared by all digits,"
            " changes hardly any answered digit.",
            "our own expectation",
        ),
    ),
    Claim(
        id="arena.sum.nines_swap",
        where="not in the source, which leaves repeated carries aside",
        statement=(
            "Exchanging the residual streams of two inputs along the carry's direction also changes the "
            "answered digit in sums whose next column adds up to nine."
        ),
        source_says="not stated",
        expected={"nines_swap": _SWAP, "nines_swap_control": _STILL},
        needs=SUM,
        scope="any seed",
        finding=refuted(
            "Exchanging the residual streams of two inputs along one carry direction, shared by all digits,"
            " changes hardly any answered digit.",
            "our own expectation",
        ),
    ),
    Claim(
        id="arena.sum.half_turn",
        where="not in the source, which shows the circle of the answers",
        statement=(
            "Digits are added as angles. If the angles of both digits increase by half a step, to angles "
            "that belong to no token, the answered sum rises by one."
        ),
        source_says="not stated",
        expected={"digit_half_turn": _SWAP, "digit_half_turn_control": _STILL},
        finding=mixed(
            "The statement fails in one network, which has not learned to add: one digit of its sums stays unlearned."
        ),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.through_nines",
        where="not in the source, which leaves repeated carries aside",
        statement=(
            "The network applies a carry that passed through a column that adds up to nine as reliably as any "
            "other carry."
        ),
        source_says="not stated",
        expected={"accuracy_through_nines": at_least(0.95, "nearly all digits with such a carry should be right")},
        finding=mixed(
            "The statement fails in one network, which has not learned to add: one digit of its sums stays unlearned."
        ),
        needs=SUM,
        scope="any seed",
    ),
)
