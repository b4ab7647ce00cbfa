"""Compute the directions of an activation that hold waves of given frequencies, in closed form from all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

LEAST = 0.01  # of the strongest direction's standard deviation, from which a direction counts


def interchange_tools() -> Any:
    """Return TransformerLens' module `interchange`, imported at first use because it imports libraries for language
    models.
    """
    from transformer_lens.tools.analysis import interchange

    return interchange


def block_planes(x: Float[Tensor, "a b d"], basis: Any, blocks: Sequence[Any]) -> Float[Tensor, "d rank"]:
    """Return orthonormal directions of an activation that hold its waves of a, of b and of the answer at some
    frequencies.

    Use `block_planes` to change frequencies in an activation for which no matrix shows the relevant directions. The
    directions come from the activation alone and are not fitted to answers.

    Args:
        x: the activation on all pairs, in the order of the basis.
        basis: `Frequencies` or `Representations` of the task.
        blocks: frequencies [cycles per p] or representations, whose waves the directions hold.
    Returns:
        Orthonormal directions with at least a hundredth of the largest standard deviation, sorted from strongest to
        weakest.
    """
    x = x.double()
    parts = basis.part(x.mean(dim=1), blocks)[:, None] + basis.part(x.mean(dim=0), blocks)[None]
    parts = (parts + basis.answer_part(x, blocks).to(x)).flatten(0, 1)
    energy, directions = torch.linalg.eigh(parts.T @ parts)
    size = energy.clamp(min=0).sqrt()
    return directions[:, size >= LEAST * size.max()].flip(1)
