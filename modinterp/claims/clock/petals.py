"""Sections 6.1 to 7.2: petals in theory, in each head, and their sum, which is a circle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product
from statistics import median

import torch

from modinterp.analyses.circles import circle, turns
from modinterp.analyses.petals import Petal, PetalFit
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.clock.clockwork import ATTN_OUT, SEEDS, Clockwork, clockwork
from modinterp.runs import TrainedRun

PHASES = [2 * math.pi * (i + 0.1) / 6 for i in range(6)]


def _largest_error(pairs: Iterable[tuple[int, int]]) -> float:
    """Between the closed form of the spectrum and the Fourier transform of the curve, over phases and operands."""
    errors = []
    for (embedding, attention), phase, a in product(pairs, PHASES, (0, 70)):
        petal = Petal(113, embedding, attention, phase, a)
        errors.append(float((torch.fft.fft(petal.curve()) / petal.p - petal.spectrum()).abs().max()))
    return max(errors)


def _equal() -> dict[str, Value]:
    frequencies = {
        freq
        for phase in PHASES
        for freq in (torch.fft.fft(Petal(113, 4, 4, phase).curve()).abs() / 113 > 1e-6).nonzero()[:, 0].tolist()
    }
    return {
        "largest error of the predicted spectrum": _largest_error([(4, 4), (1, 1)]),
        "frequencies other than 0, f, 2 f": len({min(f, 113 - f) for f in frequencies} - {0, 4, 8}),
    }


def _family() -> dict[str, Value]:
    petal = Petal(113, 32, 4, 0.7)
    amplitudes = petal.spectrum().abs()
    places = {"mean": 0, "attention": 4, "embedding": 32, "sum": 36, "difference": 28}
    return {
        "largest error of the predicted spectrum": _largest_error(product((1, 4, 32), (1, 4, 32, 43))),
        **{f"amplitude at the {name}": float(amplitudes[freq]) for name, freq in places.items()},
    }


def _crossings(embedding: int, attention: int) -> list[int]:
    return [Petal(113, embedding, attention, phase).crossings() for phase in PHASES]


def _overlap() -> dict[str, Value]:
    slower = [min(_crossings(f, 1)) for f in (2, 3, 4)]
    counter = _crossings(2, 3)
    return {
        "most crossings at embedding frequency 1": max(max(_crossings(1, f)) for f in (1, 2, 3, 4, 8)),
        "fewest crossings at attention frequency 1 and embedding frequency 2 to 4": min(slower),
        "most crossings at embedding 2, attention 3": max(counter),
        "fewest crossings at embedding 2, attention 3": min(counter),
        "most crossings at embedding 2, attention 5": max(_crossings(2, 5)),
    }


def _predicted(
    fits: Callable[[Clockwork], list[PetalFit]], chosen: Callable[[PetalFit], bool]
) -> Callable[[TrainedRun], dict[str, Value]]:
    """The worst prediction among the petals of heads that are tuned to a key frequency."""

    def measure(run: TrainedRun) -> dict[str, Value]:
        cw = clockwork(run)
        found = [fit for fit in fits(cw) if fit.head in cw.tuned and chosen(fit)]
        return {
            "lowest R squared of the prediction": min((fit.explained for fit in found), default=math.nan),
            "lowest share at the petal's frequencies": min((fit.at_frequencies for fit in found), default=math.nan),
            "heads and planes": len(found),
            "largest residual of the pull-back": max((fit.residual for fit in found), default=math.nan),
        }

    return measure


def _corners(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    angles = turns(cw.p, cw.freqs[0])
    found = [fit.on_hull for fit in cw.petals if fit.head in cw.tuned]
    return {
        "corners of the embedding's circle, share of the points": min(c.on_hull for c in cw.embedded.values()),
        "corners of a petal, largest share": max(found, default=math.nan),
        "corners of an exact circle": circle(torch.stack([angles.cos(), angles.sin()], dim=1), cw.freqs[0]).on_hull,
        "corners of the circle of all heads' sum": max(both[0].on_hull for both in cw.sums.values()),
    }


def _sum_of_heads(number: int) -> Callable[[TrainedRun], dict[str, Value]]:
    """In the plane of the run's key frequency of that number, in ascending order."""

    def measure(run: TrainedRun) -> dict[str, Value]:
        cw = clockwork(run)
        if number >= len(cw.freqs):
            return {"quality of the sum": math.nan, "above the median head by": math.nan}
        freq = cw.freqs[number]
        together, alone = cw.sums[freq]
        return {
            "quality of the sum": together.quality,
            "above the median head by": together.quality - median(c.quality for c in alone),
            "frequency": freq,
            "lowest quality of a head": min(c.quality for c in alone),
            "highest quality of a head": max(c.quality for c in alone),
        }

    return measure


