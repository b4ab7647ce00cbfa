"""Define formulas for the logits of one circle (clock, pizza, and variants), and measure how well they fit.

With w = 2 pi k / p, a clock has the logits `cos(w(a + b - c))`. A pizza takes the mean of two points of a circle. The
mean has the angle `w(a + b) / 2` and the length `|cos(w(a - b) / 2)|`, and the length is a factor of the logits.
Source: Zhong, Liu, Tegmark and Andreas 2023, "The Clock and the Pizza", section 3, and its evaluation notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.circles.symmetry import correct_logits
from modinterp.analyses.fourier.transforms import check_frequency
from modinterp.analyses.statistics.explained import fraction_explained
from modinterp.analyses.statistics.lines import correlation


def _cos(turns: Tensor, p: int) -> Tensor:
    """Return cos(2 pi turns / p) for integers `turns`."""
    return (2 * torch.pi / p * (turns % p).double()).cos()


def _abs_half_cos(turns: Tensor, p: int) -> Tensor:
    """Return abs(cos(pi turns / p)) for integers `turns`; the period is p."""
    return (torch.pi / p * (turns % p).double()).cos().abs()


def _abs_half_sin(turns: Tensor, p: int) -> Tensor:
    return (torch.pi / p * (turns % p).double()).sin().abs()


def _clock(ka: Tensor, kb: Tensor, kc: Tensor, p: int) -> Tensor:
    return _cos(ka + kb - kc, p).expand(p, p, p)


def _pizza(ka: Tensor, kb: Tensor, kc: Tensor, p: int) -> Tensor:
    return _abs_half_cos(ka - kb, p) * _cos(ka + kb - kc, p)


def _two_absolutes(ka: Tensor, kb: Tensor, kc: Tensor, p: int) -> Tensor:
    return 2 * _abs_half_cos(ka - kb, p) * (_abs_half_cos(ka + kb - kc, p) - _abs_half_sin(ka + kb - kc, p))


def _four_absolutes(ka: Tensor, kb: Tensor, kc: Tensor, p: int) -> Tensor:
    def wave(turns: Tensor) -> tuple[Tensor, Tensor]:
        angle = 2 * torch.pi / p * (turns % p).double()
        return angle.cos(), angle.sin()

    (cos_a, sin_a), (cos_b, sin_b), (cos_c, sin_c) = wave(ka), wave(kb), wave(kc)
    x, y = cos_a + cos_b, sin_a + sin_b
    return (x.abs() - y.abs()) * cos_c + ((x + y).abs() - (x - y).abs()) / 2**0.5 * sin_c


def _accompanying(ka: Tensor, kb: Tensor, kc: Tensor, p: int) -> Tensor:
    return -2 * _cos(ka - kb, p) * _cos(ka + kb - kc, p)


FORMULAS: dict[str, Callable[[Tensor, Tensor, Tensor, int], Tensor]] = {
    "clock": _clock,
    "pizza": _pizza,
    "two absolute values": _two_absolutes,
    "four absolute values": _four_absolutes,
    "accompanying": _accompanying,
}
"""Map from the name of a formula to its logits, with w = 2 pi k / p:

- clock: `cos(w(a + b - c))`;
- pizza: `|cos(w(a - b) / 2)| cos(w(a + b - c))`;
- two absolute values: `2 |cos(w(a - b) / 2)| (|cos(w(a + b - c) / 2)| - |sin(w(a + b - c) / 2)|)`, which a layer of
  ReLU neurons on sums of embeddings can make;
- four absolute values: `(|x| - |y|) cos wc + (|x + y| - |x - y|) / sqrt 2 sin wc`, where `(x, y)` is the sum of the two
  points of the circle;
