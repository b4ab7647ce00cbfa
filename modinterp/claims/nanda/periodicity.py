"""Section 4.1 and figures 3, 4, 9 and 12: weights and activations are periodic."""

from __future__ import annotations

from statistics import median

import torch

from modinterp.analyses.explained import energy_share
from modinterp.analyses.frequencies import frequency_shares, jaccard, significant_frequencies
from modinterp.analyses.neurons import terms_of
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Measure, Value
from modinterp.claims.evidence import PATTERN, evidence
from modinterp.runs import TrainedRun

ONE_FREQUENCY_A_HEAD = {
    "heads with a share of 0.8": at_least(3, "table 2: 98% to 99% for all four heads"),
    "lowest share": at_least(0.5, "table 2: 97.9% at least"),
}
PERIODIC = at_least(0.85, "the threshold that 84.6% of the paper's neurons pass")


def _embedding(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    significant = set(significant_frequencies(ev.W_E))
    return {
        "significant frequencies": len(significant),
        "key frequencies among them": len(significant & set(ev.freqs)) / len(ev.freqs),
        "energy share of the key frequencies": frequency_shares(ev.W_E, ev.freqs),
    }


def _symmetry(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    norms = torch.fft.fft(ev.W_E.double(), dim=0).norm(dim=1)[1:]
    return {"largest relative difference": float(((norms - norms.flip(0)).abs() / norms).max())}


def _neuron_to_logit(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    return {
        "key frequencies": len(ev.freqs),
        "strongest other over weakest key": 1 / ev.keys.gap,
        "energy share of the key frequencies": frequency_shares(ev.W_L.T, ev.freqs),
        "overlap (Jaccard) with the frequencies of neuron clusters": jaccard(ev.freqs, ev.neurons.key_frequencies()),
    }


def _attention(run: TrainedRun) -> dict[str, Value]:
    shares = [head.linear_share for head in evidence(run).heads.heads]
    to_a = evidence(run).grid[PATTERN][..., 0].flatten(0, 1)
    return {
        "heads with a share of 0.8": sum(share >= 0.8 for share in shares),
        "lowest share": min(shares),
        "lowest mean attention to a": float(to_a.mean(dim=0).min()),
        "highest mean attention to a": float(to_a.mean(dim=0).max()),
        "smallest standard deviation of a head's attention to a": float(to_a.std(dim=0).min()),
    }


def _neurons(first: int, last: int) -> Measure:
    def measure(run: TrainedRun) -> dict[str, Value]:
        fractions = evidence(run).neurons.fractions[first : last + 1].tolist()
        return {f"median share, neurons {first} to {last}": median(fractions), "lowest share": min(fractions)}

    return measure


def _logits(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    blocks = terms_of(ev.p, ev.freqs, linear=False)
    norms = ev.spectrum.norm(dim=-1).cpu()
    varying = norms.clone()
    varying[0, 0] = 0
    top = torch.zeros_like(blocks)
    top.view(-1)[varying.flatten().topk(int(blocks.sum())).indices] = True
    return {
        "blocks among the largest components": float((top & blocks).sum() / blocks.sum()),
        "energy share of the blocks": energy_share(norms[blocks], varying),
        "components above a tenth of the largest": int((varying > 0.1 * varying.max()).sum()),
        "components of the blocks": int(blocks.sum()),
    }


CLAIMS = (
    Claim(
        "nanda.fig3.left",
        "section 4.1, figure 3 left",
        "The embedding is sparse in the Fourier basis: a handful of frequencies have a norm that matters, the key frequencies among them.",
        "6 frequencies, of which 5 are used: 14, 35, 41, 42, 52",
        _embedding,
        {
            "significant frequencies": between(3, 10, "6 in the paper; the number differs by seed"),
            "key frequencies among them": equals(1, "all 5 are in the paper"),
            "energy share of the key frequencies": at_least(
                0.65, "5 of 6 bars in the paper, less what small ones hold"
            ),
        },
        figure="spectra",
    ),
    Claim(
        "nanda.s41.symmetry",
        "section 4.1",
        "Frequencies k and p - k have the same norm, so that 56 suffice.",
        "equal",
        _symmetry,
        {"largest relative difference": at_most(1e-6, "true of any real matrix; rounding")},
        scope="any network",
    ),
    Claim(
        "nanda.fig3.right",
        "section 4.2, figure 3 right",
        "The map from neurons to logits has norm at the key frequencies alone.",
        "5 frequencies: 14, 35, 41, 42, 52",
        _neuron_to_logit,
        {
            "key frequencies": between(3, 8, "5 in the paper, 3 or 4 in its other seeds"),
            "strongest other over weakest key": at_most(0.35, "the bars of figure 3 stand clear of the rest"),
            "energy share of the key frequencies": at_least(0.97, "the residual is below 0.55% in section 4.2"),
        },
        figure="spectra",
    ),
    Claim(
        "nanda.fig4.left",
        "section 4.1, figure 4 left",
        "Attention from = to a is periodic in a and b, with one frequency a head.",
        "head 0: frequency 35",
        _attention,
        ONE_FREQUENCY_A_HEAD,
        figure="periodic",
    ),
    Claim(
        "nanda.fig4.center",
        "section 4.1, figure 4 centre",
        "Neuron 0 is periodic in a and b, with one frequency; measured on neurons 0 to 4.",
        "neuron 0: frequency 42",
        _neurons(0, 4),
        {"median share, neurons 0 to 4": PERIODIC},
        figure="periodic",
    ),
    Claim(
        "nanda.fig4.right",
        "section 4.1, figure 4 right",
        "In the 2D Fourier basis the logits are the products of waves of equal frequency: one 2 x 2 block a key frequency, and nothing else.",
        "20 components for 5 frequencies",
        _logits,
        {
            "blocks among the largest components": equals(1, "exactly the blocks stand out"),
            "energy share of the blocks": at_least(0.95, "0.96 to 0.98 in networks that the authors archived"),
        },
        figure="periodic",
    ),
    Claim(
        "nanda.fig9",
        "appendix C.1.1, figure 9",
        "Attention from = to a is periodic in all four heads.",
        "frequencies 35, 42, 52, 42",
        _attention,
        ONE_FREQUENCY_A_HEAD,
        figure="heads",
    ),
    Claim(
        "nanda.fig12",
        "appendix C.1.4, figure 12",
        "Neurons 1 to 4 are periodic in a and b.",
        "none printed",
        _neurons(1, 4),
        {"median share, neurons 1 to 4": PERIODIC},
        figure="neurons_1_to_4",
    ),
)
