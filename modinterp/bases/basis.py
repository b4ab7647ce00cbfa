"""The basis in which a network over pairs is analysed: blocks, the order of the elements, and what the answer is.

For addition and subtraction the blocks are frequencies. For a finite group they are its irreducible representations.
Only the basis knows the sign of the operation, the order of the numbers and the right answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.network import nulls

GAP, KEY_ENERGY = "gap of the spectrum", "energy of the strongest"  # the statistics of `Basis.spectrum_nulls`

Block = TypeVar("Block")
Logits = Float[Tensor, "a b output"]
Matrix = Float[Tensor, "feature output"]
Matrices = Iterable[Matrix] | None


class Basis(ABC, Generic[Block]):
    """The blocks of a network over pairs (a, b) of `n` elements, and the operation whose answers they are waves of.

    Attributes:
        block, blocks_name: name of a block in the singular and the plural.
        answer: text of what the answer is a function of, such as `a + b`.
        is_operation: whether the task is the operation of this basis, so that its answers lie in the blocks.
    """

    block: str
    blocks_name: str
    answer: str
    is_operation: bool

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of elements."""

    @property
    @abstractmethod
    def order(self) -> Int[Tensor, " element"]:
        """The task's numbers in the order of the basis."""

    @property
    @abstractmethod
    def answers(self) -> Int[Tensor, "pair 1"]:
        """The right answer to every pair, in the order of the basis."""

    @property
    @abstractmethod
    def all_blocks(self) -> tuple[Block, ...]:
        """Every block but the constant."""

    def name(self, block: Block) -> str:
        """Name of a block, such as `17` or `standard`."""
        return str(block)

    def arranged(self, activation: Tensor, is_logits: bool = False) -> Tensor:
        """An activation `[a, b, ...]` of the task's numbers in the order of the basis; see `Cyclic.arranged`."""
        return activation

    def put_back(self, arranged: Tensor, activation: Tensor) -> Tensor:
        """An activation in the task's order with new values of the pairs of the basis; see `Cyclic.put_back`."""
        return arranged

    def rows(self, rows: Int[Tensor, " row"]) -> Int[Tensor, " pair"]:
        """Rows of the task's inputs as rows of the pairs of the basis."""
        return rows

    @abstractmethod
    def answer_part(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[Block]) -> Float[Tensor, "a b *rest"]:
        """The part of a function of (a, b) that depends on the answer alone, in some blocks."""

    @abstractmethod
    def answer_table(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[Block]) -> Float[Tensor, "answer *rest"]:
        """The values of `answer_part`, one for each answer."""

    @abstractmethod
    def part(self, x: Float[Tensor, "element *rest"], blocks: Sequence[Block]) -> Float[Tensor, "element *rest"]:
        """The part of a function of one element in some blocks."""

    @abstractmethod
    def energy_shares(self, matrix: Float[Tensor, "element feature"]) -> Float[Tensor, " block"]:
        """Share of a matrix's energy in every block, each column's mean left out."""

    @abstractmethod
    def variance_shares(self, x: Float[Tensor, "a b feature"]) -> Float[Tensor, " block"]:
        """Share of the variance of features over all pairs in every block, of a, of b and of both."""

    @abstractmethod
    def losses_without_each(self, logits: Logits) -> Float[Tensor, " block"]:
        """Loss over all pairs with the answer's part in one block taken out of the logits. [nats]"""

    @abstractmethod
    def formula(self, logits: Logits, blocks: Sequence[Block]) -> Logits:
        """The logits of the formula: one cosine of a + b - c, or one character of a b c^-1, a block."""

    @abstractmethod
    def periodic_share(self, logits: Logits, count: int) -> float:
        """Share of the logits' variance over pairs in the best `count` blocks, whatever answer they give."""

    @abstractmethod
    def spectrum_nulls(
        self, matrix: Float[Tensor, "feature output"], count: int, at_start: Matrices, draws: int
    ) -> nulls.Nulls:
        """How clearly `count` blocks stand out of a matrix, against matrices without structure."""

    @abstractmethod
    def energy_of_strongest(self, matrix: Matrix, count: int) -> float:
        """Share of a matrix's energy in its `count` strongest blocks, each row's mean left out."""

    @property
    def some_pairs(self) -> Int[Tensor, " pair"] | None:
        """Numbers of the pairs that interventions and draws of a null are measured on; None for all pairs."""
        return None

    @abstractmethod
    def logit_nulls(self, logits: Logits, count: int, at_start: Iterable[Logits] | None) -> nulls.Nulls:
        """How much of the logits `count` blocks explain, against logits without structure."""