def _own_planes(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    found = [cw.own_circle(ATTN_OUT, k) for k in cw.freqs]
    return {
        "lowest quality": min(c.quality for c in found),
        "lowest aspect": min(c.aspect for c in found),
    }


def _simpler(run: TrainedRun) -> dict[str, Value]:
    sums = clockwork(run).sums.values()
    gains = [together.quality - median(c.quality for c in alone) for together, alone in sums]
    return {
        "lowest quality of a sum": min(together.quality for together, _ in sums),
        "smallest gain over the median head": min(gains),
    }


PREDICTED = {
    "lowest R squared of the prediction": at_least(0.9, "traces the predicted petals"),
    "lowest share at the petal's frequencies": at_least(0.85, "traces the predicted petals"),
}
_QUALITY = {
    "quality of the sum": at_least(0.8, "dominated by the one frequency"),
    "above the median head by": at_least(0, "a circle where each head has petals"),
}


def _in_z(identity: str, what: str, reference: str, chosen: Callable[[PetalFit], bool]) -> Claim:
    return Claim(
        identity,
        "section 6.2",
        f"What a head gathers traces the predicted petals where the attention's frequency is {what} the plane's.",
        reference,
        each(_predicted(lambda cw: cw.petals, chosen)),
        PREDICTED,
        needs=SEEDS,
        scope="any seed",
        figure="petals",
    )  # fmt: skip


def _summed(identity: str, number: int, which: str) -> Claim:
    return Claim(
        identity,
        "section 7.1",
        f"At the {which} key frequency the heads' petals add up to a circle.",
        "dominated by that frequency",
        each(_sum_of_heads(number)),
        _QUALITY,
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    )  # fmt: skip


CLAIMS = (
    Claim(
        "clock.s61.petals_equal",
        "section 6.1",
        "Where attention and embedding have one frequency f, the petals have the frequencies 0, f and 2 f for any phase.",
        "a family over the phase is shown",
        _equal,
        {"largest error of the predicted spectrum": at_most(1e-6), "frequencies other than 0, f, 2 f": equals(0)},
        needs=(),
        scope="any network",
        figure="explorer",
    ),
    Claim(
        "clock.s61.petals_family",
        "section 6.1",
        "Other frequencies give other petals: half at the mean and at the embedding's frequency, a quarter at the "
        "attention's and at sum and difference.",
        "families are shown",
        _family,
        {
            "largest error of the predicted spectrum": at_most(1e-6),
            "amplitude at the mean": between(0.4999, 0.5001),
            "amplitude at the attention": between(0.2499, 0.2501),
            "amplitude at the embedding": between(0.4999, 0.5001),
            "amplitude at the sum": between(0.2499, 0.2501),
            "amplitude at the difference": between(0.2499, 0.2501),
        },
        needs=(),
        scope="any network",
        figure="explorer",
    ),
    Claim(
        "clock.s61.overlap_rule",
        "section 6.1",
        "Petals overlap exactly where the attention's frequency is below the embedding's.",
        "stated as a rule",
        _overlap,
        {
            "most crossings at embedding frequency 1": equals(0),
            "fewest crossings at attention frequency 1 and embedding frequency 2 to 4": at_least(1),
            "most crossings at embedding 2, attention 3": equals(0),
        },
        needs=(),
        scope="any network",
        finding=refuted(
            "True for embedding frequency 1, which every frequency is after renaming the residues mod a prime. Among two "
            "others it is not the order that counts: embedding 2 and attention 3 cross 3 to 6 times."
        ),
        figure="explorer",
    ),
    _in_z("clock.s62.z_head1_sub4", "that of", "4 in the plane of 4", lambda fit: fit.attention == fit.embedding),
    _in_z("clock.s62.z_head3_sub4", "above", "32 in the plane of 4", lambda fit: fit.attention > fit.embedding),
    _in_z("clock.s62.z_head1_sub32", "below", "4 in the plane of 32", lambda fit: fit.attention < fit.embedding),
    Claim(
        "clock.s62.not_linearly_separable",
        "section 6.2",
        "A line can part each point of a circle from all others, but not each point of a petal.",
        "stated",
        each(_corners),
        {
            "corners of the embedding's circle, share of the points": at_least(1, "all of a circle"),
            "corners of a petal, largest share": at_most(0.7, "not all of a petal"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "True of an exact circle, whose 113 points are all corners. But the radius of the networks' circles varies by 3% "
            "to 8%, a hundred times more than the bulge between neighbours, and only 14% to 33% of their points are corners: "
            "no more than of their petals (23% to 29%). So this cannot be why petals are worse than circles."
        ),
        figure="petals",
    ),
    Claim(
        "clock.s7.o_petals_per_head",
        "section 7",
        "What each head writes to the residual stream traces the predicted petals, too.",
        "the same figures",
        each(_predicted(lambda cw: cw.written_petals, lambda fit: True)),
        {name: at_least(0.8, "the same petals, through one more map") for name in PREDICTED},
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    ),
    _summed("clock.s71.o_sum_4", 0, "first"),
    _summed("clock.s71.o_sum_32", 1, "second"),
    _summed("clock.s71.o_sum_43", 2, "third"),
    Claim(
        "clock.s71.alt_dft",
        "section 7.1",
        "In the attention output's own planes there are circles too, some stretched.",
        "43 is stretched",
        each(_own_planes),
        {
            "lowest quality": at_least(0.8, "circles"),
            "lowest aspect": at_least(0.3, "stretched, but no line"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    ),
    Claim(
        "clock.s72.why",
        "section 7.2",
        "Embeddings become periodic because petals of periodic ones add up to circles: an argument that nothing here "
        "tests; what is measured is that they do add up, in every seed.",
        "an argument, not proven",
        each(_simpler),
        {
            "lowest quality of a sum": at_least(0.8, "dominated by the one frequency"),
            "smallest gain over the median head": at_least(0, "simpler than what each head has"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="sums",
    ),
)  # fmt: skip
