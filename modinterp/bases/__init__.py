"""Define the bases in which networks over pairs are analysed: frequencies for addition, representations for groups."""

from __future__ import annotations

from modinterp.bases.basis import GAP, KEY_ENERGY, Basis
from modinterp.bases.frequency_basis import Frequencies
from modinterp.bases.representation_basis import Representations
from modinterp.tasks import Cyclic, Group, Task, cyclic

__all__ = ["GAP", "KEY_ENERGY", "Basis", "Frequencies", "Representations", "basis_of"]


def basis_of(task: Task) -> Frequencies | Representations:
    """Return the basis of a task over pairs: representations for a group, and frequencies for all other tasks.

    If a task is not an addition under any relabelling, its numbers keep their order and `is_operation` is False.

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
