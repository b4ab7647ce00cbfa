"""How the logits read circles: what each circle says alone, and what W_out's singular vectors have to do with it.

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

from modinterp.analyses.ablations import accuracy_on
from modinterp.analyses.explained import energy_share
from modinterp.analyses.fourier import sum_waves
from modinterp.analyses.shown import shown


def circle_logits(
    written: Float[Tensor, "a b d"], W_U: Float[Tensor, "d output"], planes: Mapping[int, Float[Tensor, "d 2"]]
) -> dict[int, Float[Tensor, "a b output"]]:
    """Logits that each circle's part of the MLP's output gives, by frequency.

    Planes need not be perpendicular to each other: the parts are those that lie in the planes and add up to what lies
    in all of them together, so that nothing counts twice.

    Args:
        written: output of the MLP.
        W_U: columns of the residues.
        planes: by frequency.
    """
    spanned = torch.cat([plane.double() for plane in planes.values()], dim=1)
    coordinates = (written.double() @ torch.linalg.pinv(spanned).T).split(2, dim=-1)
    return {
        k: own @ (plane.T.double() @ W_U.double()) for own, (k, plane) in zip(coordinates, planes.items(), strict=True)
    }


def percentile(logits: Float[Tensor, "a b output"], a: int, b: int) -> float:
    """Of all b', with the same a, the share whose logit for the answer of (a, b) is no higher than that of b.

    The answer is that of addition.
    """
    of_answer = logits[a, :, (a + b) % logits.shape[2]]
    return float((of_answer <= of_answer[b]).double().mean())


@dataclass(frozen=True)
class ReadOut:
    """How often circles give the right answer, each alone and together.

    Attributes:
        alone: accuracy of each circle's logits, by frequency.
        together: accuracy of the sum of all.
    """

    alone: Mapping[int, float]
    together: float


def read_out(logits: Mapping[int, Float[Tensor, "a b output"]], labels: Int[Tensor, "input 1"]) -> ReadOut:
    """Accuracy over all pairs of each circle's logits and of their sum.

    Args:
        logits: of `circle_logits`, by frequency.
    """
    together = sum(logits.values(), torch.zeros(()))
    return ReadOut({k: accuracy_on(field, labels) for k, field in logits.items()}, accuracy_on(together, labels))


@dataclass(frozen=True)
class SingularDirection:
    """A left singular vector of W_out and the wave of a + b that the neurons make along it.

    Attributes:
        value: singular value.
        freq: at which the neurons' sum waves along it have the most energy. [cycles per p]
        share: of the energy of all waves of a + b along it, at that frequency.
        of_variance: its share of all variance along it.
    """

    value: float
    freq: int
    share: float
    of_variance: float


@shown
@dataclass(frozen=True)
class SingularDirections:
    """The largest singular values of W_out, and whose circle each belongs to.

    Attributes:
        values: all singular values.
        directions: of the first, as many as were asked for.
        vectors: their left singular vectors.
    """

    values: Float[Tensor, " component"]
    directions: tuple[SingularDirection, ...]
    vectors: Float[Tensor, "neuron direction"]

    @property
    def large(self) -> int:
        """How many singular values stand before the largest ratio of two neighbours among the first 20."""
        few = self.values[:21]
        return int((few[:-1] / few[1:].clamp_min(1e-300)).argmax()) + 1

    def owned_by(self, freq: int) -> list[int]:
        """Numbers of the directions that belong to a frequency."""
        return [i for i, direction in enumerate(self.directions) if direction.freq == freq]

    def table(self) -> pd.DataFrame:
        """One row a direction."""
        return pd.DataFrame([vars(direction) for direction in self.directions])


def singular_directions(
    W_out: Float[Tensor, "neuron d_model"], post: Float[Tensor, "a b neuron"], count: int
) -> SingularDirections:
    """Singular values of W_out, and which frequency of a + b the neurons carry along each of the first `count` vectors.

    Source: the blog post, section 9.5.
    """
    U, values, _ = torch.linalg.svd(W_out.double(), full_matrices=False)
    p, fields = len(post), post.double() @ U[:, :count]
    fields = fields - fields.mean(dim=(0, 1))
    waves = (sum_waves(p, k).flatten(1).to(fields.device) for k in range(1, p // 2 + 1))
    energies = torch.stack([(wave @ fields.flatten(0, 1)).square().sum(dim=0) for wave in waves])
    best = energies.argmax(dim=0)
    found = [
        SingularDirection(
            float(values[i]),
            int(best[i]) + 1,
            float(energies[best[i], i] / energies[:, i].sum()),
            energy_share(energies[best[i], i].sqrt(), fields[..., i]),
        )
        for i in range(fields.shape[-1])
    ]
    return SingularDirections(values, tuple(found), U[:, :count])


def mean_cosine(one: Float[Tensor, "d i"], other: Float[Tensor, "d j"]) -> float:
    """Mean size of the cosines between the columns of two matrices."""
    x, y = (t.double() / t.double().norm(dim=0) for t in (one, other))
    return float((x.T @ y).abs().mean())


def gains(W: Float[Tensor, "d d_out"], directions: Float[Tensor, "d component"]) -> Float[Tensor, " component"]:
    """How long each direction, taken of length 1, is after a linear map. Source: the blog post, section 9.6."""
    unit = directions.double() / directions.double().norm(dim=0)
    return (unit.T @ W.double()).norm(dim=1)


def distinguishes(p: int, freqs: Sequence[int]) -> bool:
    """Whether the sum of cos(2 pi k x / p) is largest at x = 0 alone, so that the answer is unique.

    That is so when no x but 0 brings every wave back to its top: when gcd of the frequencies and p is 1. For a prime p
    one frequency is enough. Source: the blog post, section 11.2, put right (claim `clock.s112.gcd`, X-C6).

    >>> distinguishes(113, [14]), distinguishes(12, [2, 4]), distinguishes(12, [3, 4])
    (True, False, True)
    """
    return math.gcd(p, *freqs) == 1