- accompanying: `-2 cos(w(a - b)) cos(w(a + b - c))`, of a circle of twice the frequency that goes with a pizza's.
"""


@checked
def formula_logits(formula: str, p: int, freq: int) -> Float[Tensor, "a b output"]:
    """Return the logits of a formula at one frequency, for every pair (a, b).

    Args:
        formula: a key of `FORMULAS`.
        freq: frequency k, from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: the formula is unknown, or the frequency is out of range.

    >>> float(formula_logits("clock", 5, 1)[1, 2, 3])
    1.0
    """
    if formula not in FORMULAS:
        raise ValueError(f"formula must be one of {', '.join(FORMULAS)}, got {formula!r}")
    check_frequency(freq, p)
    turns = freq * torch.arange(p)
    return FORMULAS[formula](turns[:, None, None], turns[:, None], turns, p)


@dataclass(frozen=True)
class Agreement:
    """How well logits agree with a formula, over all triples (a, b, c).

    Attributes:
        correlation: Pearson's r of the logits and the formula; NaN if one of them is constant.
    """

    correlation: float

    @property
    def explained(self) -> float:
        """The paper's fraction of variance explained, 2 r - 1: both tensors are standardised, and no scale is fitted.

        The value is -1, not 0, for logits unrelated to the formula.
        """
        return 2 * self.correlation - 1

    @property
    def r_squared(self) -> float:
        """Fraction of variance explained by the formula with a fitted scale, in [0, 1]."""
        return self.correlation**2


@checked
def agreement(logits: Float[Tensor, "a b output"], formula: str, freq: int) -> Agreement:
    """Measure how well logits agree with a formula at one frequency.

    Args:
        formula: a key of `FORMULAS`.
        freq: frequency k, from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: the formula is unknown, or the frequency is out of range.
    Source: Zhong et al. 2023, table 1.
    """
    return Agreement(correlation(logits.cpu(), formula_logits(formula, logits.shape[-1], freq)))


@checked
def explained_by_sum(logits: Float[Tensor, "a b output"], formula: str, freqs: list[int] | tuple[int, ...]) -> float:
    """Return the fraction of the logits' variance that a formula explains at several frequencies, each with a fitted
    scale.

    The mean logit of every pair, which does not change the softmax, is subtracted first.

    Args:
        formula: a key of `FORMULAS`.
        freqs: one or more frequencies from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: the formula is unknown, or no frequency is given, or a frequency is out of range.
    """
    if not len(freqs):
        raise ValueError("freqs must contain at least one frequency, got none")
    y = logits.double().cpu()
    y = (y - y.mean(dim=-1, keepdim=True)).flatten()
    waves = torch.stack([formula_logits(formula, logits.shape[-1], k).flatten() for k in freqs], dim=1)
    gram = waves.T @ waves
    sizes = torch.linalg.lstsq(gram, (waves.T @ y)[:, None], driver="gelsd").solution[:, 0]
    return fraction_explained(y, waves @ sizes)


@dataclass(frozen=True)
class DistanceProfile:
    """The mean correct logit by the distance a - b of the two numbers, compared with the pizza's factor
    `abs(cos(w(a - b) / 2))`.

    Attributes:
        values: mean correct logit over all pairs with each distance 0 .. p - 1. [logits]
        correlation: Pearson's r of the values with `|cos(w(a - b) / 2)|`; NaN if all values are the same.
        lowest_over_largest: ratio of the smallest to the largest value; 0 if the correct logit vanishes at some
            distance.
    """

    values: tuple[float, ...]
    correlation: float
    lowest_over_largest: float


@checked
def distance_profile(logits: Float[Tensor, "a b output"], freq: int) -> DistanceProfile:
    """Compare the mean correct logit by distance with the length of the mean of two points on a circle.

    Args:
        freq: frequency of the circle, from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: the frequency is out of range.
    Source: Zhong et al. 2023, section 3.2, figure 5.
    """
    p = logits.shape[-1]
    check_frequency(freq, p)
    values = correct_logits(logits.cpu()).mean(dim=1)
    length = _abs_half_cos(freq * torch.arange(p), p)
    ratio = float(values.min() / values.max()) if values.max() != 0 else float("nan")
    return DistanceProfile(tuple(values.tolist()), correlation(values, length), ratio)
