"""Claims on neurons and attention over all pairs of digits, and on the transforms with which they are analysed."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.fourier.neuron_spectra import peak_ratios, strongest_share
from modinterp.analyses.fourier.transforms import fourier_basis, inverse_2d, sine_first, transform, transform_2d
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.claims.finding import one_seed
from modinterp.measurements import PairMeasurements, one_at_a_time
from modinterp.sources.miiii.claims.conditions import GENERALISED, MEAN_TEST_ACCURACY
from modinterp.sources.miiii.runs import BASIS, CODED, NANDA, ONE_OF_EACH

CORNER = 37  # rows and columns of the grid of all pairs that the source draws
MORE_EXCLUSIVE = "median distance of the attention to the digits, T_miiii less T_nanda"
DISTANCE_MIIII, DISTANCE_NANDA = "median distance, T_miiii", "median distance, T_nanda"


def _one_neuron(m: PairMeasurements) -> dict[str, Value]:
    """How few waves the most periodic neuron is made of."""
    peaks = m.neuron_peaks
    n = m.peak_neuron
    own = m.post[..., n : n + 1]
    return {
        "largest over mean magnitude of the transform, best neuron": float(peaks[n]),
        "share of the variance in its ten strongest waves": float(strongest_share(own)),
        MEAN_TEST_ACCURACY: m.held_out_accuracy,
        "the same neuron with dropout left on": float(peak_ratios(_with_dropout(m, n))),
    }


def _with_dropout(m: PairMeasurements, n: int, seed: int = 0) -> Float[Tensor, "a b 1"]:
    """One neuron with a tenth of the residual stream before it set to 0, the same dimensions for all inputs.

    That is how the source's plots were made, whose network was left in its training mode.
    """
    resid = m.activation("blocks.0.hook_resid_mid")
    mask = torch.rand(resid.shape[-1], generator=torch.Generator().manual_seed(seed)) >= 0.1
    W_in = m.model.blocks[0].mlp.W_in.detach().double()
    return (resid * mask.to(resid.device) / 0.9 @ W_in[:, n : n + 1]).relu()


def _sum_of_waves() -> dict[str, Value]:
    """Measure how well products of waves alone, and with constants, make up a random image."""
    p = 113
    image = torch.randn(p, p, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    spectrum = transform_2d(image)
    waves_alone = spectrum.clone()
    waves_alone[0, 1:] = waves_alone[1:, 0] = 0
    return {
        "largest error of the sum of all terms": float((inverse_2d(spectrum) - image).abs().max()),
        "largest error without the products of a wave and a constant": float(
            (inverse_2d(waves_alone) - image).abs().max()
        ),
    }


def _one_hot() -> dict[str, Value]:
    """Return True if the transform of the one-hot basis is the Fourier basis, and that orthogonal."""
    p = 113
    basis, x = fourier_basis(p), torch.arange(p, dtype=torch.float64)
    by_hand = [torch.ones_like(x)]
    for k in range(1, p // 2 + 1):
        by_hand += [(2 * torch.pi * k * x / p).sin(), (2 * torch.pi * k * x / p).cos()]
    waves = torch.stack([row / row.norm() for row in by_hand])
    return {
        "largest difference of the transformed one-hot basis and the waves": float(
            (transform(torch.eye(p, dtype=torch.float64))[sine_first(p)] - waves).abs().max()
        ),
        "largest entry of F F^T - 1": float((basis @ basis.T - torch.eye(p, dtype=torch.float64)).abs().max()),
    }


def attention_corner(m: PairMeasurements) -> Float[Tensor, "head a b"]:
    """Return each head's attention to the first digit, over the corner of the grid that the paper draws."""
    return m.pattern[:CORNER, :CORNER, :, 0].permute(2, 0, 1)


def _patterns(*runs: PairMeasurements) -> dict[str, Value]:
    """What of the attention is drawn, and whether it sums to 1."""
    corners = [attention_corner(m) for m in runs]
    return {
        "heads drawn": [len(corner) for corner in corners],
        "rows and columns drawn": [corner.shape[1] for corner in corners],
        "largest deviation of a row of attention from a sum of 1": [m.attention_sum_error for m in runs],
    }


