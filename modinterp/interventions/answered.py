"""Compute a network's answers to all pairs, and sums of its logits, in blocks to avoid a p x p x p tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from modinterp.analyses.fourier.cosine_sums import spectrum_of_sums
from modinterp.analyses.fourier.logit_sums import LogitSums, sums_by_distance
from modinterp.analyses.fourier.transforms import sums

Logits = Float[Tensor, "a b output"]
BLOCK = 2**11  # pairs in one forward pass: neurons and logits of more leave a processor's cache
AnyLogits = Logits | Iterable[Float[Tensor, "pair output"]]


def right_answers(p: int, sign: int, pairs: Int[Tensor, " pair"] | None = None) -> Int[Tensor, "*pair"]:
    """Return the right answers to all pairs or to the given pairs: a + b mod p, or a - b mod p if sign is -1."""
    found = sums(p, sign)
    return found if pairs is None else found.flatten()[pairs]


@dataclass(frozen=True)
class Answered:
    """A network's answers to all pairs, with the sums of its logits from which effects are computed.

    Attributes:
        sign: 1 for a + b, -1 for a - b.
        given: the network's answer to each pair.
        by_distance: sum of the logits by the right answer minus the class, after each pair's mean logit is subtracted.
            [logits]
        energy: sum of the squared logits, after each pair's mean logit is subtracted.
        waves: map from frequency to the sum over classes c of L_c e^iwc for each pair, where L_c is the logit of c.
        pairs: indices a p + b of a sample of pairs; None for all pairs. With a sample, `given` and `waves` cover the
            sample alone, and `by_distance` and `energy` estimate the sums over all pairs.
    """

    sign: int
    given: Int[Tensor, "*pair"] = field(repr=False)
    by_distance: Float[Tensor, " distance"] = field(repr=False)
    energy: float
    waves: dict[int, Complex[Tensor, "*pair"]] = field(repr=False, default_factory=dict)
    pairs: Int[Tensor, " pair"] | None = field(repr=False, default=None)

    @classmethod
    def of(
        cls, logits: AnyLogits, sign: int = 1, freqs: Sequence[int] = (), pairs: Int[Tensor, " seen"] | None = None
    ) -> Answered:
        """Compute answers and sums in one pass over the logits.

        Args:
            logits: logits of all pairs, or an iterator over blocks of pairs.
            sign: 1 for a + b, -1 for a - b.
            freqs: frequencies whose waves are stored. [cycles per p]
            pairs: indices of the pairs in the order of the blocks; None for all pairs.
        """
        if isinstance(logits, Tensor):
            flat = logits.flatten(0, 1)
            logits = (flat[began : began + BLOCK] for began in range(0, len(flat), BLOCK))
        energy, began = 0.0, 0
        by_pair = turned = right = given = waves = torch.empty(0)
        for block in logits:
            p = block.shape[-1]
            if not began:  # one tensor of each: many small ones scatter over the memory, and keep it from being freed
                by_pair, right = torch.zeros(p, p, dtype=torch.float64), right_answers(p, sign, pairs).flatten()
                angles = 2 * torch.pi / p * torch.outer(torch.arange(p).double(), torch.tensor(freqs).double())
                turned = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
                given = torch.empty(len(right), dtype=torch.long)
                waves = torch.empty(len(right), turned.shape[1], dtype=torch.float64)
            about = block.double().cpu()
            about = about - about.mean(dim=-1, keepdim=True)
            energy += float(torch.linalg.vector_norm(about).square())
            by_pair.index_add_(0, right[began : began + len(block)], about)
            given[began : began + len(block)] = block.argmax(dim=-1)
            waves[began : began + len(block)] = about @ turned
            began += len(block)
        p = len(by_pair)
        shape, share = ((p, p), 1.0) if pairs is None else ((len(pairs),), len(pairs) / p**2)
        found = torch.view_as_complex(waves.unflatten(1, (len(freqs), 2))).view(*shape, -1)
        by_freq = dict(zip(freqs, found.unbind(-1), strict=True))
        return cls(sign, given.view(shape), sums_by_distance(by_pair) / share, energy / share, by_freq, pairs)

    @classmethod
    def of_sums(cls, found: LogitSums, given: Int[Tensor, "a b"], sign: int = 1) -> Answered:
        """Build an `Answered` from answers and sums of logits that were computed before; the result has no waves."""
        pairs, mean = given.numel(), found.mean
        return cls(sign, given, found.by_distance - pairs * mean, found.by_row)

    @property
    def p(self) -> int:
        """Number of classes of the answer."""
        return len(self.by_distance)

    @property
    def spectrum(self) -> Float[Tensor, " freq"]:
        """Coefficient of cos(w_k(answer - c)) in the logits at every frequency; entry k - 1 belongs to frequency k."""
        return spectrum_of_sums(self.by_distance)

    @property
    def mean_by_distance(self) -> Float[Tensor, " distance"]:
        """Mean logit of class c over all pairs, by the distance c - s from the right answer s; each pair's mean is
        subtracted.
        """
        return self.by_distance[-torch.arange(self.p) % self.p] / self.p**2

    @property
    def margins(self) -> Float[Tensor, " distance"]:
        """Mean over all pairs of the right answer's logit minus the logit of the right answer plus d, for every d.
        [logits]
        """
        return self.mean_by_distance[0] - self.mean_by_distance

    @property
    def right(self) -> Int[Tensor, "*pair"]:
        """The right answer to each pair."""
        return right_answers(self.p, self.sign, self.pairs)

    @property
    def off_by(self) -> Int[Tensor, "*pair"]:
        """The network's answer minus the right answer, mod p, for each pair."""
        return (self.given - self.right) % self.p

    def moved(self, by: int = 0) -> Bool[Tensor, "*pair"]:
        """Return True for each pair whose answer is the right answer plus `by` residues."""
        return self.off_by == by % self.p

    def waves_about_answer(self, freq: int) -> Complex[Tensor, "*pair"]:
        """Return the wave of a frequency about the right answer s of each pair: the sum of L_c e^iw(c - s).

        The real part of the wave is the amplitude of the cosine at the right answer. The angle of the wave is its phase
        shift.

        Args:
            freq: a frequency whose waves were stored. [cycles per p]
        """
        s = 2 * torch.pi * freq / self.p * self.right.double()
        return self.waves[freq] * torch.polar(torch.ones_like(s), -s)
