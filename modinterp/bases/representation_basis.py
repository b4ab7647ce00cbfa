"""Define the basis of a finite group: its irreducible real representations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import ablations
from modinterp.analyses.groups import characters, irreps, products
from modinterp.analyses.groups import irrep_nulls as group_nulls
from modinterp.analyses.groups.group_transforms import energies, part_in, transform
from modinterp.analyses.network import nulls
from modinterp.bases.basis import Basis, Logits, Matrices, Matrix
from modinterp.tasks import Group

CHARACTERS = "variance of the logits in characters"
RENAMINGS = 39  # draws of renamed elements by which a representation's similarity is judged


@dataclass(frozen=True)
class Representations(Basis[irreps.Irrep]):
    """The irreducible real representations of a finite group, as a basis for networks over pairs of elements.

    Attributes:
        task: the task of composing two elements of the group.
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

    def answer_table(
        self, x: Float[Tensor, "a b *rest"], blocks: Sequence[irreps.Irrep]
    ) -> Float[Tensor, "answer *rest"]:
        return part_in(products.mean_by_product(x, self.task), blocks)

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
        """Return the loss over all pairs if logits keep only rho(a b) of one representation and each class's mean.
        [nats]
        """
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
        """Return the similarities of logits and characters after relabelling the elements at random."""
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
