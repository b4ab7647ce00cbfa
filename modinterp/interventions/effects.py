"""Measure effects of interventions on the answers of a network over pairs, and compare them with a sum of cosines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.cosine_sums import cosine_waves
from modinterp.interventions.answered import Answered, Logits, right_answers

RIVALS = 3  # wrong answers that are predicted


def answered(logits: Logits | Answered, sign: int) -> Answered:
    """Return answers and sums of logits; compute them only if they are not given."""
    return logits if isinstance(logits, Answered) else Answered.of(logits, sign)


@dataclass(frozen=True)
class Cosines:
    """A sum of cosines of w(answer - c), fitted to the logits of the unchanged network.

    Attributes:
        p: the modulus.
        sign: 1 for a + b, -1 for a - b.
        alphas: map from frequency to coefficient. [logits]
    """

    p: int
    sign: int
    alphas: Mapping[int, float]

    @classmethod
    def of(cls, logits: Logits | Answered, freqs: Sequence[int], sign: int) -> Cosines:
        """Fit logits by cosines of the given frequencies, by least squares."""
        found = answered(logits, sign)
        return cls(found.p, sign, {k: float(found.spectrum[k - 1]) for k in freqs})

    def explained(self, logits: Logits | Answered, moved_by: float = 0.0) -> float:
        """Return the share of the centred logits' variance that the cosines explain after the predicted change of the
        answer.

        Args:
            logits: logits after an intervention.
            moved_by: predicted change of the answer, in residues; may be a fraction.
        """
        found = answered(logits, self.sign)
        if not self.alphas or not found.energy > 0:
            return float("nan")
        distance = torch.arange(self.p, dtype=torch.float64) + moved_by  # of the answer minus c
        curve = self.curve(distance)
        return float((2 * found.by_distance @ curve - self.p**2 * curve.square().sum()) / found.energy)

    def curve(self, distance: Float[Tensor, " distance"]) -> Float[Tensor, " distance"]:
        """Return the formula's logit of a class by its distance from the right answer; the distance may be a fraction.
        [logits]
        """
        waves = [a * (2 * torch.pi * k / self.p * distance).cos() for k, a in self.alphas.items()]
        return torch.stack(waves).sum(dim=0)

    def margins(self, without: Sequence[int] = ()) -> Float[Tensor, " distance"]:
        """Return the predicted mean of the right logit minus the logit of the answer plus d, for every d. [logits]

        Args:
            without: frequencies to leave out.
        """
        kept = {k: a for k, a in self.alphas.items() if k not in without}
        if not kept:
            return torch.zeros(self.p, dtype=torch.float64)
        curve = cosine_waves(self.p, list(kept)) @ torch.tensor(list(kept.values()), dtype=torch.float64)
        return curve[0] - curve


@checked
def margins(logits: Logits, sign: int = 1) -> Float[Tensor, " distance"]:
    """Return the mean over all pairs of the right logit minus the logit of the answer plus d, for every d. [logits]"""
    return Answered.of(logits, sign).margins


@checked
def margins_of(logits: Float[Tensor, "pair output"], answers: Int[Tensor, " pair"]) -> Float[Tensor, " distance"]:
    """Return the mean over some pairs of the right logit minus the logit of the answer plus d, for every d. [logits]"""
    p = logits.shape[-1]
    along = logits.gather(1, (answers[:, None] + torch.arange(p)) % p)
    return (along[:, :1] - along).mean(dim=0)


@checked
def lead(logits: Float[Tensor, "pair output"], answers: Int[Tensor, " pair"]) -> float:
    """Return the mean over some pairs of the right logit minus the largest other logit. [logits]"""
    right = logits.gather(1, answers[:, None])
    others = logits.scatter(1, answers[:, None], -torch.inf)
    return float((right[:, 0] - others.max(dim=1).values).mean())


@checked
def largest_by_chance(falls: Float[Tensor, "block pair"], draws: int = 199, share: float = 0.99) -> float:
    """Return the largest mean fall of a logit over all frequencies, in standard errors, that occurs by chance.

    Use `largest_by_chance` to correct for choosing some of many frequencies (or representations). Removing an
    irrelevant frequency raises a logit as often as it lowers the logit. A random permutation may therefore flip the
    sign of the change of each pair's logit, for all frequencies at once.

    Args:
        falls: fall of each pair's logit without each frequency or representation. [logits]
        draws: number of random permutations.
        share: the returned number exceeds the largest mean in this share of the permutations.
    """
    errors = falls.std(dim=1) / falls.shape[1] ** 0.5
    signs = torch.randint(0, 2, (falls.shape[1], draws), generator=torch.Generator().manual_seed(0)).to(falls) * 2 - 1
    means = falls @ signs / falls.shape[1] / errors[:, None].clamp(min=torch.finfo(falls.dtype).tiny)
    return float(means.abs().max(dim=0).values.quantile(share))


@dataclass(frozen=True)
class Foretold:
    """Margins after removing each circle, compared with the predictions of the intact network's formula.

    Attributes:
        explained: share of the variance of the measured margins that the formula predicts.
        correlation, slope: correlation and regression slope of measured against predicted margins.
        wrong: number of wrong answers after the removals.
        among_rivals: share of the wrong answers that are among the three answers with the smallest predicted margins;
            NaN if no answer is wrong.
        margins: map from frequency to the margins measured without that frequency.
    """

    explained: float
    correlation: float
    slope: float
    wrong: int
    among_rivals: float
    margins: Mapping[int, Float[Tensor, " distance"]] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, cosines: Cosines, without: Mapping[int, Answered]) -> Foretold:
        """Compare logits without each frequency with the sum of cosines without that frequency."""
        measured = {k: found.margins for k, found in without.items()}
        foretold, wrong, among = [], 0, 0
        for k, found in without.items():
            margin = cosines.margins(without=[k])
            rivals = margin[1:].argsort()[:RIVALS] + 1
            off = found.off_by
            wrong += int((off != 0).sum())
            among += int(torch.isin(off, rivals).sum())
            foretold.append(margin[1:])
        x, y = torch.cat(foretold).double(), torch.cat([found[1:] for found in measured.values()]).double()
        explained = 1 - (y - x).square().sum() / (y - y.mean()).square().sum()
        dx, dy = x - x.mean(), y - y.mean()
        slope = dx @ dy / dx.square().sum()
        correlation = dx @ dy / (dx.norm() * dy.norm())
        share = among / wrong if wrong else float("nan")
        return cls(float(explained), float(correlation), float(slope), wrong, share, measured)


@dataclass(frozen=True)
class Synergy:
    """The effect of removing two circles together, compared with the effects of removing each circle alone.

    Attributes:
        additive: R squared of predicting the margins' falls without two circles by the sum of both single falls.
        largest: largest synergy of two circles in accuracy, divided by the larger cost of either circle.
        null: the largest synergy in accuracy of two circles that are not key frequencies.
    """

    additive: float
    largest: float
    null: float

    @classmethod
    def of(cls, freqs: Sequence[int], others: Sequence[int], measured: Callable[..., tuple[Tensor, float]]) -> Synergy:
        """Compute the synergy from a function that removes circles and returns margins and accuracy."""
        (intact, best), foretold, seen, over = measured([]), [], [], [0.0]
        alone = {k: measured([k]) for k in (*freqs, *others)}
        for first, second in combinations(freqs, 2):
            both, share = measured([first, second])
            foretold.append(2 * intact - alone[first][0] - alone[second][0])
            seen.append(intact - both)
            costs = [best - alone[k][1] for k in (first, second)]
            if max(costs) > 0:
                over.append((best - share - sum(costs)) / max(costs))
        null = [abs(best - measured(pair)[1] - sum(best - alone[k][1] for k in pair))
                for pair in list(combinations(others, 2))[:8]]  # fmt: skip
        x, y = torch.stack(foretold), torch.stack(seen)
        additive = 1 - (x - y).square().sum() / (y - y.mean()).square().sum()
        return cls(float(additive), max(over), max(null, default=0.0))


@checked
def answers_moved(logits: Logits, moved_by: int = 0, sign: int = 1) -> Bool[Tensor, "a b"]:
    """Return True for each pair whose answer is the right answer plus `moved_by` residues."""
    return Answered.of(logits, sign).moved(moved_by)


@checked
def pizza_share(logits: Logits, freq: int, sign: int = 1) -> float:
    """Measure how much the amplitude of a frequency in the logits depends on a - b: 0 for a clock, 1 for a pizza.

    The mean amplitude over pairs with distance d is fitted by ``u + v |cos(w d / 2)|``. The pizza share is v / (u + v).
    For a network that subtracts, the amplitude is fitted against a + b instead of a - b.
    """
    return pizza_share_of(Answered.of(logits, sign, [freq]), freq)


def pizza_share_of(found: Answered, freq: int) -> float:
    """Compute the pizza share of a frequency from stored waves of this frequency."""
    p, sizes = found.p, found.waves_about_answer(freq).real
    distances = right_answers(p, -found.sign, found.pairs)
    counts = distances.flatten().bincount(minlength=p).double()
    means = torch.zeros(p, dtype=torch.float64).index_add(0, distances.flatten(), sizes.flatten()) / counts.clamp(min=1)
    d, weights = torch.arange(p, dtype=torch.float64), (counts * p / counts.sum()).sqrt()  # 1 where all pairs are seen
    pizza = (torch.pi * freq / p * d).cos().abs()
    design = torch.stack([torch.ones(p, dtype=torch.float64), pizza], dim=1)
    u, v = torch.linalg.lstsq(weights[:, None] * design, (weights * means)[:, None]).solution.flatten().tolist()
    return v / (u + v) if u + v else float("nan")


@checked
def crossed_pairs(
    cosines: Cosines, intact: Float[Tensor, " distance"], without: Mapping[int, Tensor]
) -> tuple[int, int]:
    """Return how many pairs of circles exclude different wrong answers, and the number of all pairs of circles.

    For two circles, d1 is the distance at which the first circle should matter most compared with the second; d2 is the
    reverse. A pair of circles is crossed if removing each circle lowers the margin more at its own distance than at the
    other's distance. The fall at the own distance must exceed the fall at the other distance by at least half of the
    largest possible fall.

    Args:
        cosines: the formula fitted to the unchanged network.
        intact: margins of the unchanged network. [logits]
        without: map from frequency to the margins without the circle of that frequency. [logits]
    """
    waves = cosine_waves(cosines.p, list(without))
    drops = {k: (intact - found) / (2 * cosines.alphas[k]) for k, found in without.items()}
    freqs, crossed = list(without), 0
    pairs = [(i, j) for i in range(len(freqs)) for j in range(i)]
    for i, j in pairs:
        at_i, at_j = int((waves[:, j] - waves[:, i]).argmax()), int((waves[:, i] - waves[:, j]).argmax())
        first, second = drops[freqs[i]], drops[freqs[j]]
        own = min(float(first[at_i]), float(second[at_j]))
        crossed += own - max(float(first[at_j]), float(second[at_i])) >= 0.5
    return crossed, len(pairs)
