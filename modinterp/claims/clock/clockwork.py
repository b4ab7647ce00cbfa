"""What the claims and figures of the clock ask of one run beyond `Evidence`, each analysis done once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.alignment import SingularDirections, singular_directions
from modinterp.analyses.attention import ov_circuits
from modinterp.analyses.circles import Circle, circle, circles, plane
from modinterp.analyses.frequencies import dominant_frequency
from modinterp.analyses.linearity import Linearity, linearity
from modinterp.analyses.petals import PetalFit, petal_fits
from modinterp.analyses.rotation import CollectedPlanes, Motion, collected_planes, motion
from modinterp.claims.evidence import NEURONS, PATTERN, evidence, kept
from modinterp.runs import TrainedRun

SEEDS = tuple(f"clock/no-pos-{seed}" for seed in range(3))
MAIN = "clock/no-pos-1"  # drawn: four circles, and the clearest gap
FIXED = 70
TUNED = 0.8
ATTN_OUT, MLP_OUT = "blocks.0.hook_attn_out", "blocks.0.hook_mlp_out"


class Clockwork:
    """Circles, petals and motions of one run; each attribute is measured when it is first asked for and then kept.

    Attributes:
        a: the operand that is held fixed, 70 as in the source, reduced mod p.
    """

    def __init__(self, run: TrainedRun):
        self.run, self.evidence = run, evidence(run)
        self.p = self.evidence.p
        self.a = FIXED % self.p

    @property
    def freqs(self) -> tuple[int, ...]:
        """Key frequencies, those of the map from neurons to logits. [cycles per p]"""
        return self.evidence.freqs

    def place(self, hook: str) -> Float[Tensor, "a b d"]:
        """Activations over all pairs under a hook's name."""
        return self.evidence.grid[hook]

    @property
    def n_heads(self) -> int:
        """Number of attention heads."""
        return self.evidence.grid[PATTERN].shape[2]

    @cached_property
    def tuning(self) -> tuple[tuple[int, float], ...]:
        """Of each head, with a fixed: the frequency at which its attention swings with b, and the share of it there."""
        pattern = self.evidence.grid[PATTERN][self.a, :, :, 0]
        return tuple(dominant_frequency(pattern[:, head]) for head in range(self.n_heads))

    @property
    def tuned(self) -> tuple[int, ...]:
        """Heads with nearly all of that at one frequency, which is a key frequency."""
        return tuple(h for h, (freq, share) in enumerate(self.tuning) if share >= TUNED and freq in self.freqs)

    @property
    def attended(self) -> tuple[int, ...]:
        """Key frequencies at which some head's attention swings."""
        return tuple(k for k in self.freqs if k in {self.tuning[h][0] for h in self.tuned})

    @cached_property
    def planes(self) -> dict[int, Float[Tensor, "d_model 2"]]:
        """The embedding's plane of each key frequency."""
        return {k: plane(self.evidence.W_E, k) for k in self.freqs}

    @cached_property
    def embedded(self) -> dict[int, Circle]:
        """Circles of the embedding, by key frequency."""
        return circles(self.evidence.W_E, self.freqs)

    @cached_property
    def read(self) -> dict[int, Circle]:
        """Circles of W_L."""
        return circles(self.evidence.W_L.T, self.freqs)

    @cached_property
    def alpha(self) -> Float[Tensor, "b head"]:
        """Share of the attention on a among that on a and b, a fixed."""
        to_a, to_b = self.evidence.grid[PATTERN][self.a, :, :, :2].unbind(dim=-1)
        return to_a / (to_a + to_b)

    @cached_property
    def values(self) -> Float[Tensor, "head residue d_head"]:
        """v of every token, wherever it stands."""
        attn = self.run.model.blocks[0].attn
        values = torch.einsum("rm,hmd->hrd", self.evidence.W_E.double(), attn.W_V.detach().double())
        return values + attn.b_V.detach().double()[:, None] if self.run.model.cfg.attn_biases else values

    @property
    def W_O(self) -> Float[Tensor, "head d_head d_model"]:
        """What each head writes with, in float64."""
        return self.run.model.blocks[0].attn.W_O.detach().double()

    @property
    def W_V(self) -> Float[Tensor, "head d_model d_head"]:
        """What each head takes values with, in float64."""
        return self.run.model.blocks[0].attn.W_V.detach().double()

    @cached_property
    def z(self) -> Float[Tensor, "b head d_head"]:
        """What each head gathers, a fixed."""
        return self.evidence.grid["z", 0][self.a]

    @cached_property
    def o(self) -> Float[Tensor, "b head d_model"]:
        """What each head writes, a fixed."""
        return torch.einsum("bhd,hdm->bhm", self.z, self.W_O)

    def _petals(self, values: Tensor, written: Tensor, maps: Tensor) -> list[PetalFit]:
        freqs = [freq for freq, _ in self.tuning]
        return petal_fits(values, written, maps, self.alpha, self.planes, freqs, self.a)

    @cached_property
    def petals(self) -> list[PetalFit]:
        """In z-space, every head in every plane."""
        return self._petals(self.values, self.z, self.W_V)

    @cached_property
    def written_petals(self) -> list[PetalFit]:
        """In the residual stream, every head in every plane."""
        return self._petals(self.values @ self.W_O, self.o, self.W_V @ self.W_O)

    @cached_property
    def images(self) -> dict[int, Float[Tensor, "d_model 2"]]:
        """The embedding's planes as all heads together carry them into the residual stream, columns of length 1."""
        carried = {k: torch.einsum("mi,hmn->ni", x, self.W_V @ self.W_O) for k, x in self.planes.items()}
        return {k: x / x.norm(dim=0) for k, x in carried.items()}

    @cached_property
    def sums(self) -> dict[int, tuple[Circle, list[Circle]]]:
        """In the image of each plane: the circle of all heads' sum, and that of each head alone."""
        found = {}
        for k, image in self.images.items():
            alone = [circle(self.o[:, head] @ image, k) for head in range(self.n_heads)]
            found[k] = circle(self.place(ATTN_OUT)[self.a] @ image, k), alone
        return found

    def own_circle(self, hook: str, freq: int) -> Circle:
        """The circle of activations over b, a fixed, in their own plane."""
        x = self.place(hook)[self.a]
        return circle(x @ plane(x, freq), freq)

    @cached_property
    def _collected(self) -> dict[tuple[str, int], CollectedPlanes]:
        places = (ATTN_OUT, NEURONS, MLP_OUT)
        return {(hook, k): collected_planes(self.place(hook), k) for hook in places for k in self.freqs}

    def collected(self, hook: str, freq: int) -> CollectedPlanes:
        """Principal directions of a frequency's planes over all a; of the attention's or MLP's output, or neurons."""
        return self._collected[hook, freq]

    @cached_property
    def _motions(self) -> dict[tuple[str, int, int], Motion]:
        return {}

    def motion(self, hook: str, freq: int, pair: int) -> Motion:
        """How the circle moves in the principal directions 1 and 2 (pair 0) or 3 and 4 (pair 1)."""
        key = hook, freq, pair
        if key not in self._motions:
            self._motions[key] = motion(self.place(hook) @ self.collected(hook, freq).pair(pair), freq)
        return self._motions[key]

    def motions(self, hook: str, pair: int) -> Mapping[int, Motion]:
        """Of every key frequency."""
        return {k: self.motion(hook, k, pair) for k in self.freqs}

    @cached_property
    def linearity(self) -> Linearity:
        """Whether the MLP does more than an affine map."""
        ev = self.evidence
        return linearity(ev.grid, ev.task, ev.labels, self.freqs)

    @cached_property
    def singular(self) -> SingularDirections:
        """The first two directions of W_out for each key frequency."""
        W_out = self.run.model.blocks[0].mlp.W_out.detach()
        return singular_directions(W_out, self.evidence.post, 2 * len(self.freqs))

    @cached_property
    def ov(self) -> Float[Tensor, "head residue d_model"]:
        """What each head adds to the residual stream when it attends to a residue alone."""
        return ov_circuits(self.run.model, self.p)


def clockwork(run: TrainedRun) -> Clockwork:
    """The clockwork of a run, kept with the run."""
    return kept(Clockwork, run)
