"""Define the interface of a basis: its frequencies or representations (blocks), the order of the elements, and the
answer.

A block of a basis is one frequency, for addition and subtraction, or one irreducible representation, for a finite
group. Only the basis knows the sign of the operation, the order of the numbers and the right answers.
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
    """A basis for networks over pairs (a, b) of `n` elements; its blocks are frequencies or representations.

    Attributes:
        block, blocks_name: words for one block, such as `frequency`, and for several blocks.
        answer: text of the operation that gives the answer, such as `a + b`.
        is_operation: True if the task is the operation of the basis, so that the answers are waves of its blocks.
    """

    block: str
    blocks_name: str
    answer: str
    is_operation: bool

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of elements of the basis, such as p residues."""

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
        """All blocks (frequencies or representations) of the basis except the constant."""

    def name(self, block: Block) -> str:
        """Return the name of a frequency or representation, such as `17` or `standard`."""
        return str(block)

    def arranged(self, activation: Tensor, is_logits: bool = False) -> Tensor:
        """Reorder an activation `[a, b, ...]` from the task's order of numbers to the order of the basis; see
        `Cyclic.arranged`.
        """
        return activation

    def put_back(self, arranged: Tensor, activation: Tensor) -> Tensor:
        """Put new values for the pairs of the basis into an activation in the task's order; see `Cyclic.put_back`."""
        return arranged

    def rows(self, rows: Int[Tensor, " row"]) -> Int[Tensor, " pair"]:
        """Convert row indices of the task's inputs to indices of the pairs of the basis."""
        return rows

    @abstractmethod
    def answer_part(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[Block]) -> Float[Tensor, "a b *rest"]:
        """Return the part of a function of (a, b) that depends only on the answer, at some frequencies or
        representations.
        """

    @abstractmethod
    def answer_table(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[Block]) -> Float[Tensor, "answer *rest"]:
        """Return the values of `answer_part` at every answer, as a table with one row per answer."""

    @abstractmethod
    def part(self, x: Float[Tensor, "element *rest"], blocks: Sequence[Block]) -> Float[Tensor, "element *rest"]:
        """Return the part of a function of one element at some frequencies or representations."""

    @abstractmethod
    def energy_shares(self, matrix: Float[Tensor, "element feature"]) -> Float[Tensor, " block"]:
        """Return the energy share of every frequency or representation in a column-centred matrix."""

    @abstractmethod
    def variance_shares(self, x: Float[Tensor, "a b feature"]) -> Float[Tensor, " block"]:
        """Return the share of the features' variance over all pairs in every frequency or representation of a, of b and
        of the answer.
        """

    @abstractmethod
    def losses_without_each(self, logits: Logits) -> Float[Tensor, " block"]:
        """Return, for each frequency or representation, the loss over all pairs after its waves of the answer are
        removed from the logits. [nats]
        """

    @abstractmethod
    def formula(self, logits: Logits, blocks: Sequence[Block]) -> Logits:
        """Return the logits of the formula: a sum of cosines of a + b - c over frequencies, or of characters of a b
        c^-1.
        """

    @abstractmethod
    def periodic_share(self, logits: Logits, count: int) -> float:
        """Return the share of the logits' variance over pairs in the `count` strongest frequencies (or representations)
        of a, of b and of their products.
        """

    @abstractmethod
    def spectrum_nulls(
        self, matrix: Float[Tensor, "feature output"], count: int, at_start: Matrices, draws: int
    ) -> nulls.Nulls:
        """Measure how clearly `count` frequencies or representations stand out of a matrix, compared with random
        matrices.
        """

    @abstractmethod
    def energy_of_strongest(self, matrix: Matrix, count: int) -> float:
        """Return the energy share of the `count` strongest frequencies or representations in a row-centred matrix."""

    @property
    def some_pairs(self) -> Int[Tensor, " pair"] | None:
        """Indices of the pairs used for interventions and null distributions; None for all pairs."""
        return None

    @abstractmethod
    def logit_nulls(self, logits: Logits, count: int, at_start: Iterable[Logits] | None) -> nulls.Nulls:
        """Measure how much of the logits `count` frequencies or representations explain, compared with random
        logits.
        """
