"""The basis in which a network over pairs is analysed: blocks, the order of the elements, and what the answer is.

For addition and its like the blocks are frequencies, for a finite group its irreducible representations. The sign of
the operation, the order of the numbers and the right answers belong to the basis, and to nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import ablations, cosine_sums
from modinterp.analyses.fourier import neurons as wave_neurons
from modinterp.analyses.fourier.transforms import (
    component_norms,
    components_of,
    fourier_basis,
    frequency_norms,
    sum_wave_part,
    sums,
    transform_2d,
)
from modinterp.analyses.groups import characters, irreps, products
from modinterp.analyses.groups import irrep_nulls as group_nulls
from modinterp.analyses.groups.group_transforms import energies, part_in, transform
from modinterp.analyses.network import nulls
from modinterp.tasks import Cyclic, Group, Task, cyclic

GAP, KEY_ENERGY = "gap of the spectrum", "energy of the strongest"  # the statistics of `Basis.spectrum_nulls`
CHARACTERS = "variance of the logits in characters"
RENAMINGS = 39  # draws of renamed elements by which a representation's similarity is judged

Block = TypeVar("Block")
Logits = Float[Tensor, "a b output"]
Matrix = Float[Tensor, "feature output"]
Matrices = Iterable[Matrix] | None


class Basis(ABC, Generic[Block]):
    """The blocks of a network over pairs (a, b) of `n` elements, and the operation whose answers they are waves of.

    Attributes:
        block, blocks_name: what a block is called, one and several.
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
        """Share of the logits' variance over pairs in as many blocks, whichever these are and whatever they answer."""

    @abstractmethod
    def spectrum_nulls(
        self, matrix: Float[Tensor, "feature output"], count: int, at_start: Matrices, draws: int
    ) -> nulls.Nulls:
        """How clearly `count` blocks stand out of a matrix, against matrices without structure."""

    @abstractmethod
    def energy_of_strongest(self, matrix: Matrix, count: int) -> float:
        """Share of a matrix's energy in its `count` strongest blocks, each row's mean left out."""

    @abstractmethod
    def logit_nulls(self, logits: Logits, count: int, at_start: Iterable[Logits] | None) -> nulls.Nulls:
        """How much of the logits `count` blocks explain, against logits without structure."""


