"""Claims on modular addition, trained on 5,000 pairs: attention, neurons and embedding are waves."""

from __future__ import annotations

from statistics import median

from modinterp.analyses.fourier.frequencies import key_frequencies
from modinterp.analyses.fourier.sparsity import gini
from modinterp.analyses.fourier.transforms import transform_2d
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, each
from modinterp.claims.finding import Finding, mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.circuits.claims.conditions import ACCURATE, SAME_BAR
from modinterp.sources.circuits.runs import ADD


def _half_attention(m: CyclicMeasurements) -> dict[str, float]:
    """Attention to the first number: mean and standard deviation over all pairs."""
    to_a = m.pattern[..., 0]
    means = to_a.mean(dim=(0, 1))
    return {
        "lowest mean attention to a": float(means.min()),
        "highest mean attention to a": float(means.max()),
        "smallest standard deviation of a head's attention to a": float(to_a.flatten(0, 1).std(dim=0).min()),
    }


def _periodic(m: CyclicMeasurements) -> dict[str, float]:
    shares = [head.linear_share for head in m.heads.heads]
    return {
        "heads with half their variance at one frequency": sum(share >= 0.5 for share in shares),
        "best fit by one frequency, FVE": max(head.explained for head in m.heads.heads),
    }


def _attention_spectrum(m: CyclicMeasurements) -> dict[str, float]:
    spectra = transform_2d(m.pattern[..., 0])
    rows, columns = spectra[1:, 0].square(), spectra[0, 1:].square()
    return {"asymmetry of the terms of a and of b": float((rows - columns).abs().sum() / (rows + columns).sum())}


def _neuron_spectra(m: CyclicMeasurements) -> dict[str, float]:
    spectra = transform_2d(m.post).abs()
    sampled = [spectra[..., n].flatten() for n in range(0, spectra.shape[2], 8)]
    return {
        "median Gini coefficient of a neuron": median(gini(sizes) for sizes in sampled),
        "median Gini coefficient of a neuron's squares": median(gini(sizes.square()) for sizes in sampled),
        "different frequencies of the neurons": len(m.neurons.clusters()),
    }


def _frequencies(m: CyclicMeasurements) -> dict[str, float]:
    keys = key_frequencies(m.W_E.T)
    return {
        "important frequencies of W_E": len(keys.freqs),
        "gap to the next": keys.gap,
    }


CLAIMS = (
    Claim(
        id="circuits.add.half_attention",
        where="Addition, attention",
        statement="The last token gives each of the two numbers about half of its attention.",
        source_says="0.5",
        measure=each(_half_attention),
        expected={
            "lowest mean attention to a": at_least(0.4, "the mean attention must be about 0.5"),
            "highest mean attention to a": at_most(0.6, "the mean attention must be about 0.5"),
        },
        reported=("smallest standard deviation of a head's attention to a",),
        needs=ADD,
        scope="any seed",
        figure="add_attention",
        control="also true of another operation",
    ),
    Claim(
        id="circuits.add.attn_periodic",
        where="Addition, attention",
        statement="Attention to the first number is periodic.",
        source_says="the source shows this in heat-maps",
        measure=each(_periodic),
        expected={
            "heads with half their variance at one frequency": at_least(
                2, "the source's heat-maps show a periodic pattern"
            ),
            **ACCURATE,
        },
        changed=(SAME_BAR,),
        reported=("best fit by one frequency, FVE",),
        needs=ADD,
        scope="any seed",
        figure="add_attention",
    ),
    Claim(
        id="circuits.add.neurons_first3",
        where="Addition, neurons",
        statement="The first three neurons are periodic.",
        source_says="the source shows this in heat-maps",
        measure=each(
            lambda m: {"median share of neurons 0 to 2": median(m.neurons.fractions.nan_to_num(0)[:3].tolist())}
        ),
        expected={"median share of neurons 0 to 2": at_least(0.7, "the source's heat-maps show a periodic pattern")},
        reported=("neurons_median",),
        needs=ADD,
        scope="any seed",
        finding=mixed(
            "For the median of the first three neurons, one frequency explains 80% to 98% of the variance. "
            "In the network add-1 one frequency explains 45%, 69% and 94% of the variance of the first "
            "three neurons. For the median of all neurons, one frequency explains 93% to 97% of the "
            "variance."
        ),
        figure="add_neurons",
    ),
    Claim(
        id="circuits.add.attn_2dft",
        where="Addition, attention in the Fourier basis",
        statement="In the Fourier basis attention is sparse, and symmetric in the two numbers.",
        source_says="the source shows this in three figures",
        measure=each(_attention_spectrum),
        expected={
            "asymmetry of the terms of a and of b": at_most(
                0.1, "the source's figures of attention are symmetric in the two numbers"
            )
        },
        needs=ADD,
        scope="any seed",
        figure="add_attention",
        control="also true of another operation",
    ),
    Claim(
        id="circuits.add.neurons_2dft",
        where="Addition, neurons in the Fourier basis",
        statement="Neurons are sparse in the Fourier basis, and use several frequencies.",
        source_says="the source shows this in figures",
        measure=each(_neuron_spectra),
        expected={
            "median Gini coefficient of a neuron": at_least(
                0.9, "the Fourier components of the neurons must be sparse"
            ),
            "different frequencies of the neurons": at_least(2, "the neurons must use different frequencies"),
            **ACCURATE,
        },
        changed=(SAME_BAR,),
        needs=ADD,
        scope="any seed",
        finding=mixed(
            "The absolute Fourier components of the neurons have a Gini coefficient of 0.81 to 0.87 in nine"
            " seeds and of 0.93 in one seed. The squared Fourier components of the neurons have a Gini "
            "coefficient of 0.9992 or more in every seed. So the neurons' squared Fourier components are as"
            " sparse as the source states, and their absolute components are not."
        ),
        reported=("median Gini coefficient of a neuron's squares",),
        figure="add_neurons",
    ),
    Claim(
        id="circuits.add.five_freqs",
        where="Addition, W_E in the Fourier basis",
        statement="Only five frequencies are important in the embedding.",
        source_says="5",
        measure=each(_frequencies),
        expected={
            "important frequencies of W_E": between(
                3, 8, "the source's embedding has 5 important frequencies; seeds differ"
            ),
            "gap to the next": at_least(
                1.5,
                "the norms of key frequencies must be clearly larger than the norms of other frequencies, "
                "otherwise their number means nothing",
            ),
            **ACCURATE,
        },
        changed=(
            SAME_BAR,
            Change(
                date="2026-11-28",
                was="mixed",
                what="which trainings count as one network",
                before=(
                    "two trainings counted twice, since the sweep over widths has shorter copies of both: "
                    "the claim held in 11 of these 12 trainings; mixed"
                ),
                now="each training counts once, in its longest version; the claim holds in all ten trainings",
                why="two copies of one training are one network, not two",
            ),
        ),
        needs=ADD,
        scope="any seed",
        finding=Finding(
            why=(
                "Shorter repeats of two trainings do not count as networks. In one shorter repeat of a "
                "training, nine frequencies of the embedding have large norms."
            )
        ),
        reported=("n_keys",),
        figure="add_spectra",
    ),
)
