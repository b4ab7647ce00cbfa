"""Claims of the post's sections 6.2 to 7.2: each head's output traces a petal over b; the petals sum to a circle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import eq, gt, lt
from statistics import median

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.circles.circle import convex_hull
from modinterp.analyses.circles.petals import PetalFit, petal_frequencies, pullback
from modinterp.analyses.fourier.transforms import component_frequencies, fourier_basis, transform
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.circles import ATTN_OUT
from modinterp.sources.clock.runs import SEEDS

PREDICTION_FIT = "lowest R squared of the prediction"
FREQUENCIES_SHARE = "lowest share at the petal's frequencies"
PULL_BACK_RESIDUAL = "largest residual of the pull-back"
PETALS = "heads and planes"
PETAL_CORNERS = "corners of a petal, largest share"
OTHER_PETAL_CORNERS = f"{PETAL_CORNERS}, the attention's frequency another one"
SUM_QUALITY = "quality of the sum"
ABOVE_MEDIAN_HEAD = "above the median head by"


def _worst_prediction(fits: Sequence[PetalFit]) -> dict[str, Value]:
    """Return the worst values of the fits' measures over all petals; NaN without petals."""
    return {
        PREDICTION_FIT: min((fit.explained for fit in fits), default=math.nan),
        FREQUENCIES_SHARE: min((fit.at_frequencies for fit in fits), default=math.nan),
        PETALS: len(fits),
        PULL_BACK_RESIDUAL: max((fit.residual for fit in fits), default=math.nan),
    }


def _petals_where(attention: Callable[[int, int], bool]) -> Callable[[CyclicMeasurements], dict[str, Value]]:
    """Return a measure of the petals of z, of heads that are tuned to a key frequency.

    Args:
        attention: which petals, by the frequency of the attention and that of the plane.
    """

    def petals_in_z(m: CyclicMeasurements) -> dict[str, Value]:
        tuned = [fit for fit in m.circles.petals if fit.head in m.circles.tuned_heads]
        return _worst_prediction([fit for fit in tuned if attention(fit.attention, fit.embedding)])

    return petals_in_z


def _petals_in_residual_stream(m: CyclicMeasurements) -> dict[str, Value]:
    found = _worst_prediction([fit for fit in m.circles.written_petals if fit.head in m.circles.tuned_heads])
    return {name: value for name, value in found.items() if name != PULL_BACK_RESIDUAL}


def _corners_without_noise(points: Float[Tensor, "b 2"], freqs: set[int]) -> float:
    """Return the share of a curve's points that are corners of its convex hull, by its waves of these frequencies
    alone.
    """
    own = torch.isin(component_frequencies(len(points)), torch.tensor(sorted(freqs))).to(points.device)
    curve = fourier_basis(len(points)).to(points.device).T @ (transform(points) * own[:, None])
    return len(convex_hull(curve)) / len(points)


def _corners(m: CyclicMeasurements) -> dict[str, Value]:
    """Return the share of points on the convex hull of circles and petals, after removing other waves."""
    circles = [_corners_without_noise(m.W_E.double() @ plane, {0, k}) for k, plane in m.circles.planes.items()]
    same, others = [], []
    for head, (k, plane) in ((h, item) for h in m.circles.tuned_heads for item in m.circles.planes.items()):
        attention = m.circles.tuning[head][0]
        points = m.circles.head_values[:, head] @ pullback(m.W_V[head], plane)[0]
        share = _corners_without_noise(points, petal_frequencies(m.p, k, attention))
        (same if attention == k else others).append(share)
    return {
        "corners of a circle of the embedding, lowest share of the points": min(circles),
        PETAL_CORNERS: max(same + others, default=math.nan),
        OTHER_PETAL_CORNERS: max(others, default=math.nan),
        "corners of a circle with its noise, lowest share": min(c.on_hull for c in m.circles.circles_of_W_E.values()),
    }


def _sum_of_heads(number: int) -> Callable[[CyclicMeasurements], dict[str, Value]]:
    """Return a measure of the circle of all heads' sum, at the key frequency of that number, from 0, in ascending
    order.
    """

    def circle_of_sum(m: CyclicMeasurements) -> dict[str, Value]:
        if number >= len(m.freqs):
            return {SUM_QUALITY: math.nan, ABOVE_MEDIAN_HEAD: math.nan}
        together, alone = m.circles.summed_circles[m.freqs[number]]
        return {
            SUM_QUALITY: together.quality,
            ABOVE_MEDIAN_HEAD: together.quality - median(c.quality for c in alone),
        }

    return circle_of_sum


