"""Section 6: attention that swings, and what it mixes."""

from __future__ import annotations

import math

import torch

from modinterp.analyses.circles import circle, turns
from modinterp.analyses.frequencies import frequency_shares
from modinterp.claims.band import at_least, at_most
from modinterp.claims.claim import Claim, Value, each
from modinterp.claims.clock.clockwork import SEEDS, TUNED, clockwork
from modinterp.claims.evidence import PATTERN, evidence
from modinterp.runs import TrainedRun


def _varied(run: TrainedRun) -> dict[str, Value]:
    cw, pattern = clockwork(run), evidence(run).grid[PATTERN]
    to_a = pattern[..., 0].flatten(0, 1)
    return {
        "smallest standard deviation of a head's attention to a": float(to_a.std(dim=0)[list(cw.tuned)].min()) if cw.tuned else math.nan,
        "lowest mean": float(to_a.mean(dim=0).min()),
        "highest mean": float(to_a.mean(dim=0).max()),
    }  # fmt: skip


def _periodic(run: TrainedRun) -> dict[str, Value]:
    tuning = clockwork(run).tuning
    return {
        "heads with a share of 0.8": sum(share >= TUNED for _, share in tuning),
        "highest share": max(share for _, share in tuning),
        "lowest share": min(share for _, share in tuning),
    }


def _tuned_to_keys(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    return {
        "heads tuned to a key frequency": len(cw.tuned),
        "key frequencies with a head": len(cw.attended),
        "key frequencies": len(cw.freqs),
    }


def _to_both(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    missing = (ev.grid[PATTERN][..., :2].sum(dim=-1) - 1).abs()
    return {
        "mean attention to neither": float(missing.mean()),
        "heads with a share of 0.8 over both": sum(head.linear_share >= TUNED for head in ev.heads.heads),
    }


def _key_and_value(run: TrainedRun) -> dict[str, Value]:
    cw, attn = clockwork(run), run.model.blocks[0].attn
    W_E = cw.evidence.W_E.double()
    keys = torch.einsum("rm,hmd->rhd", W_E, attn.W_K.detach().double())
    return {
        "share of the keys' energy at key frequencies": frequency_shares(keys, cw.freqs),
        "share of the values' energy at key frequencies": frequency_shares(cw.values.transpose(0, 1), cw.freqs),
    }


def _convex(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    of_a, of_b = cw.values[:, cw.a], cw.values.transpose(0, 1)
    share = cw.alpha[..., None]
    mixed = share * of_a + (1 - share) * of_b
    return {"relative error": float((cw.z - mixed).norm() / cw.z.norm())}


def _linear_maps_keep_frequencies() -> dict[str, Value]:
    generator = torch.Generator().manual_seed(0)
    angles = turns(113, 5)
    points = torch.stack([angles.cos(), angles.sin()], dim=1)
    images = [points @ torch.randn(2, 2, generator=generator, dtype=torch.float64) for _ in range(100)]
    found = [circle(image, 5) for image in images]
    return {
        "largest share of other frequencies": max(1 - c.quality for c in found),
        "smallest aspect among the images": min(c.aspect for c in found),
    }


CLAIMS = (
    Claim(
        "clock.s6.attn_maps6",
        "section 6, six maps",
        "Attention differs from pair to pair in a way that has no structure at first sight, and no head that is tuned to a key frequency simply "
        "halves it.",
        "six random pairs shown",
        each(_varied),
        {"smallest standard deviation of a head's attention to a": at_least(0.05, "a head that halves would have 0")},
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        "clock.s6.attention_periodic",
        "section 6",
        "With one operand fixed, the attention swings with the other at one frequency.",
        "head 1 at 4, head 2 at 43, head 3 at 32, head 0 at many",
        each(_periodic),
        {"heads with a share of 0.8": at_least(2, "3 of 4 in the source")},
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        "clock.s6.attn_dft",
        "section 6, spectra of attention",
        "The frequencies that heads are tuned to are key frequencies.",
        "3 heads; head 0 has others too",
        each(_tuned_to_keys),
        {"heads tuned to a key frequency": at_least(2, "3 of 4 in the source")},
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        "clock.s6.attn_2d",
        "section 6",
        "Over all pairs attention is periodic in both operands, and goes to them alone.",
        "to a and to b adds up to about 1",
        each(_to_both),
        {"mean attention to neither": at_most(0.02, "about 0")},
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        "clock.s61.qkv_periodic",
        "section 6.1",
        "Keys and values are periodic in the token, being linear images of the circles.",
        "stated",
        each(_key_and_value),
        {
            "share of the keys' energy at key frequencies": at_least(0.9, "as sparse as the embedding"),
            "share of the values' energy at key frequencies": at_least(0.9, "as sparse as the embedding"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="attention",
    ),
    Claim(
        "clock.s61.convex",
        "section 6.1",
        "What a head gathers lies between v_a and v_b, in the proportion of its attention.",
        "self-attention about 0",
        each(_convex),
        {"relative error": at_most(0.02, "exact but for the attention to = itself")},
        needs=SEEDS,
        scope="any seed",
        figure="petals",
    ),
    Claim(
        "clock.s61.linear_no_warp",
        "section 6.1",
        "A linear map makes an ellipse of a circle and adds no frequency.",
        "stated",
        _linear_maps_keep_frequencies,
        {"largest share of other frequencies": at_most(1e-6)},
        needs=(),
        scope="any network",
    ),
)  # fmt: skip
