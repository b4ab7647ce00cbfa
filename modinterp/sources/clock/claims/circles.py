"""Claims of the blog post's sections 5.1 and 5.2: circles in the embedding and in the map from neurons to logits."""

from __future__ import annotations

import torch

from modinterp.analyses.circles.circle import circles
from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.clock.runs import SEEDS

LOWEST_QUALITY = "lowest quality of a circle"

ROUND = {
    LOWEST_QUALITY: at_least(0.9, "the source shows clean circles"),
    "largest variation of the radius": at_most(0.25, "the source shows clean circles"),
}


def _circles_of_embedding(m: CyclicMeasurements) -> dict[str, Value]:
    circles_of_keys = m.circles.circles_of_W_E.values()
    return {
        LOWEST_QUALITY: min(c.quality for c in circles_of_keys),
        "largest variation of the radius": max(c.radius_variation for c in circles_of_keys),
    }


def _other_frequencies(m: CyclicMeasurements) -> dict[str, Value]:
    others = circles(m.W_E, [k for k in range(1, (m.p - 1) // 2 + 1) if k not in m.freqs]).values()
    radius = sum(c.radius for c in m.circles.circles_of_W_E.values()) / len(m.freqs)
    norms = frequency_norms(component_norms(m.W_E))
    keys = torch.zeros_like(norms, dtype=torch.bool).index_fill(0, torch.tensor(m.freqs, device=norms.device) - 1, True)
    return {
        "mean radius over that of key frequencies": sum(c.radius for c in others) / len(others) / radius,
        "key frequencies rounder than all others": min(c.quality for c in m.circles.circles_of_W_E.values())
        > max(c.quality for c in others),
        "mean norm at the frequency itself over that of key frequencies": float(
            norms[~keys].mean() / norms[keys].mean()
        ),
    }


def _same_frequencies(m: CyclicMeasurements) -> dict[str, Value]:
    strongest = frequency_norms(component_norms(m.W_E)).topk(len(m.freqs)).indices + 1
    return {"agreement with the strongest of W_E": jaccard(strongest.tolist(), m.freqs)}


def _circles_with_bias(m: CyclicMeasurements) -> dict[str, Value]:
    constant = m.b_out.double() @ m.W_U
    with_bias = circles(torch.cat([m.W_L.T.double(), constant[:, None]], dim=1), m.freqs)
    return {
        "largest change of quality": max(
            abs(with_bias[k].quality - m.circles.circles_of_W_L[k].quality) for k in m.freqs
        )
    }


CLAIMS = (
    Claim(
        id="clock.s51.we_circles",
        where="section 5.1",
        statement="At each key frequency the embeddings lie on a circle.",
        source_says="circles at the key frequencies 4, 32 and 43",
        measure=each(_circles_of_embedding),
        expected=ROUND,
        needs=SEEDS,
        scope="any seed",
        figure="embedding_circles",
    ),
    Claim(
        id="clock.s51.nonkey",
        where="section 5.1",
        statement=(
            "At all frequencies that are not key frequencies, the projections of the embedding are small and random."
        ),
        source_says="the source shows the projections at frequencies 3, 25 and 50",
        measure=each(_other_frequencies),
        expected={
            "mean radius over that of key frequencies": at_most(
                0.25, "the source calls the projections small compared with the circles at key frequencies"
            ),
            "key frequencies rounder than all others": equals(1, "random projections are less round than the circles"),
        },
        reported=("mean norm at the frequency itself over that of key frequencies",),
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "At frequencies that are not key frequencies, projections of the embedding form no circles; its"
            " norm is far below that at a key frequency. The projections of the embedding at frequencies "
            "that are not key frequencies are not small. The embedding's projections are not small because "
            "the source's plane for a weak frequency is not perpendicular to the planes of the key "
            "frequencies. We keep the source's definition of a frequency's plane."
        ),
        figure="embedding_circles",
    ),
    Claim(
        id="clock.s52.wl_norms",
        where="section 5.2",
        statement="The key frequencies of W_L are the key frequencies of W_E.",
        source_says="W_L and W_E have the same 3 key frequencies",
        measure=each(_same_frequencies),
        expected={"agreement with the strongest of W_E": equals(1, "both matrices must have the same key frequencies")},
        needs=SEEDS,
        scope="any seed",
        figure="read_circles",
    ),
    Claim(
        id="clock.s52.wl_circles",
        where="section 5.2",
        statement="At each key frequency the columns of W_L lie on a slightly warped circle.",
        source_says="slightly warped circles",
        measure=each(lambda m: {LOWEST_QUALITY: min(c.quality for c in m.circles.circles_of_W_L.values())}),
        expected={LOWEST_QUALITY: at_least(0.9, "a slightly warped circle still has this quality")},
        needs=SEEDS,
        scope="any seed",
        finding=mixed(),
        figure="read_circles",
    ),
    Claim(
        id="clock.s52.bdown_warp",
        where="section 5.2",
        statement="Leaving out the bias b_out partly warps the circles of W_L.",
        source_says="the source explains the warp by the missing bias",
        measure=each(_circles_with_bias),
        expected={
            "largest change of quality": at_least(
                0.01, "without the bias the quality of the circles must change visibly"
            )
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "The bias b_out adds a constant to the logits. Leaving out b_out changes the quality of the "
            "circles of W_L by at most 3e-4."
        ),
        figure="read_circles",
    ),
)
