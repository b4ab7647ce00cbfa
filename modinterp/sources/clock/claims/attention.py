"""Claims of the blog post's section 6: attention oscillates with one number, and mixes the values of both numbers."""

from __future__ import annotations

import math

import torch

from modinterp.analyses.circles.circle import circle, wave_angles
from modinterp.analyses.fourier.frequencies import frequency_shares, significant_frequencies
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.circles import TUNED
from modinterp.sources.clock.runs import SEEDS

TUNED_HEADS = "heads tuned to a key frequency"


def _attention_varies(m: CyclicMeasurements) -> dict[str, Value]:
    to_a = m.pattern[..., 0].flatten(0, 1)
    deviations = to_a.std(dim=0)[list(m.circles.tuned_heads)]
    return {
        "smallest standard deviation of a tuned head's attention to a": (
            float(deviations.min()) if m.circles.tuned_heads else math.nan
        ),
        "lowest mean attention to a": float(to_a.mean(dim=0).min()),
        "highest mean attention to a": float(to_a.mean(dim=0).max()),
        TUNED_HEADS: len(m.circles.tuned_heads),
    }


def _attention_is_periodic(m: CyclicMeasurements) -> dict[str, Value]:
    tuning = m.circles.tuning
    return {
        "heads with a share of 0.8": sum(share >= TUNED for _, share in tuning),
        "highest share of a head's attention at one frequency": max(share for _, share in tuning),
        "lowest share of a head's attention at one frequency": min(share for _, share in tuning),
    }


def _mixed_head(m: CyclicMeasurements) -> dict[str, Value]:
    """Return the frequencies in the attention of the least tuned head, for one fixed number."""
    shares = [share for _, share in m.circles.tuning]
    least = min(range(len(shares)), key=shares.__getitem__)
    strong = significant_frequencies(m.pattern[m.circles.fixed_a, :, least, 0])
    return {
        "heads that no frequency is 0.8 of": sum(share < TUNED for share in shares),
        "frequencies above a quarter of the head's largest": len(strong),
        "strong frequencies that are no key frequencies": len(set(strong) - set(m.freqs)),
    }


def _offsets(m: CyclicMeasurements) -> dict[str, Value]:
    """Measure how mean attention and phase of tuned heads, as functions of b, change with a.

    In a network without a tuned head, which is a control, of all heads, each at its largest frequency.
    """
    shares, ranges = [], []
    for head in m.circles.tuned_heads or range(m.n_heads):
        freq = m.circles.tuning[head][0]
        wave = torch.fft.fft(m.pattern[:, :, head, 0].double(), dim=1)[:, freq]
        phases = (wave * (wave.sum() / wave.sum().abs()).conj()).angle() / (2 * math.pi)
        shares.append(frequency_shares(m.pattern[:, :, head, 0].double().mean(dim=1), (freq,)))
        ranges.append(float(phases.max() - phases.min()))
    return {
        "lowest share of the offset's variance at the head's frequency": min(shares, default=math.nan),
        "largest range of the phase, in periods": max(ranges, default=math.nan),
    }


def _keys_and_values(m: CyclicMeasurements) -> dict[str, Value]:
    keys = torch.einsum("rm,hmd->rhd", m.W_E.double(), m.weight("blocks.0.attn.W_K").double())
    return {
        "share of the keys' energy at key frequencies": frequency_shares(keys, m.freqs),
        "share of the values' energy at key frequencies": frequency_shares(
            m.circles.token_values.transpose(0, 1), m.freqs
        ),
    }


def _mixture_of_values(m: CyclicMeasurements) -> dict[str, Value]:
    of_a, of_b = m.circles.token_values[:, m.circles.fixed_a], m.circles.token_values.transpose(0, 1)
    share = m.circles.attention_share[..., None]
    mixed = share * of_a + (1 - share) * of_b
    return {
        "relative error of the mixture of v_a and v_b": float(
            (m.circles.head_values - mixed).norm() / m.circles.head_values.norm()
        )
    }


def _linear_maps_keep_frequencies() -> dict[str, Value]:
    generator = torch.Generator().manual_seed(0)
    angles = wave_angles(113, 5)
    points = torch.stack([angles.cos(), angles.sin()], dim=1)
    images = [points @ torch.randn(2, 2, generator=generator, dtype=torch.float64) for _ in range(100)]
    return {"largest share of other frequencies": max(1 - circle(image, 5).quality for image in images)}


