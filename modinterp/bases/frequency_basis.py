"""Define the Fourier basis for addition and relabelled additions, with the order of the numbers and the sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import ablations, cosine_sums
from modinterp.analyses.fourier import neurons as wave_neurons
from modinterp.analyses.fourier.marginals import marginals
from modinterp.analyses.fourier.transforms import (
    component_norms,
    components_of,
    fourier_basis,
    frequency_norms,
    sum_wave_part,
    sum_wave_table,
    sums,
)
from modinterp.analyses.network import nulls
from modinterp.analyses.statistics.some_pairs import some_pairs
from modinterp.bases.basis import KEY_ENERGY, Basis, Logits, Matrices, Matrix
from modinterp.tasks import Cyclic


@dataclass(frozen=True)
class Frequencies(Basis[int]):
    """The frequencies of Z_n, for a + b and a - b; also for operations that become an addition after relabelling the
    numbers.

    Attributes:
        cyclic: the order of the numbers, and the sign of the operation.
        answer: text of the operation, such as `a + b`, or `i + j` for positions in the cyclic group.
        is_operation: False for a task that is not an addition; the task's numbers then keep their order.
        size: how many different numbers the task has.
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

    def answer_table(self, x: Float[Tensor, "a b *rest"], blocks: Sequence[int]) -> Float[Tensor, "answer *rest"]:
        return sum_wave_table(x, tuple(blocks), self.sign)

    def part(self, x: Float[Tensor, "element *rest"], blocks: Sequence[int]) -> Float[Tensor, "element *rest"]:
        waves = fourier_basis(self.n)[components_of(tuple(blocks), self.n)].to(x.device)
        return (waves.T @ (waves @ x.double().flatten(1))).view(x.shape)

    def energy_shares(self, matrix: Float[Tensor, "element feature"]) -> Float[Tensor, " block"]:
        energy = frequency_norms(component_norms(matrix.reshape(len(matrix), -1))).square()
        return energy / energy.sum()

    def variance_shares(self, x: Float[Tensor, "a b feature"]) -> Float[Tensor, " block"]:
        return wave_neurons.shares_of_all(marginals(x))

    def losses_without_each(self, logits: Logits) -> Float[Tensor, " block"]:
        return ablations.loss_without_each(logits, self.answers, "sums", self.sign)

    def formula(self, logits: Logits, blocks: Sequence[int]) -> Logits:
        return cosine_sums.logit_fit(logits, tuple(blocks), self.sign).logits(self.n)

    def periodic_share(self, logits: Logits, count: int) -> float:
        found = marginals(logits)
        of_freqs, whole = (found.linear + found.products).sum(dim=1), found.energy.sum()
        return float(of_freqs.topk(count).values.sum() / whole) if whole > 0 else float("nan")

    def spectrum_nulls(
        self, matrix: Float[Tensor, "feature output"], count: int, at_start: Matrices, draws: int
    ) -> nulls.Nulls:
        return nulls.spectrum_nulls(matrix, count, at_start, draws)

    def energy_of_strongest(self, matrix: Matrix, count: int) -> float:
        return nulls.separation(matrix, count)[KEY_ENERGY]

    def logit_nulls(self, logits: Logits, count: int, at_start: Iterable[Logits] | None) -> nulls.Nulls:
        pairs = self.some_pairs
        arrange = self._in_order if pairs is None else self._outputs_in_order
        in_order = None if at_start is None else map(arrange, at_start)
        return nulls.logit_nulls(logits, count, in_order, self.sign, pairs=pairs)

    def _in_order(self, logits: Float[Tensor, "number number class"]) -> Logits:
        return self.arranged(logits, is_logits=True)

    def _outputs_in_order(self, logits: Float[Tensor, "pair class"]) -> Float[Tensor, "pair output"]:
        return logits[:, self.order] if self.is_operation and self.cyclic.is_renamed else logits

    @cached_property
    def some_pairs(self) -> Int[Tensor, " pair"] | None:
        return some_pairs(self.n)
