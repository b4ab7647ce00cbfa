"""Claims on the logits and W_U: which frequencies they have, and how much of the logits these frequencies explain."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.analyses.fourier.neurons import frequency_energies, term_shares
from modinterp.analyses.fourier.transforms import components_of, transform
from modinterp.analyses.statistics.explained import energy_share
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.mlp.claims.activations import AGREEMENT
from modinterp.sources.mlp.runs import MAIN, SEEDS

NORM_AT_KEYS, NORM = "norm at the key frequencies", "norm of W_U"
NORM_RATIO = "ratio of norms"
ENERGY_RATIO = "ratio of squared norms"


def _terms_of_logits(m: CyclicMeasurements) -> dict[str, Value]:
    shares = term_shares(m.logits)
    return {"products of one frequency in the logits": shares.products, "linear terms in the logits": shares.linear}


def _same_frequencies(m: CyclicMeasurements) -> dict[str, Value]:
    energies = frequency_energies(m.spectrum_energy.sqrt())
    strongest = (energies.topk(len(m.freqs)).indices + 1).tolist()
    return {AGREEMENT: jaccard(strongest, m.freqs)}


def _energy_ratio(m: CyclicMeasurements) -> float:
    """Squared norm of W_U at the key frequencies over its whole squared norm, the constant component included."""
    coefficients = transform(m.W_L.T)
    return energy_share(coefficients[components_of(m.freqs, m.p)], coefficients)


def _columns_of_W_U(m: CyclicMeasurements) -> dict[str, Value]:
    U = F.normalize(transform(m.W_L.T), dim=1)
    cosines, key = (U @ U.T - torch.eye(len(U), dtype=U.dtype, device=U.device)).abs(), components_of(m.freqs, m.p)
    return {
        "squared norm at the key frequencies": _energy_ratio(m),
        "largest cosine between two columns": float(cosines.max()),
        "largest cosine between two key columns": float(cosines[key][:, key].max()),
    }


def _norm_ratio(m: CyclicMeasurements) -> dict[str, Value]:
    energy, norm = _energy_ratio(m), float(m.W_L.double().norm())
    return {
        NORM_RATIO: math.sqrt(energy),
        NORM_AT_KEYS: math.sqrt(energy) * norm,
        NORM: norm,
        ENERGY_RATIO: energy,
    }


CLAIMS = (
    Claim(
        id="mlp.logits_quadratic",
        where="logits in the Fourier basis",
        statement="The MLP's logits are products of waves of one frequency, with almost no linear terms.",
        source_says=(
            "in the author's checkpoint linear terms have a share of 0.038, products 0.926 and all other terms 0.036"
        ),
        measure=each(_terms_of_logits),
        expected={
            "products of one frequency in the logits": at_least(
                0.85, "in the author's checkpoint products have a share of 0.926"
            ),
            "linear terms in the logits": at_most(
                0.10, "in the author's checkpoint linear terms have a share of 0.038"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        id="mlp.logits_norm_map",
        where="norm of the logits",
        statement="The MLP's logits contain only the key frequencies of the neurons.",
        source_says="13",
        measure=each(_same_frequencies),
        expected={AGREEMENT: at_least(0.9, "logits and neurons have the same key frequencies in the notebook")},
        reported=("n_keys",),
        needs=SEEDS,
        scope="any seed",
        figure="norm_maps",
    ),
    Claim(
        id="mlp.wu_fourier_heatmap",
        where="understanding W_U",
        statement="W_U in the Fourier basis is concentrated on the columns of the key frequencies.",
        source_says="the key frequencies have 13 pairs of columns",
        measure=each(_columns_of_W_U),
        expected={
            "squared norm at the key frequencies": at_least(
                0.9, "in the author's checkpoint the key columns hold 0.965 of the squared norm of W_U"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="spectra",
    ),
    Claim(
        id="mlp.wu_component_norms",
        where="norms of the components of W_U",
        statement="The key frequencies are clear peaks in the spectrum of W_U.",
        source_says=("the squared norm is 58.6 at the weakest key frequency and 7.5 at the strongest other frequency"),
        measure=lambda m: {"smallest key over largest other squared norm": m.keys.gap**2},
        expected={
            "smallest key over largest other squared norm": at_least(
                3,
                "in the author's checkpoint the weakest key frequency has 7.8 times the squared norm of the "
                "strongest other frequency",
            )
        },
        needs=(MAIN,),
        figure="spectra",
        finding=mixed(),
    ),
    Claim(
        id="mlp.key_freqs",
        where="cells 77 and 88",
        statement="The MLP of Kissane's notebook has more key frequencies than the transformer of Nanda et al.",
        source_says="13 key frequencies: 1, 3, 17, 19, 21, 23, 28, 29, 33, 35, 37, 42, 44",
        measure=lambda m: {"gap of squared norms": m.keys.gap**2},
        expected={
            "n_keys": between(6, 20, "the notebook has 13 key frequencies, more than the 3 to 5 of transformers"),
            "gap of squared norms": at_least(
                3,
                "key frequencies must have larger squared norms than other frequencies; in the author's "
                "checkpoint the ratio is 7.8",
            ),
        },
        needs=(MAIN,),
        figure="spectra",
        changed=(
            Change(
                date="2026-11-21",
                what="the lower end of the tolerance of the number of key frequencies",
                before=(
                    "the number of key frequencies had to be 5 to 20; our first network has 12 key frequencies, "
                    "and five networks have 9 to 13"
                ),
                now="the number of key frequencies must be 6 to 20",
                why="a transformer also has five key frequencies, and the statement says that the MLP has more",
            ),
        ),
        finding=mixed(),
    ),
    Claim(
        id="mlp.wu_norm_ratio",
        where="cell 79",
        statement="The directions of the key frequencies hold nearly the whole norm of W_U.",
        source_says="36.203739 of the norm of 36.851849, a share of 0.98241 (0.96514 of the squared norm)",
        measure=_norm_ratio,
        expected={
            NORM_RATIO: at_least(
                0.95, "in the notebook the key frequencies' share of the norm of W_U is 0.98241; other seeds vary"
            )
        },
        reported=("read_residual", NORM_AT_KEYS, NORM),
        needs=(MAIN,),
        figure="spectra",
    ),
    Claim(
        id="mlp.claim98",
        where="summary",
        statement="The directions of the key frequencies hold more than 98% of the norm of W_U (96.5% of the squared "
        "norm).",
        source_says="0.98241",
        measure=_norm_ratio,
        expected={
            NORM_RATIO: at_least(
                0.95,
                "in the notebook the key frequencies' share of the norm of W_U is 0.98241; other seeds vary; "
                "whether the share exceeds the stated 0.98 is reported as well",
            )
        },
        needs=(MAIN,),
        figure="spectra",
    ),
    Claim(
        id="mlp.algorithm_summary",
        where="summary",
        statement=(
            "The MLP runs the transformer's algorithm: embeddings look up waves, the ReLU multiplies the waves, "
            "and W_U projects onto waves of the sum. The MLP's logits are a sum of cos(w_k(a + b - c)) over key "
            "frequencies w_k."
        ),
        source_says="in the author's checkpoint the FVE of the logits is 0.916 (0.856 if not centred)",
        expected={
            "logit_fve": at_least(0.85, "in the author's checkpoint the FVE of the logits is 0.916"),
            "excluded_loss": at_least(
                math.log(113),
                "the excluded loss should be that of guessing or worse; it is 5.13 in the author's "
                "checkpoint, and 4.30 on its training pairs alone",
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="readoff",
        finding=mixed(),
    ),
)