CLAIMS = (
    Claim(
        id="clock.s6.attn_maps6",
        where="section 6, six maps",
        statement=(
            "Attention differs between pairs (a, b) without visible structure. No head whose attention has "
            "one key frequency gives each number half of its attention for every pair."
        ),
        source_says="the source shows the attention for six random pairs",
        measure=each(_attention_varies),
        expected={
            "smallest standard deviation of a tuned head's attention to a": at_least(
                0.05, "for a head that always gives each number half of its attention, this standard deviation is 0"
            ),
            TUNED_HEADS: at_least(
                1, "at least one head must be tuned to one key frequency, otherwise the claim is about no head"
            ),
        },
        reported=("lowest mean attention to a", "highest mean attention to a"),
        needs=SEEDS,
        scope="any seed",
        figure="attention",
        changed=(
            Change(
                date="2026-11-23",
                what="the tolerances: the number of heads tuned to one frequency now has a tolerance too",
                before=(
                    "the claim had no condition for networks without a head tuned to one frequency, such as "
                    "untrained networks"
                ),
                now=(
                    "the claim needs a head tuned to one frequency: our networks have 4, 3 and 4 such "
                    "heads, and no such head before training"
                ),
                why="the claim should fail for a network without heads tuned to one frequency",
            ),
        ),
    ),
    Claim(
        id="clock.s6.attention_periodic",
        where="section 6",
        statement="With one operand fixed, the attention oscillates with the other operand at one frequency.",
        source_says="head 1 attends at frequency 4, head 2 at 43, head 3 at 32, and head 0 at many frequencies",
        measure=each(_attention_is_periodic),
        expected={
            "heads with a share of 0.8": at_least(
                2, "in the source's network, 3 of 4 heads attend at one key frequency"
            )
        },
        reported=(
            "highest share of a head's attention at one frequency",
            "lowest share of a head's attention at one frequency",
        ),
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        id="clock.s6.attn_dft",
        where="section 6, spectra of attention",
        statement="The main frequencies of the heads' attention are key frequencies.",
        source_says="3 heads have one key frequency; head 0 has other frequencies too",
        measure=each(
            lambda m: {
                TUNED_HEADS: len(m.circles.tuned_heads),
            }
        ),
        expected={TUNED_HEADS: at_least(2, "in the source's network, 3 of 4 heads attend at one key frequency")},
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        id="clock.s6.head0_mixture",
        where="section 6, spectra of attention",
        statement=(
            "The head without one main frequency has high coefficients at several frequencies, and several "
            "of these frequencies are not key frequencies."
        ),
        source_says="head 0 attends at several frequencies, some of which are not key frequencies",
        measure=each(_mixed_head),
        given={
            "heads that no frequency is 0.8 of": at_least(
                1, "some head must be without one main frequency, otherwise the claim is about no head"
            )
        },
        expected={
            "frequencies above a quarter of the head's largest": at_least(
                3, "the attention of the head must have several strong frequencies"
            ),
            "strong frequencies that are no key frequencies": at_least(
                2, "several strong frequencies of the head must not be key frequencies"
            ),
        },
        finding=mixed(
            "A head without one main frequency has at least three strong frequencies, but in some networks "
            "all of these strong frequencies are key frequencies. In some networks every head has one main "
            "frequency."
        ),
        needs=SEEDS,
        scope="any seed",
        control="also true before training",
        figure="attention",
    ),
    Claim(
        id="clock.s61.offset_periodic",
        where="section 6.1",
        statement=(
            "The attention of a head with one main frequency oscillates with b about a mean that changes "
            "periodically with a."
        ),
        source_says="the source's attention maps show an offset that is itself periodic",
        measure=each(_offsets),
        expected={
            "lowest share of the offset's variance at the head's frequency": at_least(
                TUNED,
                "the source requires this share of the attention of a head with one frequency, so we "
                "require it of the offset too",
            )
        },
        reported=("largest range of the phase, in periods",),
        changed=(
            Change(
                date="2026-11-28",
                what="the definition of the offset of attention",
                before=(
                    "the offset was the phase of the attention's oscillation, which hardly changes (2e-4 "
                    "periods). At the head's frequency is 0.005 to 0.93 of the phase's variance"
                ),
                now="the offset is the mean about which attention oscillates",
                why=(
                    "the source speaks of how far attention is offset, and shows maps in which the mean "
                    "attention changes"
                ),
                was="mixed",
            ),
        ),
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        id="clock.s6.attn_2d",
        where="section 6",
        statement=(
            "Over all pairs, attention from the token = is periodic in both operands. The token = attends to "
            "the two operands alone."
        ),
        source_says="the attention of the token = to a and to b adds up to about 1",
        measure=each(lambda m: {"mean attention to neither": float((m.pattern[..., :2].sum(dim=-1) - 1).abs().mean())}),
        expected={
            "mean attention to neither": at_most(
                0.02, "the source says that the attention of the token = to itself is about 0"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="attention",
        control="also true of random labels",
    ),
    Claim(
        id="clock.s61.qkv_periodic",
        where="section 6.1",
        statement="Keys and values are periodic in the token, because they are linear images of the circles.",
        source_says="stated",
        measure=each(_keys_and_values),
        expected={
            "share of the keys' energy at key frequencies": at_least(
                0.9, "in the source keys and values are as sparse in the Fourier basis as the embedding"
            ),
            "share of the values' energy at key frequencies": at_least(
                0.9, "in the source keys and values are as sparse in the Fourier basis as the embedding"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        id="clock.s61.convex",
        where="section 6.1",
        statement=(
            "A head's attention-weighted mean of values lies between the values v_a and v_b, in the proportion "
            "of its attention to a and b."
        ),
        source_says="the attention of the token = to itself is about 0",
        measure=each(_mixture_of_values),
        expected={
            "relative error of the mixture of v_a and v_b": at_most(
                0.02, "the mean is exactly such a mixture, except for the attention of the token = to itself"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="petals",
        control="also true of random labels",
    ),
    Claim(
        id="clock.s61.linear_no_warp",
        where="section 6.1",
        statement="A linear map turns a circle into an ellipse and adds no frequency.",
        source_says="stated",
        measure=_linear_maps_keep_frequencies,
        expected={"largest share of other frequencies": at_most(1e-6)},
        needs=(),
        scope="any network",
    ),
)
