"""The two numbers of every pair as a network embeds them, and its answers with other vectors in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.models import Network, Wrapped
from modinterp.models.lens import HookPoint
from modinterp.runs import NotRecorded
from modinterp.tasks import Task

HOOK = "hook_embed"
_CHUNK = 2**14  # pairs in one forward pass
Vectors = Float[Tensor, "element d"]
Logits = Float[Tensor, "a b output"]


@dataclass(frozen=True)
class Embedded:
    """Where a network over pairs takes in its two numbers, and what it answers to other vectors there.

    Interventions on blocks act here: a linear map of token space turns the embedding `E` of all numbers into `T E`.
    The network reads vectors either from its embedding (`hook_embed`) or, where it is called with one-hot numbers, as
    its input.

    Attributes:
        network, task: the network and what it learned.
        order: the task's numbers in the order of the basis.
    """

    network: Network
    task: Task
    order: Int[Tensor, " element"]

    @property
    def n(self) -> int:
        """Number of elements of the basis."""
        return len(self.order)

    @property
    def takes_vectors(self) -> bool:
        """Whether the network is called with one-hot numbers, so that its inputs are vectors themselves."""
        if not isinstance(self.network, Wrapped):
            return False
        calling = self.network.cfg.calling
        return calling.takes_vectors and calling.most is None

    @cached_property
    def rows(self) -> Int[Tensor, " pair"]:
        """The task's input of every pair of the basis, a slowest."""
        return (self.order[:, None] * self.task.grid[1] + self.order).flatten()  # type: ignore[index]

    @cached_property
    def tables(self) -> tuple[Vectors, Vectors]:
        """The vector of every number as a and as b, in the order of the basis, in float64.

        Raises:
            NotRecorded: the network does not expose one vector for each number.
        """
        if self.takes_vectors:
            one = torch.eye(self.task.grid[0], dtype=torch.float64)[self.order]  # type: ignore[index]
            if self._rounds(one):
                raise NotRecorded("it rounds the vectors that it is called with")
            return one, one
        if HOOK not in self.network.hook_dict:
            raise NotRecorded("it is not known where the network embeds its numbers; `hooks` can name the place")
        return self._table(0), self._table(1)

    def _rounds(self, one: Vectors) -> bool:
        """Whether vectors that are a little off one-hot ones give exactly the same logits."""
        pairs = torch.arange(self.n)
        off = 0.99 * one + 0.01 * one.roll(1, dims=0)
        return torch.equal(self._of_vectors(one, one, pairs), self._of_vectors(off, off, pairs))

    def _table(self, position: int) -> Vectors:
        """The vectors of all numbers at one position, which must not depend on the number at the other one."""
        n, seen = self.n, []
        for other in (0, n - 1):
            pairs = torch.arange(n) * n + other if position == 0 else other * n + torch.arange(n)
            captured: list[Tensor] = []
            self._run(pairs, lambda x, kept=captured: (kept.append(x.detach()), x)[1])
            if not captured or captured[0].ndim != 3 or len(captured[0]) != n or captured[0].shape[1] < 2:
                raise NotRecorded("the embedding is no tensor [pair, position, d_model] with a and b first")
            seen.append(captured[0][:, position].double().cpu())
        if not torch.allclose(seen[0], seen[1], rtol=1e-4, atol=1e-6):
            raise NotRecorded("the embedding of one number depends on the other number")
        return seen[0]

    def logits(self, a: Vectors | None = None, b: Vectors | None = None) -> Logits:
        """Logits of all pairs with other vectors of the numbers, in the order of the basis, in float64.

        Args:
            a, b: the new vector of every number at its position; by default the network's own.
        """
        table_a, table_b = self.tables
        pairs = torch.arange(self.n**2)
        first, second = (table_a if a is None else a), (table_b if b is None else b)
        return self.of_pairs(first[pairs // self.n], second[pairs % self.n], pairs).view(self.n, self.n, -1)

    def of_pairs(
        self, a: Float[Tensor, "pair d"], b: Float[Tensor, "pair d"], pairs: Int[Tensor, " pair"]
    ) -> Float[Tensor, "pair output"]:
        """Logits of some pairs with a vector of their own each, in float64; columns in the order of the basis.

        Args:
            pairs: numbers of the pairs, `a n + b`, whose other tokens and positions are used.
        """
        return torch.cat(list(self._chunks(a, b, pairs)))[:, self.order]

    def _chunks(self, a: Tensor, b: Tensor, pairs: Tensor) -> Iterator[Tensor]:
        for some in torch.arange(len(pairs)).split(_CHUNK):
            yield self._of_vectors(a[some], b[some], pairs[some]).double().cpu()

    def _of_vectors(self, a: Tensor, b: Tensor, pairs: Tensor) -> Float[Tensor, "pair output"]:
        if self.takes_vectors:
            network: Any = self.network
            with torch.no_grad():
                return network.called_with(torch.stack([a, b], dim=1))

        def put(x: Tensor) -> Tensor:
            x = x.clone()
            x[:, 0], x[:, 1] = a.to(x), b.to(x)
            return x

        return self._run(pairs, put)

    def _run(self, pairs: Int[Tensor, " pair"], change: Callable[[Tensor], Tensor]) -> Float[Tensor, "pair output"]:
        """Logits at the last position with what is at the embedding passed through a function."""
        tokens = self.task.inputs()[self.rows[pairs]].to(self.network.device)

        def put(x: Tensor, hook: HookPoint) -> Tensor:
            return change(x)

        with torch.no_grad(), self.network.at_last_position(), self.network.hooks(fwd_hooks=[(HOOK, put)]) as hooked:
            return hooked(tokens)[:, -1]
