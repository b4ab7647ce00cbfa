"""Reduce a network itself to fewer numbers, by truncated singular values or by keeping only its largest weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import logits_on_grid
from modinterp.formulas.faithfulness import Faithfulness, faithfulness
from modinterp.measurements import PairMeasurements
from modinterp.models import Wrapped, indexed, read_logits

Kind = Literal["svd", "pruned"]
KINDS: tuple[Kind, ...] = ("svd", "pruned")
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)  # of the weights, at which baselines are drawn
BISECTIONS = 8  # of the share of the weights that reaches an accuracy


@dataclass(frozen=True)
class Baseline:
    """A network that was reduced to fewer numbers, as a baseline for formulas.

    Attributes:
        kind: `svd` for truncated singular values, or `pruned` for the largest weights.
        numbers: how many numbers are left in the reduced network; for `pruned`, the positions of the weights are not
            counted.
        faithfulness: faithfulness of the reduced network's logits.
    """

    kind: Kind
    numbers: int
    faithfulness: Faithfulness


@dataclass(eq=False)
class Baselines:
    """Reduced networks with fewer numbers, as baselines that ignore the role of each weight in the network.

    Attributes:
        m: measurements of the network.
    """

    m: PairMeasurements
    _weights: dict[str, Tensor] = field(init=False, repr=False)
    _found: dict[tuple[Kind, int], Baseline] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._weights = {name: w.detach().cpu().double() for name, w in self.m.model.named_parameters()}
        self._svd = {name: torch.linalg.svd(w, full_matrices=False) for name, w in self._weights.items() if w.ndim > 1}
        self._sorted = torch.cat([w.abs().flatten() for w in self._weights.values()]).sort(descending=True).values

    @property
    def whole(self) -> int:
        """The number of weights of the network."""
        return len(self._sorted)

    def rank_at(self, numbers: int) -> int:
        """Return the largest rank at which all matrices together have at most a given number of numbers; 0 if rank 1
        has more.
        """
        most = max((s.shape[-1] for _, s, _ in self._svd.values()), default=0)
        return max((rank for rank in range(most + 1) if self.numbers_at(rank) <= numbers), default=0)

    def numbers_at(self, rank: int) -> int:
        """Return how many numbers the network has if all matrices are reduced to a given rank; vectors stay
        complete.
        """
        total = 0
        for name, w in self._weights.items():
            if name not in self._svd:
                total += w.numel()
                continue
            stack = w.numel() // (w.shape[-1] * w.shape[-2])
            total += min(w.numel(), stack * rank * (w.shape[-1] + w.shape[-2]))
        return total

    def at(self, kind: Kind, numbers: int) -> Baseline:
        """Reduce the network to at most a given number of numbers."""
        level = self.rank_at(numbers) if kind == "svd" else min(numbers, self.whole)
        if (kind, level) not in self._found:
            weights = self._of_rank(level) if kind == "svd" else self._largest(level)
            size = self.numbers_at(level) if kind == "svd" else level
            self._found[kind, level] = Baseline(kind, size, self._faithfulness(weights))
        return self._found[kind, level]

    def smallest(self, kind: Kind, is_enough: Callable[[Faithfulness], bool]) -> Baseline | None:
        """Return the smallest of some sizes at which the reduced network is faithful enough; None if even the whole
        network is not.
        """
        low, high = 0, self.whole
        best = self.at(kind, high)
        if not is_enough(best.faithfulness):
            return None
        for _ in range(BISECTIONS):
            middle = (low + high) // 2
            found = self.at(kind, middle)
            if is_enough(found.faithfulness):
                high, best = middle, found
            else:
                low = middle
        return best

    def drawn(self) -> list[Baseline]:
        """Return both baselines at some shares of the weights, and at all other shares that were already measured."""
        for kind in KINDS:
            for share in SHARES:
                self.at(kind, round(share * self.whole))
        return sorted(self._found.values(), key=lambda x: (x.kind, x.numbers))

    def _of_rank(self, rank: int) -> dict[str, Tensor]:
        cut = {}
        for name, w in self._weights.items():
            if name in self._svd:
                u, s, v = self._svd[name]
                stack = w.numel() // (w.shape[-1] * w.shape[-2])
                is_short = stack * rank * (w.shape[-1] + w.shape[-2]) < w.numel()
                w = (u[..., :rank] * s[..., None, :rank]) @ v[..., :rank, :] if is_short else w
            cut[name] = w
        return cut

    def _largest(self, numbers: int) -> dict[str, Tensor]:
        least = self._sorted[numbers - 1] if numbers else torch.inf
        return {name: torch.where(w.abs() >= least, w, 0.0) for name, w in self._weights.items()}

    @torch.no_grad()
    def _faithfulness(self, weights: dict[str, Tensor]) -> Faithfulness:
        found = self.m.basis.arranged(self._logits(weights), is_logits=True).flatten(0, 1)
        network = self.m.logits.flatten(0, 1)
        answers = self.m.labels[:, 0].cpu().numpy()
        return faithfulness(found.double().cpu().numpy(), network.double().cpu().numpy(), answers)

    def _logits(self, weights: dict[str, Tensor]) -> Float[Tensor, "a b output"]:
        model, task = self.m.model, self.m.task
        if isinstance(model, Wrapped):
            own = {name: w.detach().clone() for name, w in model.named_parameters()}
            try:
                _put(dict(model.named_parameters()), weights)
                return logits_on_grid(model, task)
            finally:
                _put(dict(model.named_parameters()), own)
        inputs = task.inputs()
        index = indexed(model.cfg, inputs, inputs[:, -1].unique())
        singles = {name: w.float() for name, w in weights.items()}
        return read_logits(model.cfg, singles, index)[:, -1].unflatten(0, task.grid)


def _put(parameters: dict[str, Tensor], values: dict[str, Tensor]) -> None:
    for name, parameter in parameters.items():
        parameter.copy_(values[name])
