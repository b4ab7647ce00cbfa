"""Claims of section 4.1 and figures 3, 4, 9 and 12: weights and activations are periodic."""

from __future__ import annotations

from functools import cache
from statistics import median

import torch

from modinterp.analyses.fourier.frequencies import significant_frequencies
from modinterp.analyses.fourier.neurons import terms_of
from modinterp.analyses.statistics.explained import energy_share
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Measure, Value
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.heads import BY_ROUNDING
from modinterp.sources.nanda.claims.trainings import by_seed, settled_alone
from modinterp.sources.nanda.runs import MAIN, PAPER_FREQS, PAPER_HEADS

N_SIGNIFICANT = "significant frequencies"
BY_NEURONS = "key frequencies, by neurons"
PAPERS = "key frequencies of the paper"
NOT_THE_PAPERS = "other key frequencies"
PAPERS_HEADS = "heads at the paper's frequency"
N_COMPONENTS = "components of the blocks"

ONE_FREQUENCY_A_HEAD = {
    "heads with a share of 0.8": at_least(
        3, "in table 2 one frequency explains 98% to 99% of the attention of each head"
    ),
    "lowest share of a head's attention at one frequency": at_least(
        0.5, "in table 2 one frequency explains 97.9% or more of the attention of each head"
    ),
}
PERIODIC = at_least(0.85, "one frequency explains more than 0.85 of the variance for 84.6% of the paper's neurons")


def _embedding(m: CyclicMeasurements) -> dict[str, Value]:
    significant = set(significant_frequencies(m.W_E))
    return {
        N_SIGNIFICANT: len(significant),
        "key frequencies among them": len(significant & set(m.freqs)) / len(m.freqs),
    }


def _symmetry(m: CyclicMeasurements) -> dict[str, Value]:
    norms = torch.fft.fft(m.W_E.double(), dim=0).norm(dim=1)[1:]
    return {"largest relative difference": float(((norms - norms.flip(0)).abs() / norms).max())}


def _attention(m: CyclicMeasurements) -> dict[str, Value]:
    shares = [head.linear_share for head in m.heads.heads]
    to_a = m.pattern[..., 0].flatten(0, 1)
    return {
        "heads with a share of 0.8": sum(share >= 0.8 for share in shares),
        "lowest share of a head's attention at one frequency": min(shares),
        "lowest mean attention to a": float(to_a.mean(dim=0).min()),
        "highest mean attention to a": float(to_a.mean(dim=0).max()),
        "smallest standard deviation of a head's attention to a": float(to_a.std(dim=0).min()),
    }


def _median_share(first: int, last: int) -> str:
    return f"median share, neurons {first} to {last}"


@cache
def _neurons(first: int, last: int) -> Measure:
    def measure(m: CyclicMeasurements) -> dict[str, Value]:
        fractions = m.neurons.fractions[first : last + 1].tolist()
        return {_median_share(first, last): median(fractions)}

    return measure


def _logits(m: CyclicMeasurements) -> dict[str, Value]:
    blocks = terms_of(m.p, m.freqs, linear=False)
    norms = m.spectrum_energy.sqrt().cpu()
    varying = norms.clone()
    varying[0, 0] = 0
    top = torch.zeros_like(blocks)
    top.view(-1)[varying.flatten().topk(int(blocks.sum())).indices] = True
    return {
        "blocks among the largest components": float((top & blocks).sum() / blocks.sum()),
        "energy share of the blocks": energy_share(norms[blocks], varying),
        "components above a tenth of the largest": int((varying > 0.1 * varying.max()).sum()),
        N_COMPONENTS: int(blocks.sum()),
    }


def _heads_frequencies(m: CyclicMeasurements) -> dict[str, Value]:
    pairs = zip((head.freq for head in m.heads.heads), PAPER_HEADS, strict=False)
    return {PAPERS_HEADS: sum(freq == papers for freq, papers in pairs)}


