"""Claims on networks trained on all pairs: kept frequencies, ReLU's harmonics, alignment first, one winning frequency."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.he.claims.flow_claims import last_epoch
from modinterp.sources.he.flow import times_to_dominate
from modinterp.sources.he.neuron_waves import angles, check_shape, spectrum, waves_at, waves_of
from modinterp.sources.he.runs import named

LEAST_EARLY, LEAST_LATE = "least share at one frequency while the loss is above .95 ln p", "least share at the end"
THIRD, FIFTH, EVEN = (
    "third harmonic over first, read",
    "fifth harmonic over first, read",
    "second harmonic over first, read",
)
ALIGNED_BEFORE, GROWN, SPEARMAN = (
    "median |D| at the last snapshot before mean alpha doubles",
    "growth of mean alpha by then",
    "rank correlation of |D(0)| and final alpha",
)
SINE, EPOCH = "mean |sin D| while the loss is above .97 ln p", "epoch of that snapshot"
BY_D, BY_ALPHA, BY_TIME, DECIDED, N_DECIDED = (
    "winners of least initial |D|, share",
    "winners of largest initial alpha, share",
    "winners of least time to dominate, share",
    "winners of least time to dominate, share of the neurons with most energy at one frequency",
    "neurons with most energy at one frequency",
)


def _preserve_quad(m: CyclicMeasurements) -> dict[str, Value]:
    epoch = last_epoch(m, 0.95)
    early, late = waves_at(m, epoch), waves_of(m)
    least = [min(float(w.share_read.min()), float(w.share_written.min())) for w in (early, late)]
    return dict(zip((LEAST_EARLY, LEAST_LATE), least, strict=True))


def _harmonics(rows: Tensor, winner: Tensor, r: int) -> Tensor:
    """Return the amplitude of each row at r times its frequency, over that at its frequency."""
    p = rows.shape[1]
    sizes = spectrum(rows).abs()
    k = (r * (winner + 1)) % p
    folded = torch.minimum(k, p - k) - 1
    return sizes.gather(1, folded.unsqueeze(1)).squeeze(1) / sizes.gather(1, winner.unsqueeze(1)).squeeze(1)


def first_order(p: int = 97, k: int = 1, grid: int = 64) -> tuple[Tensor, Tensor]:
    """Return the gradients of theta and xi at uniform probabilities, for an aligned ReLU neuron whose weights are
    cosines.

    Args:
        grid: number of phases over which the amplitudes of harmonics are averaged.
    """
    angle = angles(p)[k - 1]
    phi = 2 * torch.pi / grid * torch.arange(grid).double().unsqueeze(1)
    theta, xi = (angle + phi).cos(), (angle + 2 * phi).cos()
    pre = theta.unsqueeze(2) + theta.unsqueeze(1)  # [phase, x, y]
    x = torch.arange(p)
    answer = (x.unsqueeze(1) + x) % p
    of_theta = ((pre > 0) * xi[:, answer]).sum(dim=2)
    of_xi = torch.zeros_like(xi).index_add_(1, answer.flatten(), pre.relu().flatten(1))
    return of_theta, of_xi


def _first_order_off() -> dict[str, Value]:
    of_theta, of_xi = first_order()
    winner = torch.zeros(len(of_theta), dtype=torch.int64)
    read = {3: 3 / 5, 5: 3 / 21}
    written = {r: 3 / (4 * r * r - 1) for r in (2, 3, 4)}
    return {
        "largest relative difference of first-order harmonics read": max(
            abs(float(_harmonics(of_theta, winner, r).mean()) / value - 1) for r, value in read.items()
        ),
        "largest relative difference of first-order harmonics written": max(
            abs(float(_harmonics(of_xi, winner, r).mean()) / value - 1) for r, value in written.items()
        ),
    }


def _leaks(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    by_harmonic = {name: float(_harmonics(waves.theta, waves.winner, r).median()) for name, r in
                   ((THIRD, 3), (FIFTH, 5), (EVEN, 2))}  # fmt: skip
    return {**by_harmonic, **_first_order_off()}


def _ranks(x: Tensor) -> Tensor:
    return x.argsort().argsort().double()


def _rank_correlation(x: Tensor, y: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([_ranks(x), _ranks(y)]))[0, 1])


def _align_first(m: CyclicMeasurements) -> dict[str, Value]:
    first, last = waves_at(m, 0), waves_of(m)
    start, found = float(first.alpha.mean()), None
    for epoch in sorted(e for e in m.snapshots if e % 1000 == 0):
        waves = waves_at(m, epoch)
        if float(waves.alpha.mean()) >= 2 * start:
            break
        found = waves
    if found is None or not m.snapshots:
        raise NotRecorded(f"no snapshots of {m.name} were kept")
    return {
        ALIGNED_BEFORE: float(found.D.abs().median()),
        GROWN: float(found.alpha.mean()) / start,
        SPEARMAN: _rank_correlation(first.D.abs(), last.alpha),
    }


def _align_std(m: CyclicMeasurements) -> dict[str, Value]:
    check_shape(m)
    if not len(m.history):
        raise NotRecorded(f"how {m.name} was trained is not known")
    above = m.history["train_loss"] >= 0.97 * math.log(m.p)
    epoch = int(m.history["epoch"][above.cummin()].max())
    return {SINE: waves_at(m, epoch).mean_sine, EPOCH: epoch}


def _lottery(m: CyclicMeasurements) -> dict[str, Value]:
    first, last = waves_at(m, 0), waves_of(m)
    winner, sizes = last.winner, first.read.abs()
    times = times_to_dominate(sizes, first.written.abs(), first.misalignments, m.p)
    is_decided = last.share_read > 0.5
    by_time = (times.argmin(dim=1) == winner).double()
    return {
        BY_D: float((first.misalignments.abs().argmin(dim=1) == winner).double().mean()),
        BY_ALPHA: float((sizes.argmax(dim=1) == winner).double().mean()),
        BY_TIME: float(by_time.mean()),
        DECIDED: float(by_time[is_decided].mean()),
        N_DECIDED: int(is_decided.sum()),
    }


CLAIMS = (
    Claim(
        id="he.preserve.quad",
        where="theorem, figure 12",
        statement=(
            "In a network with a quadratic activation, a neuron whose initial weights have one frequency keeps "
            "this frequency."
        ),
        source_says="the source states that a neuron keeps its frequency exactly",
        measure=each(_preserve_quad),
        expected={
            LEAST_EARLY: at_least(
                0.9999,
                "while predicted probabilities are nearly uniform, gradient descent preserves a single "
                "frequency exactly",
            ),
            LEAST_LATE: at_least(
                0.95, "in the authors' network one frequency holds at least .967 of each neuron's energy at epoch 9,800"
            ),
        },
        needs=named("quad1"),
        scope="any seed",
        control="also true before training",
    ),
    Claim(
        id="he.preserve.relu",
        where="section 4.6, figure 13",
        statement=(
            "With ReLU, energy of the reading weights leaks to odd harmonics: the third harmonic gets a ninth of the "
            "first, and the fifth a twenty-fifth."
        ),
        source_says="the third harmonic gets 1/9 of the first, and the fifth 1/25",
        measure=each(_leaks),
        expected={
            THIRD: between(0.7 / 9, 1.3 / 9, "the source states a ninth for the third harmonic; we allow 30%"),
            FIFTH: between(0.7 / 25, 1.3 / 25, "the source states a twenty-fifth for the fifth harmonic; we allow 30%"),
        },
        reported=(EVEN,),
        needs=named("relu1", "std"),
        scope="any seed",
        figure="waves",
        finding=refuted(
            (
                "The third harmonic of the reading weights is .21 to .24 times the first, and the fifth harmonic is .06 to .11 times the first. To first order, the third harmonic should be 3/5 of the first harmonic, and the fifth harmonic 1/7."
            ),
            "source",
        ),
    ),
    Claim(
        id="he.preserve.relu_order",
        where="ours",
        statement=(
            "To first order, for odd r, the r-th harmonic of the reading weights is 3/(r^2 - 4) of the first; the "
            "r-th harmonic of the writing weights is 3/(4r^2 - 1) of the first. Reading weights have no even "
            "harmonics."
        ),
        source_says="not stated",
        measure=each(_leaks),
        expected={
            "largest relative difference of first-order harmonics read": at_most(
                0.02, "the measured harmonics should equal those of the formula, at p = 97"
            ),
            "largest relative difference of first-order harmonics written": at_most(
                0.02, "the measured harmonics should equal those of the formula, at p = 97"
            ),
            EVEN: at_most(0.02, "in the authors' network the second harmonic is .004 of the first"),
        },
        reported=(THIRD, FIFTH),
        needs=named("relu1"),
        scope="any seed",
        control="also true before training",
        figure="waves",
    ),
    Claim(
        id="he.align.first",
        where="sections 4.3 and 4.4",
        statement="In each neuron, the phases align first, and then the magnitude grows rapidly. A neuron's weights grow least if its output phase starts far from twice its input phase.",
        source_says="phases align first, then magnitudes grow",
        measure=each(_align_first),
        expected={
            ALIGNED_BEFORE: at_most(0.5, "in the authors' network the median |D| is .48 at epoch 3,000"),
            SPEARMAN: at_most(-0.95, "by the gradient flow, the final alpha is a function of |D(0)|"),
        },
        reported=(GROWN,),
        needs=named("quad1"),
        scope="any seed",
        figure="alignment_first",
    ),
    Claim(
        id="he.align.first_std",
        where="sections 4.3 and 4.4",
        statement="With ReLU, AdamW and random initial weights, each neuron's output phase aligns with its input phase "
        "while the loss is still that of guessing.",
        source_says="phases align first, then magnitudes grow",
        measure=each(_align_std),
        expected={
            SINE: at_most(
                0.25,
                "in the authors' network the mean |sin D| is .166 at epoch 400; for random phases this mean is .637",
            )
        },
        reported=(EPOCH,),
        needs=named("std"),
        scope="any seed",
        figure="alignment_first",
    ),
    Claim(
        id="he.lottery.phase",
        where="corollary and conclusion",
        statement="In each neuron, the frequency with the least initial misalignment of phases wins, that is, dominates after training.",
        source_says="alignment rather than magnitude decides the winning frequency",
        measure=each(_lottery),
        expected={
            BY_D: at_least(0.5, "if misalignment decides, the least misaligned frequency should win in most neurons")
        },
        reported=(BY_ALPHA,),
        needs=named("quad", "std"),
        scope="any seed",
        figure="lottery",
        finding=refuted(
            "The frequency of least initial misalignment |D| wins in only 15% to 24% of the neurons; by "
            "chance it would win in 9%. The frequency of largest initial amplitude wins in 41% to 52% of "
            "the neurons.",
            "source",
        ),
    ),
    Claim(
        id="he.lottery.time",
        where="abstract",
        statement=(
            "Initial magnitudes and phases together decide which frequency wins in a neuron: the frequency that "
            "dominates first in the gradient flow."
        ),
        source_says="the initialisation determines the winning frequency",
        measure=each(_lottery),
        expected={
            BY_TIME: at_least(
                0.85,
                "in the authors' network the first frequency to dominate in the gradient flow wins in .939 "
                "of the neurons",
            ),
            DECIDED: at_least(
                0.95,
                "in the authors' network the first frequency to dominate in the gradient flow wins in .991 "
                "of 222 neurons",
            ),
        },
        reported=(BY_D, BY_ALPHA, N_DECIDED),
        needs=named("quad"),
        scope="any seed",
        figure="lottery",
    ),
    Claim(
        id="he.lottery.recipe",
        where="section 4.6",
        statement="With ReLU and AdamW, initial magnitudes and phases also decide the winning frequency, but less exactly than with a quadratic activation.",
        source_says="the source says that its result for squares carries over to ReLU",
        measure=each(_lottery),
        expected={
            BY_TIME: between(
                0.4,
                0.85,
                "in the authors' networks the first frequency to dominate in the gradient flow wins in .535"
                " to .648 of the neurons",
            )
        },
        reported=(BY_D, BY_ALPHA),
        needs=(*named("std", "sgd", "embed", "grok"), "he/p97-42"),
        scope="any seed",
        figure="lottery",
        control="also true before training",
    ),
)
