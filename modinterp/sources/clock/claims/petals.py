"""Claims of the blog post's section 6.1: the curves, called petals, that a head with oscillating attention can trace."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

import torch

from modinterp.analyses.circles.petals import Petal
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value
from modinterp.claims.finding import refuted

SPECTRUM_ERROR = "largest error of the predicted spectrum"
CROSSINGS_OF_SLOWER = "fewest crossings at attention frequency 1 and embedding frequency 2 to 4"

_PHASES = [2 * math.pi * (i + 0.1) / 6 for i in range(6)]


def _largest_error(pairs: Iterable[tuple[int, int]]) -> float:
    """Return the largest error of the petals' closed-form spectrum against the transform of the curve, over phases and
    operands.

    Args:
        pairs: frequencies of the embedding and of the attention. [cycles per p]
    """
    errors = []
    for (embedding, attention), phase, a in product(pairs, _PHASES, (0, 70)):
        petal = Petal(113, embedding, attention, phase, a)
        errors.append(float((torch.fft.fft(petal.curve()) / petal.p - petal.spectrum()).abs().max()))
    return max(errors)


def _equal_frequencies() -> dict[str, Value]:
    frequencies = {
        freq
        for phase in _PHASES
        for freq in (torch.fft.fft(Petal(113, 4, 4, phase).curve()).abs() / 113 > 1e-6).nonzero()[:, 0].tolist()
    }
    return {
        SPECTRUM_ERROR: _largest_error([(4, 4), (1, 1)]),
        "frequencies other than 0, f, 2 f": len({min(f, 113 - f) for f in frequencies} - {0, 4, 8}),
    }


def _amplitudes() -> dict[str, Value]:
    petal = Petal(113, 32, 4, 0.7)
    amplitudes = petal.spectrum().abs()
    entries = {
        "amplitude at the mean": 0,
        "amplitude at the attention": 4,
        "amplitude at the embedding": 32,
        "amplitude at the sum": 36,
        "amplitude at the difference": 28,
    }
    return {
        SPECTRUM_ERROR: _largest_error(product((1, 4, 32), (1, 4, 32, 43))),
        **{name: float(amplitudes[entry]) for name, entry in entries.items()},
    }


def _crossings(embedding: int, attention: int) -> list[int]:
    return [Petal(113, embedding, attention, phase).crossings() for phase in _PHASES]


CLAIMS = (
    Claim(
        id="clock.s61.petals_equal",
        where="section 6.1",
        statement=(
            "If attention and embedding have the same frequency f, the petals (the closed curves of a "
            "head's output) contain the frequencies 0, f and 2 f for any phase."
        ),
        source_says="the source shows how the petals change with the phase",
        measure=_equal_frequencies,
        expected={SPECTRUM_ERROR: at_most(1e-6), "frequencies other than 0, f, 2 f": equals(0)},
        needs=(),
        scope="any network",
        figure="explorer",
    ),
    Claim(
        id="clock.s61.petals_family",
        where="section 6.1",
        statement=(
            "If attention and embedding differ in frequency, the waves in a petal (the closed curve of a "
            "head's output) have five frequencies. If attention and embedding differ in frequency, a "
            "petal's constant and its wave at the embedding's frequency have amplitude one half. A petal's "
            "waves at the attention's frequency, and at the sum and the difference of attention's and "
            "embedding's frequency, have amplitude one quarter."
        ),
        source_says="the source shows how the petals change with the phase and the frequencies",
        measure=_amplitudes,
        expected={
            SPECTRUM_ERROR: at_most(1e-6),
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
        id="clock.s61.overlap_rule",
        where="section 6.1",
        statement="Petals overlap exactly where the attention's frequency is below the embedding's frequency.",
        source_says="the source states a general rule",
        measure=lambda: {
            "most crossings at embedding frequency 1": max(max(_crossings(1, f)) for f in (1, 2, 3, 4, 8)),
            CROSSINGS_OF_SLOWER: min(min(_crossings(f, 1)) for f in (2, 3, 4)),
            "most crossings at embedding 2, attention 3": max(_crossings(2, 3)),
        },
        expected={
            "most crossings at embedding frequency 1": equals(0),
            CROSSINGS_OF_SLOWER: at_least(1),
            "most crossings at embedding 2, attention 3": equals(0),
        },
        needs=(),
        scope="any network",
        finding=refuted(
            "For embedding frequency 1, petals overlap exactly where the source says. Relabelling the "
            "residues mod a prime changes any embedding frequency to 1. At embedding frequencies above 1, "
            "whether a petal overlaps does not depend on whether the attention's frequency is below the "
            "embedding's. A petal of embedding frequency 2 and attention frequency 3 crosses itself 3 "
            "times, at any phase.",
            "source",
        ),
        changed=(
            Change(
                date="2026-11-25",
                what="how the crossings of a petal with itself are counted",
                before=(
                    "the crossings of a polygon with 1,009 sides were counted: 3 to 6 at embedding frequency 2 "
                    "and attention frequency 3; refuted"
                ),
                now=("a closed formula gives 3 crossings at embedding frequency 2 and attention frequency 3; refuted"),
                why=(
                    "the sides of the polygon deviate from the petal near the point where all its parts "
                    "meet; an independent program found this error"
                ),
            ),
        ),
        figure="explorer",
    ),
)
