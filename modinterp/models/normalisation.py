"""Apply LayerNorm or RMSNorm before each part of a layer and before the unembedding, with HookedTransformer's names.

Source: TransformerLens, whose `normalization_type` has the same values.
"""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from modinterp.models.base_config import Weights
from modinterp.models.base_network import Component
from modinterp.models.lens import HookPoint

EPS = 1e-5  # is added to the mean square


def normalised(x: Float[Tensor, "*batch d_model"], kind: str | None, weights: Weights, name: str) -> Tensor:
    """Normalise activations; without a normalisation, return them unchanged.

    LN subtracts the mean and divides by the standard deviation; RMS only divides by the root mean square. Both
    normalisations then multiply by the weight w, and LN adds the bias b.

    Args:
        kind: type of normalisation, a key of `modinterp.models.config.NORMALISATIONS`; None for no normalisation.
        name: name of the normalisation, such as `blocks.0.ln1`.
    """
    if kind is None:
        return x
    w, width = weights.get(f"{name}.w"), x.shape[-1:]
    if kind.startswith("LN"):
        return F.layer_norm(x, width, w, weights.get(f"{name}.b"), EPS)
    return F.rms_norm(x, width, w, EPS)


class Normalisation(Component):
    """A normalisation with hook points after every step; `hook_scale` has the root mean squares, `[*batch, 1]`."""

    w: Tensor
    b: Tensor

    def __init__(self, name: str, weights: Weights, kind: str):
        super().__init__(f"{name}.", weights)
        self.kind = kind
        self.hook_scale, self.hook_normalized = HookPoint(), HookPoint()

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Return the activations after normalisation."""
        x = x - x.mean(dim=-1, keepdim=True) if self.kind.startswith("LN") else x
        x = x / self.hook_scale((x.square().mean(dim=-1, keepdim=True) + EPS).sqrt())
        x = x * self.w if hasattr(self, "w") else x
        return self.hook_normalized(x + self.b if hasattr(self, "b") else x)
