"""Neurons and attention over all pairs of digits, and the transforms that they are looked at with."""

from __future__ import annotations

import torch

from modinterp.analyses.fourier import fourier_basis, inverse_2d, sine_first, transform, transform_2d
from modinterp.analyses.neuron_spectra import mixed_peak_ratios, peak_ratios, strongest_share
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.claims.miiii.evidence import (
    BASIS,
    CODED,
    CORNER,
    GENERALISED,
    NANDA,
    ONE_OF_EACH,
    DigitsEvidence,
    digits_evidence,
)
from modinterp.runs import TrainedRun


def _one_neuron(run: TrainedRun) -> dict[str, Value]:
    ev = digits_evidence(run)
    peaks = ev.peaks
    n = ev.peak_neuron
    own = ev.post[..., n : n + 1]
    return {
        "largest over mean magnitude of the transform, best neuron": float(peaks[n]),
        "share of the variance in its ten strongest waves": float(strongest_share(own)),
        "mean test accuracy": ev.accuracy,
        "neuron": n,
        "among products of waves of both digits": float(mixed_peak_ratios(own)),
        "median over the neurons": float(peaks.nanmedian()),
        "the same neuron with dropout left on": float(peak_ratios(_dropped(ev, n))),
        "neurons that never fire": int(peaks.isnan().sum()),
    }


def _dropped(ev: DigitsEvidence, n: int, seed: int = 0) -> torch.Tensor:
    """One neuron with a tenth of the residual stream set to 0 before it, in the same places for all inputs.

    That is how the source's plots were made, whose network was left in its training mode.
    """
    resid = ev.grid["blocks.0.hook_resid_mid"]
    kept = torch.rand(resid.shape[-1], generator=torch.Generator().manual_seed(seed)) >= 0.1
    W_in = ev.run.model.blocks[0].mlp.W_in.detach().double()
    return (resid * kept.to(resid.device) / 0.9 @ W_in[:, n : n + 1]).relu()


def _sum_of_waves() -> dict[str, Value]:
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
        "highest frequency": p // 2,
    }


def _one_hot() -> dict[str, Value]:
    p = 113
    basis, x = fourier_basis(p), torch.arange(p, dtype=torch.float64)
    by_hand = [torch.ones_like(x)]
    for k in range(1, p // 2 + 1):
        by_hand += [(2 * torch.pi * k * x / p).sin(), (2 * torch.pi * k * x / p).cos()]
    named = torch.stack([row / row.norm() for row in by_hand])
    return {
        "largest difference of the transformed one-hot basis and the waves": float(
            (transform(torch.eye(p, dtype=torch.float64))[sine_first(p)] - named).abs().max()
        ),
        "largest entry of F F^T - 1": float((basis @ basis.T - torch.eye(p, dtype=torch.float64)).abs().max()),
    }


def _patterns(*runs: TrainedRun) -> dict[str, Value]:
    corners = [digits_evidence(run).corners for run in runs]
    return {
        "heads drawn": [len(corner) for corner in corners],
        "rows and columns drawn": [corner.shape[1] for corner in corners],
        "largest deviation of a row of attention from a sum of 1": [
            float((digits_evidence(run).pattern.sum(dim=-1) - 1).abs().max()) for run in runs
        ],
    }


def _apart(ev: DigitsEvidence) -> torch.Tensor:
    """Mean distance of the attention to the two digits, by head."""
    return (ev.pattern[..., 0] - ev.pattern[..., 1]).abs().mean(dim=(0, 1))


def _exclusive(remainders: TrainedRun, *sums: TrainedRun) -> dict[str, Value]:
    ours, theirs = digits_evidence(remainders), [digits_evidence(run) for run in sums]
    apart = [float(_apart(ev).median()) for ev in theirs]
    return {
        "median distance of the attention to the digits, T_miiii less T_nanda": float(_apart(ours).median())
        - max(apart),
        "mean test accuracy": ours.accuracy,
        "median distance, T_miiii": float(_apart(ours).median()),
        "median distance, T_nanda": apart,
    }


def _periodic(remainders: TrainedRun, shuffled: TrainedRun) -> dict[str, Value]:
    ours, theirs = digits_evidence(remainders), digits_evidence(shuffled)
    medians = [float(mixed_peak_ratios(ev.post).nanmedian()) for ev in (ours, theirs)]
    return {
        "median of largest over mean magnitude, T_miiii over T_basis": float(
            ours.peaks.nanmedian() / theirs.peaks.nanmedian()
        ),
        "among products of waves of both digits": medians[0] / medians[1],
        "mean test accuracy": ours.accuracy,
        "median, T_miiii": float(ours.peaks.nanmedian()),
        "median, T_basis": float(theirs.peaks.nanmedian()),
    }


CLAIMS = (
    Claim("miiii.fig4", "figure 4", "A neuron over all pairs of digits has a few active frequencies.", "one neuron shown",
          _one_neuron,
          {"largest over mean magnitude of the transform, best neuron": at_least(10, "a peak to the eye"),
           "share of the variance in its ten strongest waves": at_least(
               0.6, "a sum of two irregular functions of a digit peaks too; 0.3 in its ten strongest before training")},
          given=GENERALISED, needs=(CODED,), figure="neuron"),
    Claim("miiii.attn_viz", "attention visualization",
          "Attention is shown head by head as a grid over all samples, of which a corner of 37 by 37 is drawn.",
          "37 by 37", _patterns,
          {"heads drawn": equals(4), "rows and columns drawn": equals(CORNER),
           "largest deviation of a row of attention from a sum of 1": at_most(1e-12)},
          needs=(CODED, NANDA[0]), scope="any network", figure="attention"),
    Claim("miiii.fft_sum", "discrete Fourier transform",
          "An image of p by p is a sum of products of waves with frequencies up to p / 2 and constants.", "frequencies 1 to p / 2",
          _sum_of_waves,
          {"largest error of the sum of all terms": at_most(1e-5),
           "largest error without the products of a wave and a constant": at_least(0.1)}, needs=(), scope="any network"),
    Claim("miiii.dft_matrix", "discrete Fourier transform", "The one-hot basis times the Fourier matrix is the Fourier basis.",
          "a definition", _one_hot,
          {"largest difference of the transformed one-hot basis and the waves": at_most(1e-12),
           "largest entry of F F^T - 1": at_most(1e-12)}, needs=(), scope="any network"),
    Claim("miiii.x.neuron_periodic", "the section on neurons",
          "Neurons of T_miiii are periodic, those of T_basis are not.", "by eye", _periodic,
          {"median of largest over mean magnitude, T_miiii over T_basis": at_least(3, "plain to the eye")},
          given=GENERALISED, needs=(CODED, BASIS), figure="neuron"),
    Claim("miiii.x.attention", "the section on attention",
          "Heads of T_miiii attend to one digit, those of T_nanda to both.", "by eye", _exclusive,
          {"median distance of the attention to the digits, T_miiii less T_nanda": at_least(0.2, "plain to the eye")},
          given=GENERALISED, needs=(CODED, *NANDA), required=ONE_OF_EACH, figure="attention",
          finding=refuted("those of T_miiii attend to one digit or the other altogether (a distance of 1.00), but so do those of T_nanda's "
                          "five seeds, nearly (0.94 to 0.99)")),
)  # fmt: skip