CLAIMS = (
    Claim(
        id="nanda.fig3.left",
        where="section 4.1, figure 3 left",
        statement=(
            "The embedding is sparse in the Fourier basis: only a handful of frequencies, among them the "
            "key frequencies, have a large norm."
        ),
        source_says="6 frequencies with large norms, of which the network uses 5: 14, 35, 41, 42, 52",
        measure=_embedding,
        printed={N_SIGNIFICANT: 6},
        expected={
            N_SIGNIFICANT: between(
                3, 10, "the paper's embedding has 6 frequencies with large norms; the number differs by seed"
            ),
            "key frequencies among them": equals(
                1, "in the paper all 5 key frequencies have large norms in the embedding"
            ),
            "W_E_key_share": at_least(
                0.65,
                "in the paper's figure 5 of the 6 large bars are key frequencies; the small bars also hold "
                "part of the norm",
            ),
        },
        needs=(MAIN,),
        figure="spectra",
        finding=mixed(),
    ),
    Claim(
        id="nanda.s41.symmetry",
        where="section 4.1",
        statement=(
            "Frequencies k and p - k have the same norm in the embedding's spectrum, so the 56 lowest frequencies "
            "suffice."
        ),
        source_says="frequencies k and p - k have the same norm",
        measure=_symmetry,
        expected={
            "largest relative difference": at_most(
                1e-6, "the norms at k and p - k are equal for any real matrix, up to rounding"
            )
        },
        needs=(MAIN,),
        scope="any network",
    ),
    Claim(
        id="nanda.fig3.right",
        where="section 4.2, figure 3 right",
        statement="The map from neurons to logits (W_L) is zero at all frequencies except the key frequencies.",
        source_says="5 frequencies: 14, 35, 41, 42, 52",
        measure=lambda m: {
            BY_NEURONS: len(m.neurons.key_frequencies()),
            "strongest other over weakest key": 1 / m.keys.gap,
        },
        printed={"n_keys": 5, BY_NEURONS: 5},
        by_selection=("n_keys", BY_NEURONS),
        expected={
            "n_keys": between(
                3, 8, "the paper's main network has 5 key frequencies, and the paper's other seeds have 3 or 4"
            ),
            "strongest other over weakest key": at_most(
                0.35, "in figure 3 the bars of the key frequencies are far higher than all other bars"
            ),
            "key_energy": at_least(
                0.97, "the residual of W_L outside the key frequencies is below 0.55% in section 4.2"
            ),
        },
        needs=(MAIN,),
        figure="spectra",
    ),
    Claim(
        id="nanda.fig3.frequencies",
        where="section 4.1, figure 3",
        statement=(
            "The key frequencies of the paper's network are 14, 35, 41, 42 and 52. The measurement counts how "
            "often the paper's seed, or any other seed, ends with the paper's frequencies."
        ),
        source_says="14, 35, 41, 42, 52",
        measure=lambda m: {PAPERS: len({*m.freqs} & {*PAPER_FREQS}), NOT_THE_PAPERS: len({*m.freqs} - {*PAPER_FREQS})},
        printed={PAPERS: 5},
        by_selection=(PAPERS, NOT_THE_PAPERS),
        expected={
            PAPERS: equals(5, "the network must have the paper's key frequencies"),
            NOT_THE_PAPERS: equals(
                0,
                "the network must have no other key frequencies",
            ),
        },
        needs=(MAIN,),
        finding=mixed(
            "We chose our main network because it has the paper's key frequencies. In other numerical replicates "
            "of the paper's seed, rounding decides which key frequencies remain at the end of training. Other "
            "seeds than the paper's have other key frequencies."
        ),
        figure="spectra",
    ),
    Claim(
        id="nanda.fig4.left",
        where="section 4.1, figure 4 left",
        statement="Attention from = to a is periodic in a and b, with one frequency for each head.",
        source_says="head 0 has frequency 35",
        measure=_attention,
        expected=ONE_FREQUENCY_A_HEAD,
        by_selection=tuple(ONE_FREQUENCY_A_HEAD),
        needs=(MAIN,),
        finding=mixed(BY_ROUNDING),
        changed=by_seed("25 of 29"),
        figure="periodic",
    ),
    Claim(
        id="nanda.fig4.center",
        where="section 4.1, figure 4 centre",
        statement="Neuron 0 is periodic in a and b, with one frequency; the measurement takes neurons 0 to 4.",
        source_says="neuron 0: frequency 42",
        measure=_neurons(0, 4),
        expected={_median_share(0, 4): PERIODIC},
        needs=(MAIN,),
        figure="periodic",
        changed=settled_alone("one frequency explains 0.42 of the variance of the median neuron"),
    ),
    Claim(
        id="nanda.fig4.right",
        where="section 4.1, figure 4 right",
        statement=(
            "In the 2D Fourier basis the logits are the products of waves of equal frequency: one 2 x 2 "
            "block for each key frequency, and no other product."
        ),
        source_says="20 components for 5 frequencies",
        measure=_logits,
        printed={"components above a tenth of the largest": 20, N_COMPONENTS: 20},
        by_selection=(N_COMPONENTS,),
        expected={
            "blocks among the largest components": equals(
                1, "the components of the key frequencies' 2 x 2 blocks are large, and no others"
            ),
            "energy share of the blocks": at_least(
                0.95,
                (
                    "in networks that the authors archived, the 2 x 2 blocks of key frequencies hold a share "
                    "of 0.96 to 0.98 of the logits' energy"
                ),
            ),
        },
        needs=(MAIN,),
        figure="periodic",
        finding=mixed(),
    ),
    Claim(
        id="nanda.fig9",
        where="appendix C.1.1, figure 9",
        statement="Attention from = to a is periodic in all four heads.",
        source_says="frequencies 35, 42, 52, 42",
        measure=_attention,
        expected=ONE_FREQUENCY_A_HEAD,
        by_selection=tuple(ONE_FREQUENCY_A_HEAD),
        needs=(MAIN,),
        finding=mixed(BY_ROUNDING),
        changed=by_seed("25 of 29"),
        figure="heads",
        reported=(
            "lowest mean attention to a",
            "highest mean attention to a",
            "smallest standard deviation of a head's attention to a",
        ),
    ),
    Claim(
        id="nanda.fig9.frequencies",
        where="appendix C.1.1, figure 9",
        statement=(
            "Heads 0 to 3 attend at the frequencies 35, 42, 52 and 42. The measurement counts how often the "
            "paper's seed, or any other seed, ends with the paper's frequencies."
        ),
        source_says="frequencies 35, 42, 52, 42",
        measure=_heads_frequencies,
        printed={PAPERS_HEADS: 4},
        by_selection=(PAPERS_HEADS,),
        expected={PAPERS_HEADS: equals(4, "each head must be at the paper's frequency")},
        needs=(MAIN,),
        finding=refuted(
            "We chose our main network for its frequencies, which are those of the paper's network. In other "
            "numerical replicates of the paper's seed, rounding decides which heads attend at the paper's "
            "frequencies. Heads of other seeds attend at other frequencies."
        ),
        figure="heads",
    ),
    Claim(
        id="nanda.fig12",
        where="appendix C.1.4, figure 12",
        statement="Neurons 1 to 4 are periodic in a and b.",
        source_says="none printed",
        measure=_neurons(1, 4),
        expected={_median_share(1, 4): PERIODIC},
        needs=(MAIN,),
        figure="neurons_1_to_4",
        finding=mixed("The seed and rounding decide which neurons have one sharp frequency."),
    ),
)
