"""Change the neurons of the last layer along the directions that the read-out uses, and measure the answers.

After the last neurons the network is linear, so logits under any change follow without a forward pass. After the last
neurons the network is linear, so logits after any change of the neurons need no forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.fourier.transforms import components_of, fourier_basis
from modinterp.interventions.planes import interchange_tools

Neurons = Float[Tensor, "pair neuron"]
Planes = Float[Tensor, "neuron rank"]
Interchange = Callable[[Tensor, Tensor], Tensor]
How = Literal["zero", "mean", "resampled"]
SWAPPED = 4000  # pairs of inputs
_STEP = 8  # neurons


@dataclass(frozen=True)
class AtNeurons:
    """The interventions are those of TransformerLens' module `tools.analysis.interchange`.

    Attributes:
        Neurons of the last layer over all pairs, and the map from these neurons to the logits.
        W_L: map from the neurons to the logits.
        logits: logits of the intact network.
        right: right answer of each pair.
        freqs: key frequencies. [cycles per p]
    """

    post: Neurons
    W_L: Float[Tensor, "neuron output"]
    logits: Float[Tensor, "pair output"]
    right: Int[Tensor, " pair"]
    freqs: tuple[int, ...]

    def planes(self, freqs: Sequence[int]) -> Planes:
        """Return the orthonormal directions of the neurons that the read-out maps to waves of the given frequencies."""
        p = self.W_L.shape[1]
        waves = fourier_basis(p)[components_of(list(freqs), p)].to(self.W_L)
        return torch.linalg.qr(self.W_L @ waves.T).Q

    @cached_property
    def keys(self) -> Planes:
        """Orthonormal directions of the neurons that the read-out maps to waves of the key frequencies."""
        return self.planes(self.freqs)

    @cached_property
    def other_planes(self) -> Planes:
        """As many directions of the strongest other frequencies, orthogonal to the directions in `keys`."""
        p = self.W_L.shape[1]
        rest = [k for k in range(1, (p + 1) // 2) if k not in self.freqs]
        sizes = {k: float((self.W_L @ fourier_basis(p)[components_of([k], p)].to(self.W_L).T).norm()) for k in rest}
        chosen = sorted(rest, key=lambda k: -sizes[k])[: len(self.freqs)]
        waves = fourier_basis(p)[components_of(chosen, p)].to(self.W_L)
        read = self.W_L @ waves.T
        return torch.linalg.qr(read - self.keys @ (self.keys.T @ read)).Q

    def changed(self, new: Neurons, pairs: Int[Tensor, " some"] | None = None) -> Float[Tensor, "some output"]:
        """Return the logits of all pairs, or of the given pairs, after the neurons are replaced by `new`."""
        post, logits = (self.post, self.logits) if pairs is None else (self.post[pairs], self.logits[pairs])
        return logits + ((new - post) @ self.W_L).to(logits)

    def accuracy(self, new: Neurons) -> float:
        """Return the accuracy over all pairs after the neurons are replaced by `new`."""
        return float((self.changed(new).argmax(dim=-1).cpu() == self.right.cpu()).double().mean())

    # Swaps

    def swapped(self, interchange: Interchange, seed: int = 0) -> float:
        """Return the share of pairs of inputs in which the answer becomes the other input's answer.

        Args:
            interchange: function from the neurons of two inputs to new neurons.
            seed: seed of the random pairs of inputs.
        """
        generator = torch.Generator().manual_seed(seed)
        base, source = torch.randint(len(self.post), (2, SWAPPED), generator=generator)
        logits = self.changed(interchange(self.post[base], self.post[source]), base)
        return float((logits.argmax(dim=-1).cpu() == self.right[source].cpu()).double().mean())

    def swap(self, seed: int = 0) -> float:
        """Return the share of pairs of inputs in which the answer becomes the other input's answer when key directions
        are swapped.
        """
        return self.swapped(interchange_tools().SubspaceInterchange(self.keys), seed)

    @cached_property
    def swap_controls(self) -> dict[str, float]:
        """Share of swapped answers with random planes, with random changes as long, or with other frequencies."""
        drawn = interchange_tools().random_basis(*self.keys.shape, seed=0).to(self.post)
        return {
            "random planes": self.swapped(interchange_tools().SubspaceInterchange(drawn)),
            "random planes, as far": self.swapped(
                interchange_tools().NormMatchedPlacebo(interchange_tools().SubspaceInterchange(self.keys), drawn)
            ),
            "other frequencies": self.swapped(interchange_tools().SubspaceInterchange(self.other_planes)),
        }

    # Out and alone

    def _others(self) -> Neurons:
        return self.post[torch.randperm(len(self.post), generator=torch.Generator().manual_seed(0))]

    def _reference(self, how: How) -> Neurons:
        made = {"zero": lambda: self.post * 0, "mean": lambda: self.post.mean(dim=0).expand_as(self.post)}
        return made.get(how, self._others)()

    def without_keys(self, how: How) -> float:
        """Return the accuracy with the coordinates along the key directions set to zero, to their mean, or to the
        values of other pairs.
        """
        return self.accuracy(interchange_tools().SubspaceInterchange(self.keys)(self.post, self._reference(how)))

    @cached_property
    def scrubbed(self) -> float:
        """Accuracy when all coordinates except those along the keys come from other pairs (causal scrubbing)."""
        return self.accuracy(interchange_tools().SubspaceInterchange(self.keys)(self._others(), self.post))

    def without(self, out: Bool[Tensor, " neuron"], how: How) -> float:
        """Return the accuracy with some neurons set to zero, to their mean, or to their values on other pairs."""
        return self.accuracy(torch.where(out, self._reference(how), self.post))

    def fewest(self, accuracy: float = 0.99) -> int:
        """Return the smallest number of neurons, added strongest first in steps of eight, that reaches the accuracy.

        Neurons that were not added are set to their mean. A neuron's strength is its standard deviation times the norm
        of its output weights.
        """
        order = (self.post.std(dim=0) * self.W_L.norm(dim=1)).argsort(descending=True)
        low, high = 0, -(-len(order) // _STEP)
        while low < high:
            middle = (low + high) // 2
            out = torch.ones(len(order), dtype=torch.bool)
            out[order[: middle * _STEP].cpu()] = False
            if self.without(out, "mean") >= accuracy:
                high = middle
            else:
                low = middle + 1
        return min(high * _STEP, len(order))
