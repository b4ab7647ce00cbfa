"""Compute the irreducible real representations of a finite group, as orthogonal matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.decomposition import regular_decomposition
from modinterp.analyses.groups.explicit import cyclic_irreps, dihedral_irreps, symmetric_irreps
from modinterp.tasks import Group

TRIVIAL, SIGN, STANDARD = "trivial", "sign", "standard"
KINDS = {1: "real", 2: "complex", 4: "quaternionic"}


@dataclass(frozen=True, eq=False)
class Irrep:
    """An irreducible representation over the real numbers: matrices with rho(a b) = rho(a) rho(b).

    Attributes:
        name: the usual name, such as `trivial`, `sign` or `standard`; a partition of n for S_n; `frequency k` for
            rotations by 2 pi k / n. Unnamed representations are called by their dimension and a letter, such as `3a`.
        matrices: the orthogonal matrix rho of every element, `[element, dim, dim]`.
    """

    name: str
    matrices: Float[Tensor, "element d d"]

    def __eq__(self, other: object) -> bool:
        """Return True if two representations have one name and equal matrices, also across processes."""
        return isinstance(other, Irrep) and self.name == other.name and torch.equal(self.matrices, other.matrices)

    def __hash__(self) -> int:
        return hash((self.name, self.matrices.shape))

    @property
    def dim(self) -> int:
        """Number of rows of the matrices."""
        return self.matrices.shape[1]

    @cached_property
    def character(self) -> Float[Tensor, " element"]:
        """The trace of the matrix of every element."""
        return self.matrices.diagonal(dim1=1, dim2=2).sum(dim=1)

    @cached_property
    def multiplicity(self) -> int:
        """The mean square of the character: 1 if the representation is irreducible over the complex numbers.

        The value is 2 for two conjugate complex representations, such as a rotation of a cyclic group. The value is 4
        for twice a quaternionic representation (Frobenius and Schur).
        """
        return round(float(self.character.square().mean()))

    @property
    def rank(self) -> int:
        """Dimension of the space that the matrix elements span: the squared dimension divided by `multiplicity`."""
        return self.dim**2 // self.multiplicity

    @cached_property
    def span(self) -> Float[Tensor, "component element"]:
        """An orthonormal basis of the functions that the matrix elements span, ordered by the matrices' columns."""
        n, rows = len(self.matrices), torch.empty(0, len(self.matrices), dtype=torch.float64)
        for column in self.matrices.permute(2, 1, 0) * (self.dim / n) ** 0.5:  # [d, element]
            rest = column - (column @ rows.T) @ rows
            if len(rows) < self.rank and float(rest.norm()) > 1e-6:
                columns, triangle = torch.linalg.qr(rest.T)
                rows = torch.cat([rows, (columns * triangle.diagonal().sign()).T])
        return rows

    def __repr__(self) -> str:
        kind = "" if self.multiplicity == 1 else f", {KINDS[self.multiplicity]}"
        return f"Irrep({self.name}, dim {self.dim}{kind})"


@checked
def irreps(task: Group) -> tuple[Irrep, ...]:
    """Return all irreducible real representations of a group, the trivial one first, in the task's order of elements.

    Cyclic and dihedral groups have rotations and reflections, and symmetric groups have Young's orthogonal form. For
    any other group, the regular representation is decomposed numerically.

    >>> [(rho.name, rho.dim) for rho in irreps(Group("S4"))]
    [('trivial', 1), ('standard', 3), ('(2, 2)', 2), ('standard x sign', 3), ('sign', 1)]

    Raises:
        ValueError: representations could not be separated in the regular representation.
    """
    return _irreps(task.group, task.products, task.elements)


@checked
def irrep(task: Group, name: str) -> Irrep:
    """Return the irreducible real representation with a given name.

    >>> irrep(Group("C7"), "frequency 3")
    Irrep(frequency 3, dim 2, complex)

    Raises:
        ValueError: the group has no real representation of this name. A complex or quaternionic representation appears
            as a real one of twice its dimension.
    """
    found = {rho.name: rho for rho in irreps(task)}
    if name not in found:
        shown = ", ".join(repr(rho) for rho in list(found.values())[:8]) + ", ..." * (len(found) > 8)
        raise ValueError(f"{task.group} has no representation {name!r} over the real numbers; it has {shown}")
    return found[name]


@lru_cache(maxsize=8)
def _irreps(group: str, products: tuple[int, ...], elements: tuple[str, ...]) -> tuple[Irrep, ...]:
    task = Group(group, products, elements)
    letter, n = task.factors[0] if len(task.factors) == 1 else ("", task.n)
    explicit = {"C": cyclic_irreps, "D": dihedral_irreps, "S": symmetric_irreps}
    if letter in explicit:
        places = task.standard_places
        return tuple(Irrep(name, x[places]) for name, x in explicit[letter](n).items())
    found = [Irrep("", x) for x in regular_decomposition(task.table)]
    found.sort(key=lambda rho: (rho.dim, [-round(x, 6) for x in rho.character.tolist()]))
    names = _names(task, found)
    return tuple(Irrep(name, rho.matrices) for name, rho in zip(names, found, strict=True))


def _names(task: Group, found: list[Irrep]) -> list[str]:
    dims = [rho.dim for rho in found]
    letters = {d: iter("abcdefghijklmnopqrstuvwxyz") if dims.count(d) <= 26 else (f".{k}" for k in count(1))
               for d in dims}  # fmt: skip
    names = []
    for rho in found:
        if bool((rho.character - 1).abs().max() < 1e-6):
            names.append(TRIVIAL)
        elif _is_standard(task, rho):
            names.append(STANDARD)
        else:
            names.append(str(rho.dim) + (str(next(letters[rho.dim])) if dims.count(rho.dim) > 1 else ""))
    return names


def _is_standard(task: Group, rho: Irrep) -> bool:
    """Return True if the character of a representation of A_n is the number of fixed points minus 1."""
    if len(task.factors) != 1 or task.factors[0][0] != "A":
        return False
    n = task.factors[0][1]
    moved = [sum(c.isdigit() for c in task.written(g)) for g in range(task.n)]
    fixed = torch.tensor([n - m - 1 for m in moved], dtype=torch.float64)
    return n < 10 and bool((rho.character - fixed).abs().max() < 1e-6)