def _exclusive(remainders: PairMeasurements, *sums: PairMeasurements) -> dict[str, Value]:
    """Measure how far the attention to the two digits differs in the median head, for remainders and for modular
    addition.
    """
    accuracy = remainders.held_out_accuracy
    distance, *distances_of_sums = (
        float(m.attention_distances.quantile(0.5)) for m in one_at_a_time([remainders, *sums])
    )
    return {
        MORE_EXCLUSIVE: distance - max(distances_of_sums),
        MEAN_TEST_ACCURACY: accuracy,
        DISTANCE_MIIII: distance,
        DISTANCE_NANDA: distances_of_sums,
    }


def _periodic(remainders: PairMeasurements, shuffled: PairMeasurements) -> dict[str, Value]:
    """Measure how much more periodic the median neuron is for remainders than for shuffled labels."""
    accuracy = remainders.held_out_accuracy
    peak, peak_of_shuffled = (m.neuron_peaks.nanquantile(0.5) for m in one_at_a_time((remainders, shuffled)))
    return {
        "median of largest over mean magnitude, T_miiii over T_basis": float(peak / peak_of_shuffled),
        MEAN_TEST_ACCURACY: accuracy,
    }


CLAIMS = (
    Claim(
        id="miiii.fig4",
        where="figure 4",
        statement="As a function of the two input digits in base 113, a neuron has a few active frequencies.",
        source_says="the source's figure shows one neuron",
        measure=_one_neuron,
        expected={
            "largest over mean magnitude of the transform, best neuron": at_least(
                10, "in the source's figure the peak of the neuron's spectrum is visible to the eye"
            ),
            "share of the variance in its ten strongest waves": at_least(
                0.6,
                "spectra of irregular functions have peaks, too, but the strongest waves have a smaller "
                "share: 0.3 for ten waves before training",
            ),
        },
        given=GENERALISED,
        needs=(CODED,),
        figure="neuron",
    ),
    Claim(
        id="miiii.attn_viz",
        where="attention visualization",
        statement=(
            "The source shows each head's attention over all pairs of digits, and draws this attention for a corner "
            "of 37 by 37 pairs."
        ),
        source_says="a corner of 37 by 37 pairs",
        measure=_patterns,
        expected={
            "heads drawn": equals(4),
            "rows and columns drawn": equals(CORNER),
            "largest deviation of a row of attention from a sum of 1": at_most(1e-12),
        },
        needs=(CODED, NANDA[0]),
        scope="any network",
        figure="attention",
    ),
    Claim(
        id="miiii.fft_sum",
        where="discrete Fourier transform",
        statement="Every p by p image is a sum of products of two factors, each a constant or a wave with a frequency "
        "up to p / 2.",
        source_says="waves with frequencies 1 to p / 2",
        measure=_sum_of_waves,
        expected={
            "largest error of the sum of all terms": at_most(1e-5),
            "largest error without the products of a wave and a constant": at_least(0.1),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.dft_matrix",
        where="discrete Fourier transform",
        statement="Multiplying the one-hot basis by the Fourier matrix gives the Fourier basis.",
        source_says="the source states this as a definition",
        measure=_one_hot,
        expected={
            "largest difference of the transformed one-hot basis and the waves": at_most(1e-12),
            "largest entry of F F^T - 1": at_most(1e-12),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.x.neuron_periodic",
        where="the section on neurons",
        statement="Neurons of T_miiii are periodic; neurons of T_basis (shuffled labels) are not periodic.",
        source_says="the source judges this by eye",
        measure=_periodic,
        expected={
            "median of largest over mean magnitude, T_miiii over T_basis": at_least(
                3, "the difference between the two networks is visible to the eye in the source's figures"
            )
        },
        given=GENERALISED,
        needs=(CODED, BASIS),
        figure="neuron",
    ),
    Claim(
        id="miiii.x.attention",
        where="the section on attention",
        statement="Heads of T_miiii attend to one digit; heads of T_nanda (addition) attend to both digits.",
        source_says="the source judges this by eye",
        measure=_exclusive,
        expected={
            MORE_EXCLUSIVE: at_least(
                0.2, "the difference between the two networks is visible to the eye in the source's figures"
            )
        },
        reported=(DISTANCE_MIIII, DISTANCE_NANDA),
        given=GENERALISED,
        needs=(CODED, *NANDA),
        required=ONE_OF_EACH,
        figure="attention",
        finding=one_seed(
            "Heads of T_miiii attend entirely to one digit: the attention to the two digits differs by 1.00. "
            "Heads of T_nanda (addition) also attend almost entirely to one digit: the attention to the two "
            "digits differs by 0.94 to 0.99 in five seeds."
        ),
    ),
)
