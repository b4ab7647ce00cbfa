"""Claims on neurons before and after the ReLU, and on the inputs of the neurons."""

from __future__ import annotations

from modinterp.analyses.fourier.ablations import accuracy_on
from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.analyses.fourier.neurons import term_shares
from modinterp.analyses.fourier.transforms import (
    component_norms,
    components_of,
    frequency_norms,
    transform,
    transform_2d,
)
from modinterp.analyses.statistics.explained import affine_fit, energy_share
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.mlp.runs import MAIN, SEEDS

AGREEMENT = "agreement with the key frequencies of W_U"


def _single_waves(m: CyclicMeasurements) -> dict[str, Value]:
    spectrum = transform_2d(m.post)
    spectrum[0, 0] = 0
    return {
        "share of waves of a alone": energy_share(spectrum[1:, 0], spectrum),
        "share of waves of b alone": energy_share(spectrum[0, 1:], spectrum),
    }


def _before_the_relu(m: CyclicMeasurements) -> dict[str, Value]:
    shares = term_shares(m.pre)
    return {"share that is not linear": shares.products + shares.rest}


def _after_the_relu(m: CyclicMeasurements) -> dict[str, Value]:
    W_E = m.W_E.double()
    logits = affine_fit(W_E[:, None] + W_E, m.post) @ m.W_L.double()
    return {"accuracy with the best affine map in place of the neurons": accuracy_on(logits, m.labels)}


def _into_neurons(m: CyclicMeasurements) -> dict[str, Value]:
    W_E_W_in = m.W_E @ m.W_in
    strongest = frequency_norms(component_norms(W_E_W_in)).topk(len(m.freqs)).indices + 1
    coefficients = transform(W_E_W_in)
    return {
        AGREEMENT: jaccard(strongest.tolist(), m.freqs),
        "share of W_E W_in at the key frequencies": energy_share(
            coefficients[components_of(m.freqs, m.p)], coefficients[1:]
        ),
    }


CLAIMS = (
    Claim(
        id="mlp.neuron_heatmaps",
        where="neuron activations",
        statement="Neurons are periodic in a and b.",
        source_says="the notebook shows three neurons",
        expected={
            "neurons_median": at_least(
                0.85, "in the author's checkpoint one frequency explains 0.954 of the median neuron"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="neurons",
    ),
    Claim(
        id="mlp.neurons_9_terms",
        where="neurons in the Fourier basis",
        statement="A neuron is a sum of nine terms of one frequency: a constant, four waves and four products.",
        source_says="most neurons are such sums; in the author's checkpoint 483 of 512 neurons are",
        measure=each(_single_waves),
        expected={
            "neurons_explained": at_least(
                0.80,
                "in the author's checkpoint a share of 0.943 of the neurons are sums of nine terms of one frequency",
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="cluster",
    ),
    Claim(
        id="mlp.neuron_norm_map",
        where="norm of the components of all neurons",
        statement="The neurons use only a few key frequencies.",
        source_says="13 of 56 frequencies",
        expected={
            "neurons_at_keys": at_least(
                0.90, "in the notebook's map frequencies other than the key frequencies are not visible"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        id="mlp.pre_linear_only",
        where="before the ReLU",
        statement=(
            "Before the ReLU the neurons contain waves of a and waves of b but no products, because a sum of two "
            "embeddings is linear. The notebook sees faint products of waves of a and b before the ReLU, but all "
            "products of waves are exactly 0 before the ReLU."
        ),
        source_says="0",
        measure=_before_the_relu,
        expected={"share that is not linear": at_most(1e-10)},
        needs=(MAIN,),
        scope="any network",
        figure="norm_maps",
    ),
    Claim(
        id="mlp.post_quadratic",
        where="before and after the ReLU",
        statement="The ReLU makes the products of waves, and the network cannot add without the ReLU.",
        source_says=(
            "in the author's checkpoint linear terms have a share of 0.766, products 0.217 and all other terms 0.018"
        ),
        measure=each(_after_the_relu),
        expected={
            "products_after": at_least(0.10, "in the author's checkpoint products have a share of 0.217"),
            "accuracy with the best affine map in place of the neurons": at_most(
                0.1, "with an affine map in place of the neurons, the accuracy of the author's checkpoint is 0.012"
            ),
        },
        behaviour=("accuracy with the best affine map in place of the neurons",),
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        id="mlp.wneur_sparse",
        where="W_E W_in",
        statement="The inputs of the neurons are sparse in the Fourier basis, at the key frequencies of the neurons' "
        "outputs.",
        source_says="the neurons' 13 frequencies hold 0.991 of the squared norm in the author's checkpoint",
        measure=each(_into_neurons),
        expected={
            AGREEMENT: at_least(
                0.9, "inputs and outputs of neurons have the same frequencies in the author's checkpoint"
            ),
            "share of W_E W_in at the key frequencies": at_least(
                0.9, "in the author's checkpoint the key frequencies hold 0.991 of the inputs' squared norm"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="spectra",
    ),
)
