"""Replace the embedding vectors of the two numbers of every pair, and read the network's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.interventions.answered import BLOCK, Answered, Logits
from modinterp.models import Network, Transformer, Wrapped, indexed, read_logits
from modinterp.models.lens import HookPoint
from modinterp.runs import NotRecorded
from modinterp.tasks import Task

HOOK = "hook_embed"
Vectors = Float[Tensor, "element d"]


@dataclass(frozen=True)
class Embedded:
    """The embedding of a network over pairs, whose vectors interventions replace by other vectors.

    Interventions apply a linear map of token space, which turns the embedding `E` of all numbers into `T E`. The
    network reads vectors either from its embedding (`hook_embed`) or, if it takes one-hot vectors, as its input.

    Attributes:
        network: the network whose embedding is replaced.
        task: the task on which the network was trained.
        order: the task's numbers in the order of the Fourier or representation basis.
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
        """True if the network takes one-hot vectors as its input."""
        if not isinstance(self.network, Wrapped):
            return False
        calling = self.network.cfg.calling
        return calling.takes_vectors and calling.most is None

    @cached_property
    def rows(self) -> Int[Tensor, " pair"]:
        """Index of the task's input for every pair in the order of the basis; b varies fastest."""
        return (self.order[:, None] * self.task.grid[1] + self.order).flatten()  # type: ignore[index]

    @cached_property
    def tables(self) -> tuple[Vectors, Vectors]:
        """The embedding vectors of every number as a and as b, in the order of the basis, in float64.

        Raises:
            NotRecorded: the network does not expose one vector for each number.
        """
        if self.takes_vectors:
            one = torch.eye(self.task.grid[0], dtype=torch.float64)[self.order]  # type: ignore[index]
            if self._rounds(one):
                raise NotRecorded("the network rounds the vectors that it is called with")
            return one, one
        if HOOK not in self.network.hook_dict:
            raise NotRecorded(
                "the place at which the network embeds its numbers is not known; `hooks` can name this place"
            )
        return self._table(0), self._table(1)

    def _rounds(self, one: Vectors) -> bool:
        """Return True if vectors slightly different from one-hot vectors give exactly the same logits."""
        pairs = torch.arange(self.n)
        off = 0.99 * one + 0.01 * one.roll(1, dims=0)
        return torch.equal(self._of_vectors(one, one, pairs), self._of_vectors(off, off, pairs))

    def _table(self, position: int) -> Vectors:
        """Return the vectors of all numbers at one position, which must not depend on the other number."""
        n, seen = self.n, []
        for other in (0, n - 1):
            pairs = torch.arange(n) * n + other if position == 0 else other * n + torch.arange(n)
            captured: list[Tensor] = []
            self._run(pairs, lambda x, kept=captured: (kept.append(x.detach()), x)[1])
            if not captured or captured[0].ndim != 3 or len(captured[0]) != n or captured[0].shape[1] < 2:
                raise NotRecorded(
                    "the embedding is not a tensor [pair, position, d_model] with a and b at the first positions"
                )
            seen.append(captured[0][:, position].double().cpu())
        if not torch.allclose(seen[0], seen[1], rtol=1e-4, atol=1e-6):
            raise NotRecorded("the embedding of one number depends on the other number")
        return seen[0]

    def changed(self, a: Vectors | None = None, b: Vectors | None = None) -> Changed:
        """Return the network with the given embedding tables for a and b, by default with its own tables; logits are
        computed at first use.
        """
        table_a, table_b = self.tables
        return Changed(self, table_a if a is None else a, table_b if b is None else b)

    def at(self, a: Vectors, b: Vectors, pairs: Int[Tensor, " pair"]) -> Float[Tensor, "pair output"]:
        """Return the logits of some pairs with the given embedding tables, in float64, with classes in the order of the
        basis.
        """
        return torch.cat(list(self.blocks(a, b, pairs))).double()

    def blocks(self, a: Vectors, b: Vectors, pairs: Int[Tensor, " pair"]) -> Iterator[Float[Tensor, "pair output"]]:
        """Yield logits of some pairs with the given embedding tables, in blocks and in the network's own dtype.

        In a transformer, queries, keys and values are computed once for each number and not for each pair.
        """
        if not isinstance(self.network, Transformer):
            yield from (self.of_pairs(a[some // self.n], b[some % self.n], some) for some in pairs.split(BLOCK))
            return
        tokens = self.network.W_E.detach()
        W_E = torch.cat([a.to(tokens), b.to(tokens), tokens])
        config, weights = replace(self.network.cfg, d_vocab=len(W_E)), dict(self.network.named_parameters())
        for some in pairs.split(BLOCK):
            inputs = self._inputs[self.rows[some]] + 2 * self.n
            inputs[:, 0], inputs[:, 1] = some // self.n, self.n + some % self.n
            with torch.no_grad():
                index = indexed(config, inputs.to(tokens.device), inputs[:, -1].unique().to(tokens.device))
                logits = read_logits(config, weights | {"embed.W_E": W_E}, index)[:, -1]
            yield self._in_order(logits)

    def of_pairs(
        self, a: Float[Tensor, "pair d"], b: Float[Tensor, "pair d"], pairs: Int[Tensor, " pair"]
    ) -> Float[Tensor, "pair output"]:
        """Return the logits of pairs that each have their own embedding vectors, with classes in the order of the
        basis.

        Args:
            a, b: embedding vector of the first and second number of each pair.
            pairs: indices `a n + b` of the pairs that supply all other tokens and positions.
        """
        return self._in_order(self._of_vectors(a, b, pairs))

    def _in_order(self, logits: Float[Tensor, "pair output"]) -> Float[Tensor, "pair element"]:
        in_order = logits.shape[1] == self.n and torch.equal(self.order, torch.arange(self.n))
        return logits.cpu() if in_order else logits.cpu()[:, self.order]

    @cached_property
    def _inputs(self) -> Int[Tensor, "input pos"]:
        return self.task.inputs()

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
        """Return the logits at the last position after passing the embedding's output through a function."""
        tokens = self._inputs[self.rows[pairs]].to(self.network.device)

        def put(x: Tensor, hook: HookPoint) -> Tensor:
            return change(x)

        with torch.no_grad(), self.network.at_last_position(), self.network.hooks(fwd_hooks=[(HOOK, put)]) as hooked:
            return hooked(tokens)[:, -1]


@dataclass(frozen=True)
class Changed:
    """A network whose embedding vectors are replaced by other vectors.

    Attributes:
        embedded: the unchanged network.
        a, b: embedding vectors of every number as first and as second number.
    """

    embedded: Embedded
    a: Vectors
    b: Vectors

    @property
    def blocks(self) -> Iterator[Float[Tensor, "pair output"]]:
        """Yield logits of all pairs in the order of the basis, in blocks."""
        return self.embedded.blocks(self.a, self.b, torch.arange(self.embedded.n**2))

    def answered(self, sign: int = 1, freqs: Sequence[int] = (), pairs: Int[Tensor, " pair"] | None = None) -> Answered:
        """Return answers to all pairs, or to the given pairs, and sums of the logits; see `Answered.of`."""
        blocks = self.blocks if pairs is None else self.embedded.blocks(self.a, self.b, pairs)
        return Answered.of(blocks, sign, freqs, pairs)

    @property
    def logits(self) -> Logits:
        """Logits of all pairs, in the order of the basis, in float64."""
        return torch.cat([block.double() for block in self.blocks]).view(self.embedded.n, self.embedded.n, -1)