def _own_planes(m: CyclicMeasurements) -> dict[str, Value]:
    own = [m.circles.own_circle(ATTN_OUT, k) for k in m.freqs]
    return {
        "lowest quality of a circle": min(c.quality for c in own),
        "lowest aspect ratio of a circle": min(c.aspect for c in own),
    }


def _all_sums(m: CyclicMeasurements) -> dict[str, Value]:
    sums = m.circles.summed_circles.values()
    gains = [together.quality - median(c.quality for c in alone) for together, alone in sums]
    return {
        "lowest quality of a sum": min(together.quality for together, _ in sums),
        "smallest gain over the median head": min(gains),
    }


_PREDICTED = {
    PREDICTION_FIT: at_least(0.9, "the measured points must lie close to the predicted petals"),
    FREQUENCIES_SHARE: at_least(0.85, "the measured points must lie close to the predicted petals"),
    PETALS: at_least(
        1, "at least one head must have attention that oscillates, since a head with constant attention has no petal"
    ),
}
_CIRCLE = {
    SUM_QUALITY: at_least(0.8, "one frequency must dominate the sum of the heads' petals"),
    ABOVE_MEDIAN_HEAD: at_least(0, "the sum of the heads' petals must be a circle, though each head alone has petals"),
}
_PETALS_COUNTED = (
    Change(
        date="2026-11-23",
        what="the tolerances: the number of petals now has a tolerance too",
        before="the claim had no condition for networks without petals, such as untrained networks",
        now="the claim needs at least one petal: our networks have 2 to 16 petals, and 0 before training",
        why="the claim should fail for a network without petals",
    ),
)


def _counted(number: int) -> tuple[Change, ...]:
    """What was changed of the claim on the key frequency of that number, from 1."""
    return (
        Change(
            date="2026-11-23",
            what="the tolerances: the number of key frequencies now has a tolerance too",
            before=("the claim had no condition for networks with too few key frequencies, such as untrained networks"),
            now=(
                f"the claim needs at least {number} key frequencies: our trained networks have 4, 4 and 3, and "
                "an untrained network has 1"
            ),
            why="the claim should fail for a network without circles",
        ),
    )


