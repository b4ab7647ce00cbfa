"""The logits and W_U: which frequencies, how clearly, and what the whole comes to."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from modinterp.analyses.ablations import excluded_logits, loss_on
from modinterp.analyses.explained import energy_share
from modinterp.analyses.fourier import components_of, transform
from modinterp.analyses.frequencies import jaccard
from modinterp.analyses.neurons import frequency_energies, term_shares
from modinterp.analyses.progress import fourier_gini
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value, each
from modinterp.claims.evidence import evidence
from modinterp.claims.mlp.network import RUN, SEEDS
from modinterp.runs import TrainedRun


def _quadratic(run: TrainedRun) -> dict[str, Value]:
    shares = term_shares(evidence(run).logits)
    return {"products of one frequency": shares.products, "linear": shares.linear, "rest": shares.rest}


def _same_frequencies(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    energies = frequency_energies(ev.spectrum).sum(dim=1)
    strongest = (energies.topk(len(ev.freqs)).indices + 1).tolist()
    return {"agreement with the key frequencies of W_U": jaccard(strongest, ev.freqs), "key frequencies": len(ev.freqs)}


def _share_of_norm(run: TrainedRun) -> float:
    """Squared norm of W_U at the key frequencies over the whole, the constant included."""
    ev = evidence(run)
    coefficients = transform(ev.W_L.T)
    return energy_share(coefficients[components_of(ev.freqs, ev.p)], coefficients)


def _sparse(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    U = F.normalize(transform(ev.W_L.T), dim=1)
    cosines, key = (U @ U.T - torch.eye(len(U), dtype=U.dtype, device=U.device)).abs(), components_of(ev.freqs, ev.p)
    return {
        "squared norm at the key frequencies": _share_of_norm(run),
        "largest cosine between two columns": float(cosines.max()),
        "largest cosine between two key columns": float(cosines[key][:, key].max()),
    }


def _peaks(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    squares = sorted((norm**2 for norm in ev.keys.norms), reverse=True)
    count = len(ev.freqs)
    return {
        "smallest key over largest other squared norm": ev.keys.gap**2,
        "smallest key": squares[count - 1],
        "largest other": squares[count],
    }


def _number(run: TrainedRun) -> dict[str, Value]:
    keys = evidence(run).keys
    return {"key frequencies": len(keys.freqs), "gap of squared norms": keys.gap**2}


def _norm_ratio(run: TrainedRun) -> dict[str, Value]:
    kept, norm = _share_of_norm(run), float(evidence(run).W_L.double().norm())
    return {
        "ratio of norms": math.sqrt(kept),
        "norm at the key frequencies": math.sqrt(kept) * norm,
        "norm": norm,
        "ratio of squared norms": kept,
        "norm of the residual": math.sqrt(1 - kept),
    }


def _summary(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    excluded = excluded_logits(ev.logits, ev.freqs)
    trained_on = (
        {} if run.spec is None else {"the same on the pairs trained on": loss_on(excluded, ev.labels, run.split.train)}
    )
    return {
        "FVE of the logits": ev.logit_fit.explained,
        "loss over all pairs without the key frequencies": loss_on(excluded, ev.labels),
        **trained_on,
        "FVE of the logits, not centred": ev.logit_fit.explained_raw,
        "Gini coefficient of W_E": fourier_gini(ev.W_E),
        "Gini coefficient of W_U": fourier_gini(ev.W_L.T),
    }


CLAIMS = (
    Claim(
        "mlp.logits_quadratic",
        "logits in the Fourier basis",
        "The logits are products of waves of one frequency, with almost no linear terms.",
        "linear 0.038, products 0.926, rest 0.036 in the author's checkpoint",
        each(_quadratic),
        {
            "products of one frequency": at_least(0.85, "0.926 in the author's checkpoint"),
            "linear": at_most(0.10, "0.038 in the author's checkpoint"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        "mlp.logits_norm_map",
        "norm of the logits",
        "The logits use just the neurons' key frequencies.",
        "13",
        each(_same_frequencies),
        {"agreement with the key frequencies of W_U": at_least(0.9, "the same set in the notebook")},
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        "mlp.wu_fourier_heatmap",
        "understanding W_U",
        "W_U in the Fourier basis is concentrated on the columns of the key frequencies.",
        "13 pairs of columns",
        each(_sparse),
        {"squared norm at the key frequencies": at_least(0.9, "0.965 in the author's checkpoint")},
        needs=SEEDS,
        scope="any seed",
        figure="spectra",
    ),
    Claim(
        "mlp.wu_component_norms",
        "norms of the components of W_U",
        "The key frequencies stand out as peaks.",
        "58.6 for the smallest key, 7.5 for the largest other",
        _peaks,
        {"smallest key over largest other squared norm": at_least(3, "7.8 in the author's checkpoint")},
        needs=RUN,
        figure="spectra",
    ),
    Claim(
        "mlp.key_freqs",
        "cells 77 and 88",
        "There are more key frequencies than in the transformer.",
        "13: 1, 3, 17, 19, 21, 23, 28, 29, 33, 35, 37, 42, 44",
        _number,
        {
            "key frequencies": between(6, 20, "13 in the notebook; more than the 3 to 5 of transformers"),
            "gap of squared norms": at_least(
                3, "a set that does not stand out is no finding; 7.8 in the author's checkpoint"
            ),
        },
        needs=RUN,
        figure="spectra",
    ),
    Claim(
        "mlp.wu_norm_ratio",
        "cell 79",
        "The key directions alone have nearly the whole norm of W_U.",
        "36.203739 of 36.851849, 0.98241 (squared 0.96514)",
        _norm_ratio,
        {"ratio of norms": at_least(0.95, "0.98241 in the notebook, other seeds vary")},
        needs=RUN,
        figure="spectra",
    ),
    Claim(
        "mlp.claim98",
        "summary",
        "The key directions are more than 98% of the norm of W_U (96.5% of its square).",
        "0.98241",
        _norm_ratio,
        {"ratio of norms": at_least(0.95, "0.98241 in the notebook, other seeds vary; 0.98 is reported beside")},
        needs=RUN,
        figure="spectra",
    ),
    Claim(
        "mlp.algorithm_summary",
        "summary",
        "The MLP runs the transformer's algorithm: waves are looked up, the ReLU multiplies, W_U reads off the sum, and "
        "the logits are a sum of cos(w_k(a + b - c)).",
        "FVE 0.916 (not centred 0.856) in the author's checkpoint",
        each(_summary),
        {
            "FVE of the logits": at_least(0.85, "0.916 in the author's checkpoint"),
            "loss over all pairs without the key frequencies": at_least(
                math.log(113), "no better than guessing; 5.13 in the author's checkpoint, 4.30 on its training pairs alone"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="readoff",
    ),
)  # fmt: skip
