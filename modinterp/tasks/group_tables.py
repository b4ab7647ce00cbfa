"""Build multiplication tables of named finite groups, and check any table for the group axioms."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import permutations

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks.task import MOST_RESIDUES

KNOWN = "C113 (cyclic), D59 (dihedral, of order 118), S5 (symmetric), A5 (alternating), and products such as C2 x S3"
_FACTOR = re.compile(r"([CDSA])([1-9][0-9]{0,11})")
_PRODUCT = re.compile(r"\s*[x×]\s*")
_ORDERS: dict[str, Callable[[int], int]] = {
    "C": lambda n: n,
    "D": lambda n: 2 * n,
    "S": lambda n: math.factorial(min(n, 99)),
    "A": lambda n: max(1, math.factorial(min(n, 99)) // 2),
}


def factors(group: str) -> tuple[tuple[str, int], ...]:
    """Return the factors of a named group, each as a letter and a number.

    >>> factors("C2 x S3")
    (('C', 2), ('S', 3))

    Raises:
        ValueError: the name is unknown, or the group is too large for memory.
    """
    found = [_FACTOR.fullmatch(part) for part in _PRODUCT.split(group.strip())]
    if not all(found):
        raise ValueError(f"there is no group named {group!r}; known are {KNOWN}")
    pairs = tuple((m[1], int(m[2])) for m in found if m)
    order = math.prod(_ORDERS[letter](n) for letter, n in pairs)
    if not 2 <= order <= MOST_RESIDUES:
        words = f"{order:,}" if order < 10**12 else "more than 10^12"
        raise ValueError(
            f"{group} has order {words}, but all pairs must fit in memory: only orders from 2 to "
            f"{MOST_RESIDUES:,} are possible"
        )
    return pairs


@lru_cache(maxsize=16)
def named_group(group: str) -> tuple[tuple[str, ...], Int[Tensor, "a b"]]:
    """Return the elements of a named group in usual notation, and the group's multiplication table.

    The group C_n has the residues mod n with addition. The group D_n has order 2n; its element with index r + n s is
    the product of the r-th power of a rotation and the s-th power of a reflection. Permutations are sorted by their
    images, and a b means that a is applied first, then b. In a product of groups, the last factor varies fastest.

    >>> named_group("S3")[0]
    ('e', '(2 3)', '(1 2)', '(1 2 3)', '(1 3 2)', '(1 3)')

    Raises:
        ValueError: the name is unknown, or the group is too large for memory.
    """
    names, table = _factor(*factors(group)[0])
    for letter, n in factors(group)[1:]:
        others, more = _factor(letter, n)
        names = tuple(f"{a}, {b}" for a in names for b in others)
        m, k = len(table), len(more)
        table = (table[:, None, :, None] * k + more[None, :, None, :]).reshape(m * k, m * k)
    return names, table


def _factor(letter: str, n: int) -> tuple[tuple[str, ...], Int[Tensor, "a b"]]:
    x = torch.arange(n)
    if letter == "C":
        return tuple(map(str, range(n))), (x[:, None] + x) % n
    if letter == "D":
        plus, minus = (x[:, None] + x) % n, (x[:, None] - x) % n
        rotations = ("e", "r", *(f"r^{k}" for k in range(2, n)))[:n]
        reflections = ("s", *(f"{r} s" for r in rotations[1:]))
        return rotations + reflections, torch.cat(
            [torch.cat([plus, plus + n], dim=1), torch.cat([minus + n, minus], dim=1)]
        )
    images = [p for p in permutations(range(n)) if letter == "S" or parity(p) == 1]
    points = torch.tensor(images)
    place = torch.full((n**n,), -1)
    digits = n ** torch.arange(n - 1, -1, -1)
    place[(points * digits).sum(dim=1)] = torch.arange(len(images))
    rows = [place[(points[:, p] * digits).sum(dim=1)] for p in points]  # (a b)(i) = b(a(i))
    return tuple(map(cycles, images)), torch.stack(rows)


def parity(images: Sequence[int]) -> int:
    """Return 1 for an even permutation, and -1 for an odd permutation.

    >>> parity((1, 0, 2))
    -1
    """
    seen: set[int] = set()
    sign = 1
    for start in range(len(images)):
        length, i = 0, start
        while i not in seen:
            seen.add(i)
            i, length = images[i], length + 1
        sign = -sign if length and length % 2 == 0 else sign
    return sign


def cycles(images: Sequence[int]) -> str:
    """Write a permutation of 0, 1, ... in cycles of the numbers 1, 2, ...; the identity is `e`.

    >>> cycles((1, 2, 0, 4, 3))
    '(1 2 3)(4 5)'
    """
    seen: set[int] = set()
    written = []
    for start in range(len(images)):
        cycle, i = [], start
        while i not in seen:
            seen.add(i)
            cycle.append(i + 1)
            i = images[i]
        if len(cycle) > 1:
            written.append(f"({' '.join(map(str, cycle))})")
    return "".join(written) or "e"


def permutation(name: str, n: int) -> tuple[int, ...] | None:
    """Parse a permutation, written in cycles or as a row of images from 0 or 1, and return its images from 0.

    `permutation` returns None if the text is not a permutation of n points.

    >>> permutation("(1 2)", 3), permutation("1 0 2", 3), permutation("2 1 3", 3)
    ((1, 0, 2), (1, 0, 2), (1, 0, 2))
    """
    if name.strip() in ("e", "()"):
        return tuple(range(n))
    if re.fullmatch(r"(\(\d+([ ,]+\d+)*\)\s*)+", name.strip()):
        images = list(range(n))
        for cycle in re.findall(r"\(([^)]*)\)", name):
            points = [int(x) - 1 for x in re.findall(r"\d+", cycle)]
            if max(points) >= n or min(points) < 0 or len(set(points)) != len(points):
                return None
            for here, there in zip(points, points[1:] + points[:1], strict=True):
                images[here] = there
        return tuple(images) if sorted(images) == list(range(n)) else None
    numbers = [int(x) for x in re.findall(r"\d+", name)] if re.fullmatch(r"[\d\s,]+", name) else []
    if sorted(numbers) == list(range(n)):
        return tuple(numbers)
    return tuple(x - 1 for x in numbers) if sorted(numbers) == list(range(1, n + 1)) else None


def check_group(table: Int[Tensor, "a b"], names: Sequence[str]) -> None:
    """Raise ValueError, with the violated axiom and the elements, if a table is not a group's.

    Associativity is only tested with elements of a generating set in the middle, which suffices (Light's test).
    """
    n, everything = len(table), torch.arange(len(table))
    outside = ((table < 0) | (table >= n)).nonzero()
    if len(outside):
        a, b = outside[0].tolist()
        raise ValueError(
            f"this is not the table of a group: {names[a]} times {names[b]} is {int(table[a, b])}, which is "
            "not an element"
        )
    units = ((table == everything).all(dim=1) & (everything == table.T).all(dim=1)).nonzero().flatten()
    if not len(units):
        raise ValueError("this is not the table of a group: no element is neutral")
    unit = int(units[0])
    for b in _generators(table):
        wrong = (table[table[:, b]] != table[:, table[b]]).nonzero()
        if len(wrong):
            a, c = wrong[0].tolist()
            one, other = names[int(table[table[a, b], c])], names[int(table[a, table[b, c]])]
            x, y, z = names[a], names[b], names[c]
            raise ValueError(
                f"this is not the table of a group: multiplication is not associative, since ({x} {y}) {z} "
                f"is {one}, {x} ({y} {z}) {other}"
            )
    for has_inverse, side in (((table == unit).any(dim=1), "right"), ((table == unit).any(dim=0), "left")):
        if not has_inverse.all():
            a = int((~has_inverse).nonzero()[0])
            raise ValueError(f"this is not the table of a group: {names[a]} has no {side} inverse")


def _generators(table: Int[Tensor, "a b"]) -> list[int]:
    """Return a generating set: elements whose repeated products are all elements of the group."""
    reached, chosen = torch.zeros(len(table), dtype=torch.bool), []
    while not reached.all():
        chosen.append(int((~reached).nonzero()[0]))
        reached[chosen[-1]] = True
        while True:
            members = reached.nonzero().flatten()
            more = reached.index_fill(0, table[members][:, members].flatten().unique(), True)
            if torch.equal(more, reached):
                break
            reached = more
    return chosen