CLAIMS = (
    Claim(
        id="clock.s62.z_head1_sub4",
        where="section 6.2",
        statement="Where a head's attention has the frequency of the plane, the head's attention-weighted mean of values follows the predicted petals.",
        source_says="the source shows attention frequency 4 in the plane of frequency 4",
        measure=each(_petals_where(eq)),
        expected=_PREDICTED,
        reported=(PULL_BACK_RESIDUAL,),
        needs=SEEDS,
        scope="any seed",
        figure="petals",
        changed=_PETALS_COUNTED,
    ),
    Claim(
        id="clock.s62.z_head3_sub4",
        where="section 6.2",
        statement="Where the frequency of a head's attention is above the plane's frequency, the head's attention-weighted mean of values follows the predicted petals.",
        source_says="the source shows attention frequency 32 in the plane of frequency 4",
        measure=each(_petals_where(gt)),
        expected=_PREDICTED,
        needs=SEEDS,
        scope="any seed",
        figure="petals",
        changed=_PETALS_COUNTED,
    ),
    Claim(
        id="clock.s62.z_head1_sub32",
        where="section 6.2",
        statement="Where the frequency of a head's attention is below the plane's frequency, the head's attention-weighted mean of values follows the predicted petals.",
        source_says="the source shows attention frequency 4 in the plane of frequency 32",
        measure=each(_petals_where(lt)),
        expected=_PREDICTED,
        reported=(PULL_BACK_RESIDUAL,),
        needs=SEEDS,
        scope="any seed",
        figure="petals",
        changed=_PETALS_COUNTED,
    ),
    Claim(
        id="clock.s62.not_linearly_separable",
        where="section 6.2",
        statement=(
            "A straight line can separate each point of a circle from all other points, but not each point of a petal."
        ),
        source_says="stated",
        measure=each(_corners),
        expected={
            "corners of a circle of the embedding, lowest share of the points": at_least(
                1, "all points of a circle are corners: a line can separate each of them from all other points"
            ),
            PETAL_CORNERS: at_most(
                0.7, "some points of a petal must not be corners: no line can separate them from all other points"
            ),
        },
        reported=(OTHER_PETAL_CORNERS, "corners of a circle with its noise, lowest share"),
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "A corner is a point that a line can separate from all other points. With noise removed, all points of the circles are corners. If attention and plane differ in frequency, only some points of the petal are corners. With equal frequencies of attention and plane, as in the source's first figure, petals are convex ovals, whose points are all corners."
        ),
        figure="petals",
        changed=(
            Change(
                date="2026-11-23",
                what="the definition of the share of corners: points that a line can separate from all others",
                before="the share of corners among measured points was at least 0.142, 0.230 and 0.230 on circles, and at most 0.230, 0.283 and 0.292 on petals",
                now="without noise, all points of circles are corners; if attention and plane differ in frequency, at most 0.257, 0.257 and 0.389 of the points of petals are corners",
                why="the statement is about shapes, which noise hides: the noise is a hundred times as large as the bulge between neighbouring points",
            ),
        ),
        control="without control",
    ),
    Claim(
        id="clock.s7.o_petals_per_head",
        where="section 7",
        statement="The vectors that each head writes to the residual stream also follow the predicted petals.",
        source_says="the vectors written to the residual stream give the same figures",
        measure=each(_petals_in_residual_stream),
        expected={
            PREDICTION_FIT: at_least(
                0.8, "the head applies one more linear map to the petals of its values, which keeps their shape"
            ),
            FREQUENCIES_SHARE: at_least(
                0.8, "the head applies one more linear map to the petals of its values, which keeps their shape"
            ),
            PETALS: _PREDICTED[PETALS],
        },
        needs=SEEDS,
        scope="any seed",
        figure="sums",
        changed=_PETALS_COUNTED,
    ),
    Claim(
        id="clock.s71.o_sum_4",
        where="section 7.1",
        statement="At the first key frequency the heads' petals add up to a circle.",
        source_says="the source says that one frequency dominates the sum",
        measure=each(_sum_of_heads(0)),
        expected=_CIRCLE,
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    ),
    Claim(
        id="clock.s71.o_sum_32",
        where="section 7.1",
        statement="At the second key frequency the heads' petals add up to a circle.",
        source_says="the source says that one frequency dominates the sum",
        measure=each(_sum_of_heads(1)),
        expected={**_CIRCLE, "n_keys": at_least(2, "the network must have at least this number of key frequencies")},
        needs=SEEDS,
        scope="any seed",
        figure="sums",
        changed=_counted(2),
    ),
    Claim(
        id="clock.s71.o_sum_43",
        where="section 7.1",
        statement="At the third key frequency the heads' petals add up to a circle.",
        source_says="the source says that one frequency dominates the sum",
        measure=each(_sum_of_heads(2)),
        expected={**_CIRCLE, "n_keys": at_least(3, "the network must have at least this number of key frequencies")},
        needs=SEEDS,
        scope="any seed",
        figure="sums",
        changed=_counted(3),
    ),
    Claim(
        id="clock.s71.alt_dft",
        where="section 7.1",
        statement="The planes of the attention output itself also hold circles, some of them stretched.",
        source_says="the circle of frequency 43 is stretched",
        measure=each(_own_planes),
        expected={
            "lowest quality of a circle": at_least(
                0.8, "the curves in the planes of the attention output must be circles"
            ),
            "lowest aspect ratio of a circle": at_least(
                0.3, "the curve in each plane may be a stretched circle, but not a line"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    ),
    Claim(
        id="clock.s72.why",
        where="section 7.2",
        statement="The source argues that embeddings become periodic because petals add up to circles. The claim does not test the argument that embeddings become periodic because petals add up to circles. The measurement shows that petals add up to circles in every seed.",
        source_says="the source argues that embeddings become periodic for this reason, without a proof",
        measure=each(_all_sums),
        expected={
            "lowest quality of a sum": at_least(0.8, "one frequency must dominate the sum of the heads' petals"),
            "smallest gain over the median head": at_least(
                0, "the sum of the petals must be closer to a circle than each head's petal"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    ),
)
