"""Analyse how logits come from circles: logits of single circles, and circles along the singular vectors of W_out.

Source: the blog post on the Clock algorithm, sections 9.5, 9.6 and 10.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.ablations import accuracy_on
from modinterp.analyses.fourier.transforms import sum_waves
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import energy_share, varies


@checked
def circle_logits(
    mlp_out: Float[Tensor, "a b d_model"],
    W_U: Float[Tensor, "d_model output"],
    planes: Mapping[int, Float[Tensor, "d_model 2"]],
) -> dict[int, Float[Tensor, "a b output"]]:
    """Return, by frequency, the logits of the part of the MLP's output that lies in each circle's plane.

    Planes need not be perpendicular to each other. Each part of the logit lies in one plane, and the parts add up to
    the total over all planes, so nothing counts twice.

    Args:
        mlp_out: output of the MLP.
        W_U: the columns of the unembedding that belong to the residues.
        planes: map from frequency [cycles per p] to its plane, from `modinterp.analyses.circles.circle.plane`.
    """
    spanned = torch.cat([plane.double() for plane in planes.values()], dim=1)
    coordinates = (mlp_out.double() @ torch.linalg.pinv(spanned).T).split(2, dim=-1)
    return {
        k: own @ (plane.T.double() @ W_U.double()) for own, (k, plane) in zip(coordinates, planes.items(), strict=True)
    }


@checked
def percentile(logits: Float[Tensor, "a b output"], a: int, b: int) -> float:
    """Return the share of all operands b', at the same a, whose logit for the answer a + b is at most the logit of b.

    The share is 1 if no other operand gives the answer a + b a higher logit than b. The share is NaN if all operands
    give the answer the same logit.
    """
    answer_logits = logits[a, :, (a + b) % logits.shape[2]].double()
    if not varies(answer_logits - answer_logits.mean(), answer_logits):
        return math.nan
    return float((answer_logits <= answer_logits[b]).double().mean())


@dataclass(frozen=True)
class CircleAccuracies:
    """Accuracy of the logits of single circles and of their sum.

    Attributes:
        alone: accuracy of each circle's logits, by frequency, in [0, 1].
        together: accuracy of the sum of all circles' logits, in [0, 1].
    """

    alone: Mapping[int, float]
    together: float


@checked
def circle_accuracies(
    logits: Mapping[int, Float[Tensor, "a b output"]], labels: Int[Tensor, "input 1"]
) -> CircleAccuracies:
    """Return the accuracy over all pairs (a, b) of each circle's logits and of their sum.

    Args:
        logits: map from frequency to the circle's logits, from `circle_logits`.
        labels: `Task.labels()`.
    """
    alone = {k: accuracy_on(field, labels) for k, field in logits.items()}
    return CircleAccuracies(alone, accuracy_on(sum(logits.values(), torch.zeros(())), labels))


@dataclass(frozen=True)
class SingularDirection:
    """A left singular vector of W_out and the wave of a + b that the neurons make along it.

    Attributes:
        value: singular value of the vector.
        freq: frequency at which the neurons' waves of a + b along the vector have the most energy. [cycles per p]
        share: share of the energy of all waves of a + b along the vector at that frequency, in [0, 1].
        of_variance: share of all variance along the vector in waves of a + b at that frequency, in [0, 1].
    """

    value: float
    freq: int
    share: float
    of_variance: float


@printable
@dataclass(frozen=True)
class SingularDirections:
    """The singular values of W_out, and the frequency of the circle along each of the first singular vectors.

    Attributes:
        values: all singular values, in descending order.
        directions: the first left singular vectors, each with its frequency.
        vectors: the same left singular vectors as columns of a matrix.
    """

    values: Float[Tensor, " component"]
    directions: tuple[SingularDirection, ...]
    vectors: Float[Tensor, "neuron direction"]

    @property
    def large_count(self) -> int:
        """Number of singular values before the largest ratio of two neighbours, among the first 20."""
        few = self.values[:21]
        if not few[0] > 0:
            return 0
        return int((few[:-1] / few[1:].clamp_min(1e-300)).argmax()) + 1

    def of_frequency(self, freq: int) -> list[int]:
        """Return the indices of the singular vectors along which a frequency [cycles per p] has the most energy."""
        return [i for i, direction in enumerate(self.directions) if direction.freq == freq]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each singular vector, largest singular value first."""
        return pd.DataFrame([vars(direction) for direction in self.directions])


@checked
def singular_directions(
    W_out: Float[Tensor, "neuron d_model"], post: Float[Tensor, "a b neuron"], count: int
) -> SingularDirections:
    """Return the singular values of W_out, and the frequency of a + b along each of the first left singular vectors.

    Args:
        post: activations after the nonlinearity.
        count: number of the largest singular values to analyse.
    Source: the blog post, section 9.5.
    """
    U, values, _ = torch.linalg.svd(W_out.double(), full_matrices=False)
    p, fields = len(post), post.double() @ U[:, :count]
    fields = fields - fields.mean(dim=(0, 1))
    waves = (sum_waves(p, k).flatten(1).to(fields.device) for k in range(1, p // 2 + 1))
    energies = torch.stack([(wave @ fields.flatten(0, 1)).square().sum(dim=0) for wave in waves])
    best = energies.argmax(dim=0)
    directions = tuple(
        SingularDirection(
            float(values[i]),
            int(best[i]) + 1,
            float(energies[best[i], i] / energies[:, i].sum()),
            energy_share(energies[best[i], i].sqrt(), fields[..., i]),
        )
        for i in range(fields.shape[-1])
    )
    return SingularDirections(values, directions, U[:, :count])


@checked
def mean_cosine(one: Float[Tensor, "d component"], other: Float[Tensor, "d other"]) -> float:
    """Return the mean absolute cosine between the columns of two matrices, in [0, 1]."""
    x, y = (t.double() / t.double().norm(dim=0) for t in (one, other))
    return float((x.T @ y).abs().mean())


@checked
def gains(W: Float[Tensor, "d output"], directions: Float[Tensor, "d component"]) -> Float[Tensor, " component"]:
    """Return the factor by which a linear map x @ W stretches each direction: the norm of the image of a unit vector.

    Args:
        directions: one direction per column, of any norm.
    Source: the blog post, section 9.6.
    """
    unit = directions.double() / directions.double().norm(dim=0)
    return (unit.T @ W.double()).norm(dim=1)


@checked
def distinguishes(p: int, freqs: Sequence[int]) -> bool:
    """Return True if the sum of cos(2 pi k x / p) is largest only at x = 0, so that the answer is unique.

    The answer is unique if the gcd of the frequencies and p is 1. In this case all waves reach their maximum together
    only at x = 0. For a prime p one frequency is enough.

    Args:
        freqs: frequencies of the waves. [cycles per p]
    Source: the blog post, section 11.2, corrected (claim `clock.s112.gcd`, X-C6).

    >>> distinguishes(113, [14]), distinguishes(12, [2, 4]), distinguishes(12, [3, 4])
    (True, False, True)
    """
    return math.gcd(p, *freqs) == 1
