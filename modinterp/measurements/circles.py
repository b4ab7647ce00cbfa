"""Measure the circles of a network over pairs of residues: in the embedding, through attention and MLP, and in W_L."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.circles.alignment import SingularDirections, singular_directions
from modinterp.analyses.circles.circle import Circle, circle, circles, plane
from modinterp.analyses.circles.linearity import MID, Linearity, linearity
from modinterp.analyses.circles.petals import PetalFit, petal_fits
from modinterp.analyses.circles.rotation import CollectedPlanes, Motion, collected_planes, motion
from modinterp.analyses.fourier.frequencies import dominant_frequency
from modinterp.measurements.component import Component
from modinterp.measurements.network import NoSuchPart

ATTN_OUT, MLP_OUT, Z = "blocks.0.hook_attn_out", "blocks.0.hook_mlp_out", "blocks.0.attn.hook_z"
FIXED_A = 70  # the first number that the blog post on the Clock algorithm holds fixed
TUNED = 0.8  # share of the variance of a head's attention at one frequency, from which it counts as tuned to it


class Circles(Component[Any]):
    """Circles of the key frequencies, and the effect of attention and the MLP on these circles.

    After the embedding, a circle is traced by b, while a has the fixed value `fixed_a`.
    """

    @property
    def fixed_a(self) -> int:
        """The value of a for circles over b: 70 mod p."""
        return FIXED_A % self.m.p

    @cached_property
    def tuning(self) -> tuple[tuple[int, float], ...]:
        """Dominant frequency [cycles per p] of each head's attention to the fixed a, and its share of the variance."""
        to_a = self.m.pattern[self.fixed_a, :, :, 0]
        return tuple(dominant_frequency(to_a[:, head]) for head in range(self.m.n_heads))

    @property
    def tuned_heads(self) -> tuple[int, ...]:
        """Heads whose attention has at least 0.8 of its variance at one key frequency."""
        return tuple(h for h, (freq, share) in enumerate(self.tuning) if share >= TUNED and freq in self.m.freqs)

    @property
    def attended_frequencies(self) -> tuple[int, ...]:
        """Key frequencies to which at least one head is tuned, in ascending order. [cycles per p]"""
        return tuple(k for k in self.m.freqs if k in {self.tuning[h][0] for h in self.tuned_heads})

    @cached_property
    def planes(self) -> dict[int, Float[Tensor, "d_model 2"]]:
        """Map each key frequency to the plane in which the embedding's circle of that frequency lies."""
        return {k: plane(self.m.W_E, k) for k in self.m.freqs}

    @cached_property
    def circles_of_W_E(self) -> dict[int, Circle]:
        """Map each key frequency to the circle of the embeddings of all residues."""
        return circles(self.m.W_E, self.m.freqs)

    @cached_property
    def circles_of_W_L(self) -> dict[int, Circle]:
        """Map each key frequency to the circle of the columns of W_L."""
        return circles(self.m.W_L.T, self.m.freqs)

    @cached_property
    def attention_share(self) -> Float[Tensor, "b head"]:
        """Attention to the fixed a, divided by the attention to a and b together."""
        to_a, to_b = self.m.pattern[self.fixed_a, :, :, :2].unbind(dim=-1)
        return to_a / (to_a + to_b)

    @cached_property
    def token_values(self) -> Float[Tensor, "head residue d_head"]:
        """Value vector of every residue in every head, computed without position embeddings."""
        values = torch.einsum("rm,hmd->hrd", self.m.W_E.double(), self.m.W_V)
        return values + self.m.weight("blocks.0.attn.b_V").double()[:, None] if self.m.model.cfg.attn_biases else values

    @cached_property
    def head_values(self) -> Float[Tensor, "b head d_head"]:
        """Attention-weighted mixture z of the value vectors in every head, for the fixed a."""
        return self.m.activation(Z)[self.fixed_a]

    @cached_property
    def head_outputs(self) -> Float[Tensor, "b head d_model"]:
        """Output of every head to the residual stream, for the fixed a."""
        return torch.einsum("bhd,hdm->bhm", self.head_values, self.m.W_O)

    def _petal_fits(self, token_values: Tensor, head_values: Tensor, maps: Tensor) -> list[PetalFit]:
        freqs = [freq for freq, _ in self.tuning]
        return petal_fits(token_values, head_values, maps, self.attention_share, self.planes, freqs, self.fixed_a)

    @cached_property
    def petals(self) -> list[PetalFit]:
        """For every head and plane, the fit of z to the curve (petal) that the head's attention predicts."""
        return self._petal_fits(self.token_values, self.head_values, self.m.W_V)

    @cached_property
    def written_petals(self) -> list[PetalFit]:
        """For every head and plane, the fit of the head's output to the curve (petal) that attention predicts."""
        return self._petal_fits(self.token_values @ self.m.W_O, self.head_outputs, self.m.W_V @ self.m.W_O)

    @cached_property
    def carried_planes(self) -> dict[int, Float[Tensor, "d_model 2"]]:
        """Map each key frequency to the plane of its circle after W_V W_O, summed over heads, with unit columns."""
        images = {k: torch.einsum("mi,hmn->ni", x, self.m.W_V @ self.m.W_O) for k, x in self.planes.items()}
        return {k: x / x.norm(dim=0) for k, x in images.items()}

    @cached_property
    def summed_circles(self) -> dict[int, tuple[Circle, list[Circle]]]:
        """Map each key frequency to its circles after W_V W_O: of the attention's output, and of each head alone."""
        attn_out = self.m.activation(ATTN_OUT)[self.fixed_a]
        return {
            k: (
                circle(attn_out @ image, k),
                [circle(self.head_outputs[:, head] @ image, k) for head in range(self.m.n_heads)],
            )
            for k, image in self.carried_planes.items()
        }

    def own_plane(self, hook: str, freq: int) -> Float[Tensor, "d 2"]:
        """Return the plane of a frequency in the activations at a hook, as b varies and a is fixed.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        return plane(self.m.activation(hook)[self.fixed_a], freq)

    def own_circle(self, hook: str, freq: int) -> Circle:
        """Measure the circle of a frequency in the activations at a hook, as b varies and a is fixed.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        return circle(self.m.activation(hook)[self.fixed_a] @ self.own_plane(hook, freq), freq)

    @cached_property
    def _plane_directions(self) -> dict[tuple[str, int], CollectedPlanes]:
        return {}

    def plane_directions(self, hook: str, freq: int) -> CollectedPlanes:
        """Return the principal directions of the planes in which the circles over b lie, one plane for every a.

        Args:
            hook: name of the hook of the activations, such as `blocks.0.hook_attn_out`.
            freq: frequency of the circles. [cycles per p]
        Raises:
            NoSuchPart: the network has no such hook.
        """
        key = hook, freq
        if key not in self._plane_directions:
            self._plane_directions[key] = collected_planes(self.m.activation(hook), freq)
        return self._plane_directions[key]

    @cached_property
    def _motions(self) -> dict[tuple[str, int, int], Motion]:
        return {}

    def motion(self, hook: str, freq: int, pair: int) -> Motion:
        """Measure the motion of the circle over b as a runs: revolution and rotation in one pair of principal
        directions.

        Args:
            hook: name of the hook of the activations, such as `blocks.0.hook_attn_out`.
            freq: frequency of the circle. [cycles per p]
            pair: 0 for principal directions 1 and 2, 1 for directions 3 and 4.
        """
        key = hook, freq, pair
        if key not in self._motions:
            points = self.m.activation(hook) @ self.plane_directions(hook, freq).pair(pair)
            self._motions[key] = motion(points, freq)
        return self._motions[key]

    def motions(self, hook: str, pair: int) -> Mapping[int, Motion]:
        """Map each key frequency to the revolution and rotation of its circle over b, as a takes all values."""
        return {k: self.motion(hook, k, pair) for k in self.m.freqs}

    @cached_property
    def mlp_linearity(self) -> Linearity:
        """Share of the MLP's output that an affine map explains.

        Raises:
            NoSuchPart: the network is not a transformer with an MLP.
        """
        self.m.activation(MID)
        if self.m.basis.sign < 0 or self.m.basis.cyclic.is_renamed:
            raise NoSuchPart(
                f"the affine map is fitted to sums of numbers that are not relabelled; {self.m.name} has others"
            )
        return linearity(self.m.grid, self.m.task, self.m.labels, self.m.freqs)

    @cached_property
    def singular_directions(self) -> SingularDirections:
        """The neurons' waves along the first left singular vectors of W_out, two vectors for each key frequency.

        Raises:
            NoSuchPart: the network has no W_out, or several layers.
        """
        if self.m.model.cfg.n_layers > 1:
            raise NoSuchPart(f"W_out can be decomposed only in networks of one layer; {self.m.name} has more layers")
        return singular_directions(self.m.W_out, self.m.post, 2 * len(self.m.freqs))
