"""Find the waves of the sum in the logits of a network that adds three numbers or more."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.measurements.network import NetworkMeasurements
from modinterp.measurements.score import score

_ENOUGH = 0.95  # share of the energy of all waves of the sum, by which frequencies are key


@dataclass(frozen=True)
class SumWaves:
    """The waves of (sum - answer) in the logits of a network that adds several numbers.

    Attributes:
        freqs: the fewest frequencies that hold 95% of the energy of all waves of (sum - answer). [cycles per p]
        share: share of the centred logits' variance that the waves at `freqs` explain; each input's mean is subtracted.
        accuracy: accuracy if the waves at `freqs` replace the logits.
    """

    freqs: tuple[int, ...]
    share: float
    accuracy: float


def sum_waves(m: NetworkMeasurements) -> SumWaves:
    """Find the waves of (sum - answer) in the logits of a network that adds several numbers mod p.

    The waves of (sum - answer) form the part of the logits that depends only on sum - answer. Doshi et al. 2024 (arXiv
    2406.03495) describe waves of (sum - answer) for sums of three numbers.
    """
    p, logits, sums = m.task.p, m.all_logits, m.all_answers[:, 0]
    centred = logits - logits.mean(dim=1, keepdim=True)
    place = (sums[:, None] - torch.arange(p)) % p  # of each logit: the sum less the answer
    by_place = torch.zeros(p, dtype=centred.dtype).index_add_(0, place.flatten(), centred.flatten()) / len(sums)
    freqs = _strongest(by_place)
    spectrum = torch.fft.rfft(by_place)
    kept = torch.zeros_like(spectrum)
    kept[list(freqs)] = spectrum[list(freqs)]
    formula = torch.fft.irfft(kept, n=p)[place]
    whole = centred.square().sum()
    share = 1 - float((centred - formula).square().sum() / whole) if whole > 0 else 0.0
    return SumWaves(freqs, share, score(formula, sums).accuracy)


def _strongest(by_place: Float[Tensor, " place"]) -> tuple[int, ...]:
    energy = torch.fft.rfft(by_place).abs().square()[1:]
    order = energy.argsort(descending=True)
    reached = energy[order].cumsum(0) >= _ENOUGH * energy.sum()
    count = int(reached.int().argmax()) + 1
    return tuple(sorted(int(k) + 1 for k in order[:count]))
