"""Find relabellings under which a task over pairs is addition, so that waves explain the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.tasks.group import Group
from modinterp.tasks.modular import SIGNS, ModularArithmetic
from modinterp.tasks.task import Task


@dataclass(frozen=True)
class Cyclic:
    """A relabelling of a task: if number `names[i]` is relabelled i, the task is i + j or i - j mod n.

    Attributes:
        names: the n numbers of the task that form the cyclic group, in the group's order; other numbers are left out.
        sign: 1 for i + j, -1 for i - j.
    """

    names: tuple[int, ...]
    sign: int

    @property
    def n(self) -> int:
        """Number of elements of the cyclic group."""
        return len(self.names)

    @property
    def is_renamed(self) -> bool:
        """True if the relabelling changes the numbers of the task or leaves some out."""
        return self.names != tuple(range(self.n))

    @property
    def order(self) -> Int[Tensor, " i"]:
        """The names of the elements as an index tensor."""
        return torch.tensor(self.names)

    def arranged(self, activation: Float[Tensor, "a b *rest"], is_logits: bool = False) -> Float[Tensor, "i j *cut"]:
        """Reorder an activation over pairs from the task's numbers to the order of the cyclic group.

        Args:
            is_logits: True if the last axis runs over answers, which are then restricted to the group and reordered.
        """
        if not self.is_renamed:
            return activation[..., : self.n] if is_logits else activation
        order = self.order.to(activation.device)
        arranged = activation[order][:, order]
        return arranged[..., order] if is_logits else arranged

    def put_back(
        self, arranged: Float[Tensor, "i j *rest"], activation: Float[Tensor, "a b *rest"]
    ) -> Float[Tensor, "a b *rest"]:
        """Put new values for the group's pairs into an activation in the task's order.

        Args:
            arranged: the new values, in the order of the cyclic group.
            activation: the old values in the task's order; pairs outside the group keep their values.
        """
        if not self.is_renamed:
            return arranged
        order, changed = self.order.to(activation.device), activation.clone()
        changed[order[:, None], order] = arranged.to(changed)
        return changed

    def rows(self, rows: Int[Tensor, " row"], size: int) -> Int[Tensor, " pair"]:
        """Convert row indices of the task's inputs to indices of the group's pairs; other rows are left out.

        Args:
            size: how many different numbers the task has.
        """
        if not self.is_renamed:
            return rows
        place = torch.full((size * size,), -1)
        place[(self.order[:, None] * size + self.order).flatten()] = torch.arange(self.n**2)
        return place[rows][place[rows] >= 0]


def cyclic(task: Task) -> Cyclic | None:
    """Return the relabelling under which a task over pairs is addition or subtraction; None if none exists.

    The tasks a + b and a - b mod p need no relabelling. a b and a / b mod p add and subtract discrete logarithms of the
    units mod p, if the units form a cyclic group. In a cyclic group, composing two elements adds their powers of a
    generator.

    >>> from modinterp.tasks import multiplication
    >>> cyclic(multiplication(5))
    Cyclic(names=(1, 2, 4, 3), sign=1)
    """
    if isinstance(task, Group):
        table = task.table.tolist()
        names = _powers(list(range(task.n)), lambda a, b: table[a][b])
        return None if names is None else Cyclic(names, 1)
    if not isinstance(task, ModularArithmetic):
        return None
    if task.op in SIGNS:
        return Cyclic(tuple(range(task.p)), SIGNS[task.op])
    if task.op not in ("mul", "div"):
        return None
    names = _powers([a for a in range(1, task.p) if gcd(a, task.p) == 1], lambda a, b: a * b % task.p)
    return None if names is None or len(names) < 2 else Cyclic(names, 1 if task.op == "mul" else -1)


def is_sum_of_functions(task: Task) -> bool:
    """Return True if the answer to a pair is f(a) + g(b) mod p for some functions f and g, not necessarily one-to-one.

    Waves of the answer are then products of a wave of f(a) and a wave of g(b), as for a sum of two numbers.

    >>> from modinterp.tasks import ModularArithmetic
    >>> [is_sum_of_functions(ModularArithmetic(7, op)) for op in ("a^2 + b", "squares", "quadratic")]
    [True, True, False]
    """
    if not isinstance(task, ModularArithmetic):
        return False
    answers = task.answers().view(task.grid)
    steps = (answers[1:] - answers[:1]) % task.p
    return bool((answers >= 0).all()) and bool((steps == steps[:, :1]).all())


def _powers(elements: list[int], product: Callable[[int, int], int]) -> tuple[int, ...] | None:
    """Return the powers of the first element that generates a group, from power 0 on; None if no element does."""
    for generator in elements:
        powers = [generator]
        while (following := product(powers[-1], generator)) != generator:
            powers.append(following)
        if len(powers) == len(elements):
            return (powers[-1], *powers[:-1])  # the last is the neutral element
    return None
