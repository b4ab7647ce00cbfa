"""Sort pairs into the kinds that a split makes for a network that cannot distinguish (x, y) from (y, x)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from modinterp.tasks import Split


@dataclass(frozen=True)
class PairKinds:
    """Masks `[x, y]` of the pairs of each kind.

    Attributes:
        common, rare, seen_diagonal: training pairs: x != y in both orders; x != y with the mirrored pair held out; x =
            y.
        mirrored, unseen, diagonal: held-out pairs: the mirrored pair is a training pair; neither order is; x = y.
    """

    common: Bool[Tensor, "x y"]
    rare: Bool[Tensor, "x y"]
    seen_diagonal: Bool[Tensor, "x y"]
    mirrored: Bool[Tensor, "x y"]
    unseen: Bool[Tensor, "x y"]
    diagonal: Bool[Tensor, "x y"]

    @classmethod
    def of(cls, split: Split, p: int) -> PairKinds:
        """Return the kinds of all pairs mod p; a trained pair x = y is its own mirrored pair, and common."""
        seen = torch.zeros(p * p, dtype=torch.bool)
        seen[split.train] = True
        seen, on_diagonal = seen.view(p, p), torch.eye(p, dtype=torch.bool)
        test, other = ~seen, seen.T
        return cls(
            common=seen & other & ~on_diagonal,
            rare=seen & ~other,
            seen_diagonal=seen & on_diagonal,
            mirrored=test & other,
            unseen=test & ~other & ~on_diagonal,
            diagonal=test & on_diagonal,
        )
