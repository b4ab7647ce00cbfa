"""Neurons before and after the ReLU, and what feeds them."""

from __future__ import annotations

from modinterp.analyses.ablations import accuracy_on, loss_on
from modinterp.analyses.explained import affine_fit, energy_share
from modinterp.analyses.fourier import component_norms, components_of, frequency_norms, transform, transform_2d
from modinterp.analyses.frequencies import jaccard
from modinterp.analyses.neurons import frequency_energies, term_shares
from modinterp.claims.band import at_least, at_most
from modinterp.claims.claim import Claim, Value, each
from modinterp.claims.evidence import evidence
from modinterp.claims.mlp.network import RUN, SEEDS
from modinterp.runs import TrainedRun


def _median(run: TrainedRun) -> dict[str, Value]:
    return {"median share of a neuron's best frequency": float(evidence(run).neurons.fractions.nan_to_num(0).median())}


def _nine_terms(run: TrainedRun) -> dict[str, Value]:
    explained = evidence(run).neurons.explained
    spectrum = transform_2d(evidence(run).post)
    spectrum[0, 0] = 0
    return {
        "fraction of neurons above 0.85": float(explained.double().mean()),
        "neurons above 0.85": int(explained.sum()),
        "share of waves of a alone": energy_share(spectrum[1:, 0], spectrum),
        "share of waves of b alone": energy_share(spectrum[0, 1:], spectrum),
    }


def _norm_map(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    spectrum = transform_2d(ev.post)
    spectrum[0, 0] = 0
    energies = frequency_energies(spectrum).sum(dim=1)
    keys = [k - 1 for k in ev.freqs]
    return {"share of the key frequencies": float(energies[keys].sum() / spectrum.square().sum())}


def _before(run: TrainedRun) -> dict[str, Value]:
    shares = term_shares(evidence(run).pre)
    return {"share that is not linear": shares.products + shares.rest}


def _after(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    shares = term_shares(ev.post)
    W_E = ev.W_E.double()
    logits = affine_fit(W_E[:, None] + W_E, ev.post) @ ev.W_L.double()
    return {
        "share of products of one frequency": shares.products,
        "accuracy with the best affine map in place of the neurons": accuracy_on(logits, ev.labels),
        "loss with it": loss_on(logits, ev.labels),
        "linear share": shares.linear,
        "share of the rest": shares.rest,
    }


def _into_neurons(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    product = ev.W_E @ run.model.blocks[0].mlp.W_in.detach()
    strongest = frequency_norms(component_norms(product)).topk(len(ev.freqs)).indices + 1
    coefficients = transform(product)
    return {
        "agreement with the key frequencies of W_U": jaccard(strongest.tolist(), ev.freqs),
        "share of the key frequencies": energy_share(coefficients[components_of(ev.freqs, ev.p)], coefficients[1:]),
    }


CLAIMS = (
    Claim(
        "mlp.neuron_heatmaps",
        "neuron activations",
        "Neurons are periodic in a and b.",
        "three neurons shown",
        each(_median),
        {"median share of a neuron's best frequency": at_least(0.85, "0.954 in the author's checkpoint")},
        needs=SEEDS,
        scope="any seed",
        figure="neurons",
    ),
    Claim(
        "mlp.neurons_9_terms",
        "neurons in the Fourier basis",
        "A neuron is a sum of nine terms of one frequency: a constant, four waves and four products.",
        "most neurons; 483 of 512 in the author's checkpoint",
        each(_nine_terms),
        {"fraction of neurons above 0.85": at_least(0.80, "0.943 in the author's checkpoint")},
        needs=SEEDS,
        scope="any seed",
        figure="cluster",
    ),
    Claim(
        "mlp.neuron_norm_map",
        "norm of the components of all neurons",
        "Only a few key frequencies are used.",
        "13 of 56",
        each(_norm_map),
        {"share of the key frequencies": at_least(0.90, "nothing else is visible in the notebook's map")},
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        "mlp.pre_linear_only",
        "before the ReLU",
        "Before the ReLU there are waves of a and of b and no products: the sum of two embeddings is linear. "
        "The notebook sees faint products; they are exactly 0.",
        "0",
        _before,
        {"share that is not linear": at_most(1e-10)},
        needs=RUN,
        scope="any network",
        figure="norm_maps",
    ),
    Claim(
        "mlp.post_quadratic",
        "before and after the ReLU",
        "The ReLU makes the products, and without it the task cannot be done.",
        "linear 0.766, products 0.217, rest 0.018 in the author's checkpoint",
        each(_after),
        {
            "share of products of one frequency": at_least(0.10, "0.217 in the author's checkpoint"),
            "accuracy with the best affine map in place of the neurons": at_most(0.1, "0.012 in the author's checkpoint"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        "mlp.wneur_sparse",
        "W_E W_in",
        "What feeds the neurons is sparse in the Fourier basis, at the same key frequencies.",
        "the same 13; 0.991 of the squared norm in the author's checkpoint",
        each(_into_neurons),
        {
            "agreement with the key frequencies of W_U": at_least(0.9, "the same set in the author's checkpoint"),
            "share of the key frequencies": at_least(0.9, "0.991 in the author's checkpoint"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="spectra",
    ),
)  # fmt: skip
