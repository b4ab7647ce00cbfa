"""Modular addition, with 5,000 pairs to train on."""

from __future__ import annotations

from statistics import mean, median

from modinterp.analyses.fourier.frequencies import key_frequencies
from modinterp.analyses.fourier.sparsity import gini
from modinterp.analyses.fourier.transforms import transform_2d
from modinterp.analyses.statistics.similarity import cosines, relative_difference
from modinterp.analyses.training.phases import fall
from modinterp.claims.band import at_least, at_most, between, equals, near
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.measurements import PairMeasurements
from modinterp.sources.circuits.claims.conditions import LEARNED
from modinterp.sources.circuits.runs import ADD, RUNS

ACCURACY = "accuracy"
START = "start"
LENGTH = "length"
END = "end"
MEMORISED = "memorised"
GROKKED = "grokked"
TRAINED_PAIRS = "pairs to train on"
PAIRS = "pairs"
COSINE = "cosine"
DIFFERENCE_LESS_COSINE = "difference less 2 (1 - cosine)"
NEURON_ASYMMETRY = "difference of the neurons at (a, b) and (b, a)"
ANSWERED_ALIKE = "pairs answered alike in both orders"
LEAST_ATTENTION = "smallest mean attention to a, over heads"
MOST_ATTENTION = "largest mean attention to a, over heads"
ATTENTION_SPREAD = "smallest standard deviation over pairs, over heads"
PERIODIC_HEADS = "heads with half their variance at one frequency"
BEST_FIT = "best fit by one frequency, FVE"
FIRST_NEURONS = "median share of neurons 0 to 2"
TERM_ASYMMETRY = "asymmetry of the terms of a and of b"
NEURON_GINI = "median Gini coefficient of a neuron"
NEURON_FREQUENCIES = "different frequencies of the neurons"
IMPORTANT_FREQUENCIES = "important frequencies of W_E"
GAP = "gap to the next"
KEY_FREQUENCIES = "key frequencies of W_L"

ACCURATE = {ACCURACY: at_least(0.99, LEARNED)}
RESID_MID = "blocks.0.hook_resid_mid"


def _grokking_window(m: PairMeasurements) -> dict[str, float]:
    """When the run memorised and grokked, and from when to when its test loss comes down. [epochs]"""
    grokking = m.grokking
    window = fall(m.history)
    return {
        START: window.start,
        LENGTH: window.end - window.start,
        END: window.end,
        MEMORISED: grokking.memorised,
        GROKKED: grokking.grokked,
    }


def _dataset() -> dict[str, Value]:
    spec = RUNS[ADD[0]]
    return {TRAINED_PAIRS: len(spec.split.train), PAIRS: len(spec.task.inputs())}


def _positions(m: PairMeasurements) -> dict[str, float]:
    """How close the embeddings of the two positions are, by the report's two measures."""
    W_pos = m.W_pos
    cosine, difference = float(cosines(W_pos)[0, 1]), relative_difference(W_pos[0], W_pos[1])
    return {
        COSINE: cosine,
        "difference": difference,
        DIFFERENCE_LESS_COSINE: abs(difference - 2 * (1 - cosine)),
        ACCURACY: m.accuracy,
    }


def _symmetric(m: PairMeasurements) -> dict[str, float]:
    """Relative difference that exchanging the two numbers makes to neurons and residual stream."""
    before = m.activation(RESID_MID)
    return {
        NEURON_ASYMMETRY: relative_difference(m.post, m.post.transpose(0, 1)),
        "the same of the residual stream before the MLP": relative_difference(before, before.transpose(0, 1)),
        ACCURACY: m.accuracy,
    }


def _invariant(m: PairMeasurements) -> dict[str, float]:
    answers = m.logits.argmax(dim=-1)
    return {
        ANSWERED_ALIKE: float((answers == answers.T).double().mean()),
        **_symmetric(m),
    }


