"""Sections 5.1 and 5.2: circles in the embedding and in the map from neurons to logits."""

from __future__ import annotations

import torch

from modinterp.analyses.circles import circles
from modinterp.analyses.fourier import component_norms, frequency_norms
from modinterp.analyses.frequencies import jaccard
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.clock.clockwork import SEEDS, clockwork
from modinterp.claims.evidence import evidence
from modinterp.runs import TrainedRun

ROUND = {
    "lowest quality": at_least(0.9, "clean circles are shown"),
    "largest variation of the radius": at_most(0.25, "clean circles are shown"),
}


def _embedded(run: TrainedRun) -> dict[str, Value]:
    found = clockwork(run).embedded.values()
    return {
        "lowest quality": min(c.quality for c in found),
        "largest variation of the radius": max(c.radius_variation for c in found),
        "lowest R squared of the angle": min(c.angle_fit for c in found),
    }


def _other_frequencies(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    others = circles(cw.evidence.W_E, [k for k in range(1, (cw.p - 1) // 2 + 1) if k not in cw.freqs]).values()
    radius = sum(c.radius for c in cw.embedded.values()) / len(cw.freqs)
    qualities = [c.quality for c in others]
    norms = frequency_norms(component_norms(cw.evidence.W_E))
    keys = torch.zeros_like(norms, dtype=torch.bool).index_fill(
        0, torch.tensor(cw.freqs, device=norms.device) - 1, True
    )
    return {
        "mean radius over that of key frequencies": sum(c.radius for c in others) / len(others) / radius,
        "key frequencies rounder than all others": min(c.quality for c in cw.embedded.values()) > max(qualities),
        "largest radius over that of key frequencies": max(c.radius for c in others) / radius,
        "mean quality": sum(qualities) / len(qualities),
        "mean norm at the frequency itself over that of key frequencies": float(
            norms[~keys].mean() / norms[keys].mean()
        ),
    }


def _same_frequencies(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    strongest = frequency_norms(component_norms(ev.W_E)).topk(len(ev.freqs)).indices + 1
    return {"agreement with the strongest of W_E": jaccard(strongest.tolist(), ev.freqs), "gap": ev.keys.gap}


def _read(run: TrainedRun) -> dict[str, Value]:
    found = clockwork(run).read.values()
    return {
        "lowest quality": min(c.quality for c in found),
        "largest variation of the radius": max(c.radius_variation for c in found),
    }


def _with_bias(run: TrainedRun) -> dict[str, Value]:
    cw, model = clockwork(run), run.model
    b_out = model.blocks[0].mlp.b_out.detach().double()
    constant = b_out @ model.W_U.detach().double()[:, : cw.p]
    with_bias = circles(torch.cat([cw.evidence.W_L.T.double(), constant[:, None]], dim=1), cw.freqs)
    return {"largest change of quality": max(abs(with_bias[k].quality - cw.read[k].quality) for k in cw.freqs)}


CLAIMS = (
    Claim(
        "clock.s51.we_circles",
        "section 5.1",
        "At each key frequency the embeddings lie on a circle.",
        "circles at 4, 32 and 43",
        each(_embedded),
        ROUND,
        needs=SEEDS,
        scope="any seed",
        figure="embedding_circles",
    ),
    Claim(
        "clock.s51.nonkey",
        "section 5.1",
        "At other frequencies the projections are small and random.",
        "3, 25 and 50 shown",
        each(_other_frequencies),
        {
            "mean radius over that of key frequencies": at_most(0.25, "small beside the circles"),
            "key frequencies rounder than all others": equals(1, "random beside the circles"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "No circles they are, and at the frequency itself there is 3% to 4% of a key frequency's norm; but the projections "
            "are 40% to 63% as wide as the circles, for the plane that such small coefficients span is not perpendicular to "
            "those that count."
        ),
        figure="embedding_circles",
    ),
    Claim(
        "clock.s52.wl_norms",
        "section 5.2",
        "W_L has norm at the same key frequencies as W_E.",
        "the same 3",
        each(_same_frequencies),
        {"agreement with the strongest of W_E": equals(1, "the same frequencies")},
        needs=SEEDS,
        scope="any seed",
        figure="read_circles",
    ),
    Claim(
        "clock.s52.wl_circles",
        "section 5.2",
        "At each key frequency the columns of W_L lie on a circle, a little warped.",
        "slightly warped circles",
        each(_read),
        {"lowest quality": at_least(0.9, "only slightly warped")},
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "Two seeds have 0.976 and 0.987; in the third one circle of three has 84.9% of its energy at its frequency, "
            "where 90% is expected."
        ),
        figure="read_circles",
    ),
    Claim(
        "clock.s52.bdown_warp",
        "section 5.2",
        "The circles of W_L are warped in part because the bias b_out is left out.",
        "said of the warp",
        each(_with_bias),
        {"largest change of quality": at_least(0.01, "a change that could be seen")},
        needs=SEEDS,
        scope="any seed",
        finding=refuted("The bias adds a constant to the logits: the quality changes by 3e-4 at most."),
        figure="read_circles",
    ),
)  # fmt: skip
