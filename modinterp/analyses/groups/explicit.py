"""Construct the representations of cyclic, dihedral and symmetric groups from explicit formulas."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.tasks.group_tables import named_group

Matrices = Float[Tensor, "element d d"]


def _one(values: Tensor) -> Matrices:
    return values.double().view(-1, 1, 1)


def _turns(n: int, freq: int) -> Matrices:
    """Return rotations by 2 pi freq x / n for x from 0 to n - 1; freq x is reduced mod n first, for precision."""
    angles = 2 * torch.pi / n * (freq * torch.arange(n) % n).double()
    c, s = angles.cos(), angles.sin()
    return torch.stack([torch.stack([c, -s], dim=1), torch.stack([s, c], dim=1)], dim=1)


@checked
def cyclic_irreps(n: int) -> dict[str, Matrices]:
    """Irreducible representations of C_n: trivial, a rotation for each frequency below n / 2, and (-1)^x for even n."""
    found = {"trivial": _one(torch.ones(n))}
    found |= {f"frequency {k}": _turns(n, k) for k in range(1, (n + 1) // 2)}
    return found | ({"sign": _one(1 - 2 * (torch.arange(n) % 2))} if n % 2 == 0 else {})


@checked
def dihedral_irreps(n: int) -> dict[str, Matrices]:
    """Irreducible representations of D_n: trivial, sign, and rotations with reflections for each frequency below n / 2.

    If n is even, (-1)^r and (-1)^r times the sign are also one-dimensional representations.
    """
    mirror = torch.cat([torch.ones(n), -torch.ones(n)])
    found = {"trivial": _one(torch.ones(2 * n)), "sign": _one(mirror)}
    if n % 2 == 0:
        alternating = 1 - 2 * (torch.arange(2 * n) % n % 2)
        found |= {"alternating": _one(alternating), "alternating x sign": _one(alternating * mirror)}
    s = torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64))
    turns = {k: _turns(n, k) for k in range(1, (n + 1) // 2)}
    return found | {f"frequency {k}": torch.cat([turn, turn @ s]) for k, turn in turns.items()}


@checked
def partitions(n: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of n, from (n,) down to (1, ..., 1).

    >>> list(partitions(4))
    [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    """
    for first in range(min(n, largest or n), 0, -1):
        yield from ((first, *rest) for rest in (partitions(n - first, first) if n > first else [()]))


@checked
def standard_tableaux(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the standard tableaux of a shape, each as the list of the rows of 1, 2, ..."""
    return list(_tableaux(shape))


def _tableaux(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if sum(shape) == 0:
        yield ()
    for row, length in enumerate(shape):
        if length > (shape[row + 1] if row + 1 < len(shape) else 0):
            smaller = (*shape[:row], length - 1, *shape[row + 1 :])
            yield from ((*tableau, row) for tableau in _tableaux(smaller))


def _contents(tableau: tuple[int, ...]) -> list[int]:
    """Return the contents of a tableau: column minus row of 1, 2, ..."""
    lengths: dict[int, int] = {}
    contents = []
    for row in tableau:
        contents.append(lengths.get(row, 0) - row)
        lengths[row] = lengths.get(row, 0) + 1
    return contents


@checked
def young_transpositions(shape: tuple[int, ...]) -> Float[Tensor, "transposition d d"]:
    """Return the matrices of (1 2), (2 3), ... in Young's orthogonal form of a partition.

    Let r be the distance of i and i + 1 along the diagonals of a tableau. The transposition (i i+1) has 1 / r on the
    diagonal, and sqrt(1 - 1 / r^2) at the tableau with i and i + 1 exchanged.
    """
    tableaux = standard_tableaux(shape)
    place = {tableau: k for k, tableau in enumerate(tableaux)}
    matrices = torch.zeros(sum(shape) - 1, len(tableaux), len(tableaux), dtype=torch.float64)
    for k, tableau in enumerate(tableaux):
        contents = _contents(tableau)
        for i in range(sum(shape) - 1):
            r = contents[i + 1] - contents[i]
            matrices[i, k, k] = 1 / r
            swapped = place.get((*tableau[:i], tableau[i + 1], tableau[i], *tableau[i + 2 :]))
            if swapped is not None and swapped != k:
                matrices[i, swapped, k] = (1 - 1 / r**2) ** 0.5
    return matrices


def _words(n: int) -> list[list[tuple[int, int, int]]]:
    """List the elements of S_n by length: the index of each, the index of a shorter element, and the transposition
    between.
    """
    names, table = named_group(f"S{n}")
    steps = [names.index(f"({i} {i + 1})") for i in range(1, n)]
    seen, levels, last = {0}, [], [0]
    while len(seen) < len(names):
        level = []
        for a in last:
            for i, step in enumerate(steps):
                if (c := int(table[a, step])) not in seen:
                    seen.add(c)
                    level.append((c, a, i))
        levels.append(level)
        last = [c for c, _, _ in level]
    return levels


@checked
def symmetric_irreps(n: int) -> dict[str, Matrices]:
    """Irreducible representations of S_n, n at least 2: one for each partition of n, in Young's orthogonal form."""
    short = {(n,): "trivial", (1,) * n: "sign", (n - 1, 1): "standard", (2,) + (1,) * (n - 2): "standard x sign"}
    if n <= 3:
        short = {(n,): "trivial", (2, 1): "standard", (1,) * n: "sign"}
    levels, found = _words(n), {}
    for shape in partitions(n):
        steps = young_transpositions(shape)
        matrices = torch.eye(steps.shape[1], dtype=torch.float64).repeat(len(named_group(f"S{n}")[0]), 1, 1)
        for level in levels:
            c, a, i = torch.tensor(level).T
            matrices[c] = matrices[a] @ steps[i]
        found[short.get(shape, str(shape))] = matrices
    return found