def _half_attention(m: PairMeasurements) -> dict[str, float]:
    """Attention to the first number: mean and standard deviation over all pairs."""
    to_a = m.pattern[..., 0]
    means = to_a.mean(dim=(0, 1))
    return {
        LEAST_ATTENTION: float(means.min()),
        MOST_ATTENTION: float(means.max()),
        ATTENTION_SPREAD: float(to_a.flatten(0, 1).std(dim=0).min()),
    }


def _periodic(m: PairMeasurements) -> dict[str, float]:
    shares = [head.linear_share for head in m.heads.heads]
    return {
        PERIODIC_HEADS: sum(share >= 0.5 for share in shares),
        "largest share": max(shares),
        BEST_FIT: max(head.explained for head in m.heads.heads),
        ACCURACY: m.accuracy,
    }


def _first_neurons(m: PairMeasurements) -> dict[str, float]:
    shares = m.neurons.fractions.nan_to_num(0)
    return {
        FIRST_NEURONS: median(shares[:3].tolist()),
        "median share of all neurons": float(shares.median()),
    }


def _attention_spectrum(m: PairMeasurements) -> dict[str, float]:
    spectra = transform_2d(m.pattern[..., 0])
    rows, columns = spectra[1:, 0].square(), spectra[0, 1:].square()
    return {
        TERM_ASYMMETRY: float((rows - columns).abs().sum() / (rows + columns).sum()),
        "asymmetry of their sums": float((rows.sum() - columns.sum()).abs() / (rows + columns).sum()),
        "Gini coefficient, mean over heads": mean(
            gini(spectra[..., head].abs().flatten()) for head in range(spectra.shape[2])
        ),
    }


def _neuron_spectra(m: PairMeasurements) -> dict[str, float]:
    spectra = transform_2d(m.post).abs()
    sampled = [spectra[..., n].flatten() for n in range(0, spectra.shape[2], 8)]
    return {
        NEURON_GINI: median(gini(sizes) for sizes in sampled),
        "the same of the squares": median(gini(sizes.square()) for sizes in sampled),
        NEURON_FREQUENCIES: len(m.neurons.clusters()),
        ACCURACY: m.accuracy,
    }


def _frequencies(m: PairMeasurements) -> dict[str, float]:
    keys = key_frequencies(m.W_E.T)
    return {
        IMPORTANT_FREQUENCIES: len(keys.freqs),
        GAP: keys.gap,
        KEY_FREQUENCIES: len(m.freqs),
        ACCURACY: m.accuracy,
    }