@dataclass(frozen=True)
class Frequencies(Basis[int]):
    """Frequencies of Z_n, for a + b and a - b, perhaps under other names of the numbers.

    Attributes:
        cyclic: order of the numbers and sign of the operation.
        answer: such as `a + b`, or `i + j` for places in the cyclic group.
        is_operation: False for a task that is no addition, whose numbers stand as they are.
        size: how many numbers the task has.
    """

    cyclic: Cyclic
    answer: str
    is_operation: bool
    size: int

    block, blocks_name = "frequency", "frequencies"

    @property
    def sign(self) -> int:
        """1 for a + b, -1 for a - b."""
        return self.cyclic.sign

    @property
    def n(self) -> int:
        return self.cyclic.n

    @property
    def order(self) -> Int[Tensor, " element"]:
        return self.cyclic.order

    @cached_property
    def answers(self) -> Int[Tensor, "pair 1"]:
        return sums(self.n, self.sign).reshape(-1, 1)

    @property
    def all_blocks(self) -> tuple[int, ...]:
        return tuple(range(1, self.n // 2 + 1))

    def arranged(self, activation: Tensor, is_logits: bool = False) -> Tensor:
        return self.cyclic.arranged(activation, is_logits) if self.is_operation else activation

    def put_back(self, arranged: Tensor, activation: Tensor) -> Tensor:
        return self.cyclic.put_back(arranged, activation)

    def rows(self, rows: Int[Tensor, " row"]) -> Int[Tensor, " pair"]:
        return self.cyclic.rows(rows, self.size)

    def answer_part(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[int]) -> Float[Tensor, "a b *rest"]:
        return sum_wave_part(x, tuple(blocks), self.sign)

    def part(self, x: Float[Tensor, "element *rest"], blocks: Sequence[int]) -> Float[Tensor, "element *rest"]:
        waves = fourier_basis(self.n)[components_of(tuple(blocks), self.n)].to(x.device)
        return (waves.T @ (waves @ x.double().flatten(1))).view(x.shape)

    def energy_shares(self, matrix: Float[Tensor, "element feature"]) -> Float[Tensor, " block"]:
        energy = frequency_norms(component_norms(matrix.reshape(len(matrix), -1))).square()
        return energy / energy.sum()

    def variance_shares(self, x: Float[Tensor, "a b feature"]) -> Float[Tensor, " block"]:
        variances = x.double().var(dim=(0, 1))
        shares = wave_neurons.neuron_fits(x).shares.nan_to_num(0)
        return shares @ variances.to(shares) / variances.sum().to(shares)

    def losses_without_each(self, logits: Logits) -> Float[Tensor, " block"]:
        return ablations.loss_without_each(logits, self.answers, "sums", self.sign)

    def formula(self, logits: Logits, blocks: Sequence[int]) -> Logits:
        return cosine_sums.logit_fit(logits, tuple(blocks), self.sign).logits(self.n)

    def periodic_share(self, logits: Logits, count: int) -> float:
        return self.periodic_share_of_spectrum(transform_2d(logits), count)

    def periodic_share_of_spectrum(self, spectrum: Tensor, count: int) -> float:
        """`periodic_share` of logits whose 2D transform is at hand."""
        spectrum = spectrum.clone()
        spectrum[0, 0] = 0
        total = spectrum.square().sum()
        found = wave_neurons.frequency_energies(spectrum).sum(dim=1)
        return float(found.topk(count).values.sum() / total) if total > 0 else float("nan")

    def spectrum_nulls(
        self, matrix: Float[Tensor, "feature output"], count: int, at_start: Matrices, draws: int
    ) -> nulls.Nulls:
        return nulls.spectrum_nulls(matrix, count, at_start, draws)

    def energy_of_strongest(self, matrix: Matrix, count: int) -> float:
        return nulls.separation(matrix, count)[KEY_ENERGY]

    def logit_nulls(self, logits: Logits, count: int, at_start: Iterable[Logits] | None) -> nulls.Nulls:
        in_order = None if at_start is None else (self.arranged(each, is_logits=True) for each in at_start)
        return nulls.logit_nulls(logits, count, in_order, self.sign)


@dataclass(frozen=True)
class Representations(Basis[irreps.Irrep]):
    """Irreducible real representations of a finite group.

    Attributes:
        task: composes two elements of the group.
    """

    task: Group

    block, blocks_name, answer, is_operation = "representation", "representations", "a b", True

    @property
    def n(self) -> int:
        return self.task.n

    @property
    def order(self) -> Int[Tensor, " element"]:
        return torch.arange(self.n)

    @cached_property
    def answers(self) -> Int[Tensor, "pair 1"]:
        return self.task.labels()

    @cached_property
    def irreps(self) -> tuple[irreps.Irrep, ...]:
        """All irreducible real representations, the trivial one first."""
        return irreps.irreps(self.task)

    @property
    def all_blocks(self) -> tuple[irreps.Irrep, ...]:
        return self.irreps[1:]

    def name(self, block: irreps.Irrep) -> str:
        return block.name

    def answer_part(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[irreps.Irrep]) -> Float[Tensor, "a b *rest"]:
        return products.product_part(x, self.task, blocks)

    def part(self, x: Float[Tensor, "element *rest"], blocks: Sequence[irreps.Irrep]) -> Float[Tensor, "element *rest"]:
        return part_in(x, blocks)

    def energy_shares(self, matrix: Float[Tensor, "element feature"]) -> Float[Tensor, " block"]:
        energy = energies(matrix, self.all_blocks).flatten(1).sum(dim=1)
        return energy / energy.sum()

    def variance_shares(self, x: Float[Tensor, "a b feature"]) -> Float[Tensor, " block"]:
        return products.pair_shares(x, self.task, self.irreps).total()[1:]

    def losses_without_each(self, logits: Logits) -> Float[Tensor, " block"]:
        parts = (self.answer_part(logits, (rho,)) for rho in self.all_blocks)
        return torch.tensor([ablations.loss_on(logits - part, self.answers) for part in parts])

    def losses_with_each(self, logits: Logits) -> Iterator[float]:
        """Loss over all pairs with nothing but rho(a b) of one representation and each class's mean. [nats]"""
        mean = logits.mean(dim=(0, 1))
        for rho in self.all_blocks:
            yield ablations.loss_on(self.answer_part(logits, (rho,)) + mean, self.answers)

    def formula(self, logits: Logits, blocks: Sequence[irreps.Irrep]) -> Logits:
        if not blocks:
            return torch.zeros_like(logits, dtype=torch.float64)
        factors = characters.fitted(logits, self.task, blocks)
        return characters.formula(factors, blocks, self.task).to(logits.device)

    def periodic_share(self, logits: Logits, count: int) -> float:
        squares = transform(transform(logits, self.irreps).transpose(0, 1), self.irreps).square().sum(dim=-1)
        sizes = [rho.rank for rho in self.irreps]
        blocks = torch.stack([torch.stack([x.sum() for x in row.split(sizes, dim=1)]) for row in squares.split(sizes)])
        blocks[0, 0] = 0
        own = blocks.diagonal()[1:] + blocks[0, 1:] + blocks[1:, 0]
        total = blocks.sum()
        return float(own.topk(min(count, len(own))).values.sum() / total) if total > 0 else float("nan")

    def spectrum_nulls(
        self, matrix: Float[Tensor, "feature output"], count: int, at_start: Matrices, draws: int
    ) -> nulls.Nulls:
        return group_nulls.spectrum_nulls(matrix, self.irreps, count, at_start, draws)

    def energy_of_strongest(self, matrix: Matrix, count: int) -> float:
        return group_nulls.separation(matrix, self.irreps, count)[group_nulls.STRONGEST]

    def renamed_similarities(self, logits: Logits) -> Float[Tensor, "draw irrep"]:
        """Similarities of logits and characters with the elements renamed at random."""
        return group_nulls.renamed_similarities(logits, self.task, self.irreps, RENAMINGS)

    def logit_nulls(self, logits: Logits, count: int, at_start: Iterable[Logits] | None) -> nulls.Nulls:
        where = characters.quotients(self.task)

        def strongest(found: Float[Tensor, " irrep"]) -> dict[str, float]:
            return {CHARACTERS: float(found.square().topk(count).values.sum())}

        def found(some: Logits) -> Float[Tensor, " irrep"]:
            return characters.similarities(some, self.task, self.irreps, where)

        observed = strongest(found(logits))
        rows = nulls.nulls_by_statistic(
            nulls.RENAMED_RESIDUES, observed, map(strongest, self.renamed_similarities(logits))
        )
        if at_start is not None:
            drawn = (strongest(found(each.cpu())) for each in at_start)
            rows = nulls.nulls_by_statistic(nulls.AT_INITIALISATION, observed, drawn) + rows
        return nulls.Nulls(rows)


def basis_of(task: Task) -> Frequencies | Representations:
    """The basis of a task over pairs: of a group its representations, of all others frequencies.

    Where a task is no addition under any names, its numbers stand as they are, and `is_operation` is False.

    >>> from modinterp.tasks import multiplication
    >>> basis = basis_of(multiplication(5))
    >>> basis.answer, basis.order.tolist()
    ('i + j', [1, 2, 4, 3])
    """
    if isinstance(task, Group):
        return Representations(task)
    size = (task.grid or task.output_sizes)[0]
    found, operation = cyclic(task), task.name.partition(" mod")[0]
    if found is None:
        return Frequencies(Cyclic(tuple(range(size)), 1), operation, False, size)
    answer = operation if not found.is_renamed else f"i {'+' if found.sign > 0 else '-'} j"
    return Frequencies(found, answer, True, size)
