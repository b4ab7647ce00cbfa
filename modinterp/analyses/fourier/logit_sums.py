"""Compute, in one pass through the logits of all pairs, the sums that fits by cosines of a + b - c need."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from modinterp.activations.blocks import factors_of, row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import sum_means, sums
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import ROUNDING


@printable
@dataclass(frozen=True)
class LogitSums:
    """Sums of the logits over all pairs and classes, and their energies, in float64.

    Attributes:
        by_distance: sum over all triples with the same a + b - c mod p; entry d belongs to a + b - c = d. [logits]
        of_class: mean of each class over all pairs. [logits]
        by_row: energy after subtracting each pair's mean.
        of_rows: energy of the pair means about the mean of all pairs.
    """

    by_distance: Float64[Tensor, " distance"]
    of_class: Float64[Tensor, " output"]
    by_row: float
    of_rows: float

    @property
    def mean(self) -> float:
        """The mean of all logits."""
        return float(self.of_class.mean())

    @property
    def about_mean(self) -> float:
        """Energy about the mean of all logits."""
        return self.by_row + self.of_rows

    @property
    def raw(self) -> float:
        """Energy of the unchanged logits."""
        return self.about_mean + len(self.of_class) ** 3 * self.mean**2

    @property
    def is_constant(self) -> bool:
        """True if the logits vary only by rounding."""
        return not self.about_mean**0.5 > ROUNDING * self.raw**0.5

    @property
    def by_row_and_class(self) -> float:
        """Energy after subtracting each pair's mean and each class's mean."""
        p = len(self.of_class)
        return max(0.0, self.by_row - p**2 * float((self.of_class - self.mean).square().sum()))


@checked
def logit_sums(logits: Float[Tensor, "a b output"], sign: int = 1) -> LogitSums:
    """Compute the sums in one pass through the logits of all pairs, or through the narrower factor of product logits.

    Args:
        sign: 1 for sums by a + b - c, -1 for sums by a - b - c.
    """
    p, factors = logits.shape[-1], factors_of(logits)
    if factors is None:
        by_answer, rows, by_row = _of_whole(logits, sign)
    else:
        by_answer, rows, by_row = _of_product(*factors, sign)
    by_answer, of_rows = by_answer.cpu(), p * float((rows - rows.mean()).square().sum())
    return LogitSums(sums_by_distance(by_answer), by_answer.sum(dim=0) / p**2, float(by_row), of_rows)


@checked
def sums_by_distance(by_answer: Float[Tensor, "answer answer"]) -> Float[Tensor, " distance"]:
    """Return the sums over all right answers s and classes c with the same distance s - c mod p."""
    p = len(by_answer)
    return by_answer.new_zeros(p).index_add(0, sums(p, -1).flatten(), by_answer.flatten())


def _of_whole(logits: Float[Tensor, "a b output"], sign: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return sums by right answer and class, the mean of each pair, and the energy after subtracting these means."""
    p = len(logits)
    answers = sums(p, sign).to(logits.device)
    by_answer, rows = logits.new_zeros(p, p, dtype=torch.float64), torch.empty(p, p, dtype=torch.float64)
    by_row = by_answer.new_zeros(())
    for a in row_blocks(logits.shape):
        y = logits[a].double()
        of_pair = y.mean(dim=-1, keepdim=True)
        rows[a] = of_pair[..., 0].cpu()
        by_answer.index_add_(0, answers[a].flatten(), y.flatten(0, 1))
        by_row += torch.linalg.vector_norm(y - of_pair).square()
    return by_answer, rows, by_row


def _of_product(
    left: Float[Tensor, "a b inner"], right: Float[Tensor, "inner output"], sign: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the results of `_of_whole` for logits that are the product of a narrower tensor and a matrix."""
    p, W = len(left), right.double()
    of_pair = W.mean(dim=1)
    rows, products = torch.empty(p, p, dtype=torch.float64), W.new_zeros(len(W), len(W))
    for a in row_blocks(left.shape):
        x = left[a].double()
        rows[a] = (x @ of_pair).cpu()
        products += x.flatten(0, 1).T @ x.flatten(0, 1)
    about = W - of_pair[:, None]
    by_row = (about * (products @ about)).sum().clamp(min=0)
    return p * sum_means(left, sign) @ W, rows, by_row