CLAIMS = (
    Claim(
        id="circuits.add.grok_window",
        where="Addition, losses",
        statement="Grokking begins near epoch 10,000 and is over near 15,000.",
        source_says="10,000 to 15,000",
        measure=each(_grokking_window),
        expected={
            START: between(3_000, 25_000, "10,000 in the source, seed-specific"),
            LENGTH: at_most(10_000, "5,000 in the source, seed-specific"),
        },
        needs=ADD[:1],
        finding=refuted("with 39% of the pairs it begins at epoch 2,300 and is over at 3,200"),
        figure="add_curves",
    ),
    Claim(
        id="circuits.add.dataset",
        where="Addition, problem statement",
        statement="5,000 pairs of numbers are trained on.",
        source_says="5,000",
        measure=_dataset,
        expected={TRAINED_PAIRS: equals(5_000), PAIRS: equals(12_769)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="circuits.add.pos_diff",
        where="Addition, closeness of positions",
        statement=(
            "The difference of the two positions' embeddings is |v - w|^2 / (|v| |w|), which for equal lengths is "
            "twice 1 - cosine."
        ),
        source_says="0.7655",
        measure=each(_positions),
        expected={DIFFERENCE_LESS_COSINE: at_most(0.05, "the source's two numbers agree to 0.0002"), **ACCURATE},
        needs=ADD[:1],
    ),
    Claim(
        id="circuits.add.pos_cos",
        where="Addition, closeness of positions",
        statement="The embeddings of the two positions are close to each other.",
        source_says="0.6173",
        measure=each(_positions),
        expected={
            COSINE: near(
                0.617, 0.3, "0.617 in the source; within 0.3 of it they are neither perpendicular nor the same"
            )
        },
        needs=ADD,
        scope="any seed",
        finding=refuted(
            "cosines of 0.90, 0.90 and 0.94 in three seeds: all closer than in the source, and the last by more "
            "than the 0.3 allowed"
        ),
    ),
    Claim(
        id="circuits.add.neuron_sym",
        where="Addition, closeness of positions",
        statement="Neurons are the same for (a, b) and (b, a).",
        source_says="9.6e-06",
        measure=each(_symmetric),
        expected={NEURON_ASYMMETRY: at_most(1e-2, "1.9e-4 in a network of the paper's authors"), **ACCURATE},
        needs=ADD,
        scope="any seed",
        figure="add_neurons",
    ),
    Claim(
        id="circuits.add.invariance",
        where="Addition, closeness of positions",
        statement="What is left of the positions does not change the answer.",
        source_says="no number",
        measure=each(_invariant),
        expected={ANSWERED_ALIKE: at_least(0.999, "invariant"), **ACCURATE},
        needs=ADD,
        scope="any seed",
    ),
    Claim(
        id="circuits.add.half_attention",
        where="Addition, attention",
        statement="The last token attends to each of the two numbers by about a half.",
        source_says="0.5",
        measure=each(_half_attention),
        expected={
            LEAST_ATTENTION: at_least(0.4, "about 0.5"),
            MOST_ATTENTION: at_most(0.6, "about 0.5"),
        },
        needs=ADD,
        scope="any seed",
        figure="add_attention",
    ),
    Claim(
        id="circuits.add.attn_periodic",
        where="Addition, attention",
        statement="Attention to the first number is periodic.",
        source_says="heat-maps",
        measure=each(_periodic),
        expected={PERIODIC_HEADS: at_least(2, "seen in the heat-maps"), **ACCURATE},
        needs=ADD,
        scope="any seed",
        figure="add_attention",
    ),
    Claim(
        id="circuits.add.neurons_first3",
        where="Addition, neurons",
        statement="The first three neurons are periodic.",
        source_says="heat-maps",
        measure=each(_first_neurons),
        expected={FIRST_NEURONS: at_least(0.7, "seen in the heat-maps")},
        needs=ADD,
        scope="any seed",
        finding=refuted(
            "one frequency explains 97% and 98% of the median one of them in two seeds, and 69% in the third, "
            "whose three are at 45%, 69% and 94%; of all neurons it explains 93% to 97% in the median"
        ),
        figure="add_neurons",
    ),
    Claim(
        id="circuits.add.attn_2dft",
        where="Addition, attention in the Fourier basis",
        statement="In the Fourier basis attention is sparse, and the same in both numbers.",
        source_says="three figures",
        measure=each(_attention_spectrum),
        expected={TERM_ASYMMETRY: at_most(0.1, "symmetric in the figures")},
        needs=ADD,
        scope="any seed",
        figure="add_attention",
    ),
    Claim(
        id="circuits.add.neurons_2dft",
        where="Addition, neurons in the Fourier basis",
        statement="Neurons are sparse in the Fourier basis, at several frequencies.",
        source_says="figures",
        measure=each(_neuron_spectra),
        expected={
            NEURON_GINI: at_least(0.9, "sparse"),
            NEURON_FREQUENCIES: at_least(2, "different ones"),
            **ACCURATE,
        },
        needs=ADD,
        scope="any seed",
        finding=refuted(
            "a Gini coefficient of 0.84 to 0.87 of the sizes; 0.9994 or more of their squares, so that sparse they are"
        ),
        figure="add_neurons",
    ),
    Claim(
        id="circuits.add.five_freqs",
        where="Addition, W_E in the Fourier basis",
        statement="Only five frequencies are important in the embedding.",
        source_says="5",
        measure=each(_frequencies),
        expected={
            IMPORTANT_FREQUENCIES: between(3, 8, "5 in the source, seed-specific"),
            GAP: at_least(1.5, "a set that does not stand out is no finding"),
            **ACCURATE,
        },
        needs=ADD,
        scope="any seed",
        figure="add_spectra",
    ),
)
