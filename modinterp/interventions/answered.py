"""What a network answers to all pairs, and sums of its logits, from blocks of pairs: never all p x p x p at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from modinterp.analyses.fourier.cosine_sums import spectrum_of_sums
from modinterp.analyses.fourier.transforms import sums

Logits = Float[Tensor, "a b output"]
BLOCK = 2**11  # pairs in one forward pass: neurons and logits of more leave a processor's cache
AnyLogits = Logits | Iterable[Float[Tensor, "pair output"]]


@dataclass(frozen=True)
class Answered:
    """The answers to all pairs, and the sums over their logits that effects of interventions are made of.

    Attributes:
        sign: 1 for a + b, -1 for a - b.
        given: the answer to each pair.
        by_distance: sum of the logits, each pair's mean taken off, by the right answer minus the class. [logits]
        energy: sum of the squares of the logits, each pair's mean taken off.
        waves: frequency to the sum over classes c of L_c e^iwc in each pair.
    """

    sign: int
    given: Int[Tensor, "a b"] = field(repr=False)
    by_distance: Float[Tensor, " distance"] = field(repr=False)
    energy: float
    waves: dict[int, Complex[Tensor, "a b"]] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, logits: AnyLogits, sign: int = 1, freqs: Sequence[int] = ()) -> Answered:
        """Go through logits once.

        Args:
            logits: of all pairs, or blocks of pairs one after the other.
            freqs: whose waves are kept. [cycles per p]
        """
        if isinstance(logits, Tensor):
            logits = logits.flatten(0, 1).split(BLOCK)
        given, waves, energy, began = list[Tensor](), list[Tensor](), 0.0, 0
        by_pair = turned = pairs = torch.empty(0)
        for block in logits:
            p = block.shape[-1]
            if not given:
                by_pair, pairs = torch.zeros(p, p, dtype=torch.float64), sums(p, sign).flatten()
                angles = 2 * torch.pi / p * torch.outer(torch.arange(p).double(), torch.tensor(freqs).double())
                turned = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
            about = block.double().cpu()
            about = about - about.mean(dim=-1, keepdim=True)
            energy += float(torch.linalg.vector_norm(about).square())
            by_pair.index_add_(0, pairs[began : began + len(block)], about)
            given.append(block.argmax(dim=-1).cpu())
            waves.append(about @ turned)
            began += len(block)
        p = len(by_pair)
        classes = (torch.arange(p)[:, None] - torch.arange(p)) % p
        by_distance = torch.zeros(p, dtype=torch.float64).index_add(0, classes.flatten(), by_pair.flatten())
        found = torch.view_as_complex(torch.cat(waves).unflatten(1, (len(freqs), 2))).view(p, p, -1)
        return cls(
            sign, torch.cat(given).view(p, p), by_distance, energy, dict(zip(freqs, found.unbind(2), strict=True))
        )

    @property
    def p(self) -> int:
        """Number of classes."""
        return len(self.by_distance)

    @property
    def spectrum(self) -> Float[Tensor, " freq"]:
        """Coefficient of cos(w_k(answer - c)) in the logits at every frequency; entry k - 1 is of frequency k."""
        return spectrum_of_sums(self.by_distance)

    @property
    def mean_by_distance(self) -> Float[Tensor, " distance"]:
        """Mean logit of class c over all pairs by c - s, for the right answer s, each pair's mean taken off."""
        return self.by_distance[-torch.arange(self.p) % self.p] / self.p**2

    @property
    def margins(self) -> Float[Tensor, " distance"]:
        """Mean over all pairs of the right logit minus that of the answer d further on, for every d. [logits]"""
        return self.mean_by_distance[0] - self.mean_by_distance

    @property
    def off_by(self) -> Int[Tensor, "a b"]:
        """How far the answer to each pair is from the right one, mod p."""
        return (self.given - sums(self.p, self.sign)) % self.p

    def moved(self, by: int = 0) -> Bool[Tensor, "a b"]:
        """Whether the answer to each pair is the right one moved by so many residues."""
        return self.off_by == by % self.p

    def waves_about_answer(self, freq: int) -> Complex[Tensor, "a b"]:
        """The wave of a frequency about the right answer s of each pair: the sum of L_c e^iw(c - s).

        Its real part is the size of the cosine at the right answer; its angle is how far the wave has turned.

        Args:
            freq: one whose waves were kept. [cycles per p]
        """
        s = 2 * torch.pi * freq / self.p * sums(self.p, self.sign).double()
        return self.waves[freq] * torch.polar(torch.ones_like(s), -s)
