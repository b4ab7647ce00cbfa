"""Project neurons onto the W_L directions at key frequencies, and fit waves of a + b (Nanda et al. 2023, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations.blocks import joined, row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import component_names, components_of, sum_waves, transform, transform_2d
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import energy_share


@dataclass(frozen=True)
class Readoff:
    """The fit of a wave of a + b to the neurons' activations along one direction of W_L.

    Attributes:
        freq: frequency of the direction. [cycles per p]
        wave: "cos" or "sin", if the direction is the component of W_L at cos(w_freq c) or at sin(w_freq c).
        first, second: coefficients of cos cos and sin sin (wave cos), or of sin cos and cos sin (wave sin).
        amplitude: amplitude of cos(w(a + b)) or sin(w(a + b)): half the difference, or half the sum, of the two
            coefficients.
        explained: share of the variance along the direction that the wave explains, in [0, 1] (definition D4-dir).
        explained_by_two: share of the uncentred energy that both products explain with free coefficients, as in
            Kissane's notebook.
        two_largest: True if the two products are the two largest of all non-constant terms.
        sign: 1 for waves of a + b, -1 for waves of a - b.
    """

    freq: int
    wave: str
    first: float
    second: float
    amplitude: float
    explained: float
    explained_by_two: float
    two_largest: bool
    sign: int = 1

    @property
    def answer(self) -> str:
        """The argument of the waves as text: "a+b" or "a-b"."""
        return "a+b" if self.sign > 0 else "a-b"

    @property
    def imbalance(self) -> float:
        """The difference of the two coefficients' sizes, divided by their mean size; 0 for an exact wave of a + b."""
        return 2 * abs(abs(self.first) - abs(self.second)) / (abs(self.first) + abs(self.second))

    @property
    def signs_agree(self) -> bool:
        """True if the coefficients have the signs of a wave of a + b, (+, -) for cos, (+, +) for sin, or of a - b."""
        second_sign = -self.sign if self.wave == "cos" else self.sign
        return self.first > 0 and second_sign * self.second > 0


@printable
@dataclass(frozen=True)
class ReadoffTable:
    """The projections of the neurons onto all W_L directions at the key frequencies.

    Attributes:
        rows: one fit for each direction; for each frequency, cos comes before sin.
    """

    rows: tuple[Readoff, ...]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each direction of W_L, as table 1 of Nanda et al. 2023."""
        return pd.DataFrame(
            {
                "W_L component": [f"{r.wave}(w{r.freq} c)" for r in self.rows],
                "Fourier components of its projection": [_terms(r) for r in self.rows],
                "approximately": [f"{r.amplitude:.1f} {r.wave}(w{r.freq} ({r.answer}))" for r in self.rows],
                "FVE": [r.explained for r in self.rows],
                "FVE, two terms": [r.explained_by_two for r in self.rows],
            }
        )


def _terms(r: Readoff) -> str:
    names = ("cos·cos", "sin·sin") if r.wave == "cos" else ("sin·cos", "cos·sin")
    return f"{r.first:.1f} {names[0]} {r.second:+.1f} {names[1]}"


@checked
def readoff(
    post: Float[Tensor, "a b neuron"], W_L: Float[Tensor, "neuron output"], freqs: Sequence[int], sign: int = 1
) -> ReadoffTable:
    """Fit a wave of a + b to the neurons' activations along each direction of W_L at the given frequencies.

    A coefficient is the coefficient in the orthonormal 2D basis times 2 / p, the factor of a product of two waves.

    Args:
        post: activations after the nonlinearity at the last position.
        freqs: from 1 to p // 2. [cycles per p]
        sign: 1 for a network that adds; -1 for a network that subtracts, whose neurons are waves of a - b.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, table 1.
    """
    p = W_L.shape[1]
    directions, names = transform(W_L.T).to(post.device), component_names(p)
    read, rows = directions[components_of(tuple(freqs), p)].T, []
    fields = joined((post[a].double() @ read for a in row_blocks(post.shape)), len(post))
    for freq in freqs:
        waves = sum_waves(p, freq, sign).to(post.device)
        for wave, component in zip(waves, components_of(freq, p), strict=True):
            field = fields[..., len(rows)]
            spectrum = transform_2d(field)
            cos, sin = 2 * freq - 1, min(2 * freq, p - 1)
            kind = names[component].split()[0]
            pair = ((cos, cos), (sin, sin)) if kind == "cos" else ((sin, cos), (cos, sin))
            alone = pair[0] == pair[1]  # at p / 2, where there is no sine
            first, second = (
                0.0 if alone and i else float(spectrum[at]) * (1 if alone else 2) / p for i, at in enumerate(pair)
            )
            varying = spectrum.clone()
            varying[0, 0] = 0
            largest = {divmod(int(i), p) for i in varying.abs().flatten().topk(len(set(pair))).indices}
            both = torch.stack([spectrum[i] for i in dict.fromkeys(pair)])
            rows.append(
                Readoff(
                    freq=freq,
                    wave=kind,
                    first=first,
                    second=second,
                    amplitude=(first - sign * second if kind == "cos" else first + sign * second) / (1 if alone else 2),
                    explained=energy_share((field * wave).sum(), field - field.mean()),
                    explained_by_two=energy_share(both, field),
                    two_largest=largest == set(pair),
                    sign=sign,
                )
            )
    return ReadoffTable(tuple(rows))


@dataclass(frozen=True)
class LowRank:
    """Measures of how close W_L is to the sum of its components at the key frequencies.

    Attributes:
        rank: number of directions at the key frequencies, two for each frequency.
        singular_values: singular values of W_L, in descending order.
        leading_share: share of the squared norm in the first `rank` singular values, in [0, 1].
        drop: ratio of singular value number `rank` + 1 to number `rank`; 0 if W_L has no more than `rank` singular
            values.
        residual_norm: norm of W_L without its key directions, divided by the norm of W_L.
        residual_energy: squared norm of W_L without its key directions, divided by the squared norm of W_L.
    """

    rank: int
    singular_values: tuple[float, ...]
    leading_share: float
    drop: float
    residual_norm: float
    residual_energy: float


@checked
def low_rank(W_L: Float[Tensor, "neuron output"], freqs: Sequence[int]) -> LowRank:
    """Measure how close W_L is to the low-rank sum of cos(w_k c) u_k + sin(w_k c) v_k over the key frequencies.

    Args:
        freqs: key frequencies. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.2, equation 2.
    """
    p = W_L.shape[1]
    components = components_of(tuple(freqs), p)
    values = torch.linalg.svdvals(W_L.double())
    rank = len(components)
    directions = transform(W_L.T)
    key = directions[components]
    residual = 1 - energy_share(key, directions)
    return LowRank(
        rank=rank,
        singular_values=tuple(values.tolist()),
        leading_share=energy_share(values[:rank], values),
        drop=float(values[rank] / values[rank - 1]) if rank < len(values) else 0.0,
        residual_norm=max(residual, 0.0) ** 0.5,
        residual_energy=residual,
    )


@checked
def key_directions(W_L: Float[Tensor, "neuron output"], freqs: Sequence[int]) -> Float[Tensor, "neuron component"]:
    """Return the orthonormal basis of the space spanned by the directions of W_L at the given frequencies.

    Args:
        freqs: key frequencies. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.4.
    """
    rows = transform(W_L.T)[components_of(tuple(freqs), W_L.shape[1])]
    return torch.linalg.qr(rows.T).Q
