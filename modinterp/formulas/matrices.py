"""Define representations of a finite group for formulas, as matrices in place of cosines, with numpy alone.

The matrices of all elements are products of the generators' matrices, so a formula's file holds only the generators'
matrices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray
LEAST_RANK = 1e-9  # relative singular value below which columns depend on one another


@dataclass(frozen=True)
class Walk:
    """A description of all elements of a group as products of generators.

    Attributes:
        identity: index of the neutral element.
        times: for each generator g, the index of x g for every element x.
    """

    identity: int
    times: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, table: Array, identity: int) -> Walk:
        """Choose few generators of a group, each so that it reaches the most new elements.

        Args:
            table: index of the product a b, `[a, b]`.
        """
        columns = [tuple(column) for column in table.T.tolist()]
        walk = cls(identity, ())
        while len(walk.steps) + 1 < len(table):
            walk = max((cls(identity, (*walk.times, x)) for x in columns), key=lambda tried: len(tried.steps))
        return walk

    @cached_property
    def steps(self) -> tuple[tuple[int, int, int], ...]:
        """Tuples (element, earlier element, position of a generator); the first element is the product of the earlier
        element and the generator.
        """
        order, found = [self.identity], {}
        for earlier in order:
            for place, times in enumerate(self.times):
                element = times[earlier]
                if element != self.identity and element not in found:
                    found[element] = (element, earlier, place)
                    order.append(element)
        return tuple(found.values())

    @property
    def generators(self) -> list[int]:
        """Indices of the generators."""
        return [times[self.identity] for times in self.times]

    def matrices(self, generators: Array) -> Array:
        """Compute the matrices of all elements from the matrices of the generators, `[generator, d, d]`."""
        found = np.zeros((len(self.steps) + 1, *generators.shape[1:]))
        found[self.identity] = np.eye(generators.shape[-1])
        for element, earlier, place in self.steps:
            found[element] = found[earlier] @ generators[place]
        return found


@dataclass(frozen=True, eq=False)
class Block:
    """One irreducible real representation of a group, whose matrix elements neurons read and write.

    The functions of a block are linear combinations of matrix elements in some columns. A rotation needs only the first
    of its two columns, since both columns span the same functions.

    Attributes:
        name: name of the representation, such as `standard`.
        matrices: orthogonal matrix rho of every element, `[element, d, d]`.
    """

    name: str
    matrices: Array

    @property
    def dim(self) -> int:
        """Number of rows of the matrices."""
        return self.matrices.shape[-1]

    @cached_property
    def character(self) -> Array:
        """The trace of every matrix."""
        return np.trace(self.matrices, axis1=1, axis2=2)

    @cached_property
    def multiplicity(self) -> int:
        """Mean square of the character: 1 for a real representation, 2 for a complex, 4 for a quaternionic one."""
        return round(float(np.square(self.character).mean()))

    @property
    def rank(self) -> int:
        """Number of linearly independent matrix elements."""
        return self.dim**2 // self.multiplicity

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """Columns of the matrices whose elements are independent and give all functions."""
        chosen: list[int] = []
        for column in range(self.dim):
            tried = self.matrices[:, :, [*chosen, column]].reshape(len(self.matrices), -1)
            size = np.linalg.svd(tried, compute_uv=False)
            if len(chosen) * self.dim < self.rank and (size > LEAST_RANK * size[0]).sum() == tried.shape[1]:
                chosen.append(column)
        return tuple(chosen)

    @cached_property
    def features(self) -> Array:
        """The matrix elements in the columns of the block, `[element, feature]`."""
        return self.matrices[:, :, self.columns].reshape(len(self.matrices), -1)

    @cached_property
    def inverse(self) -> Array:
        """Matrix that maps functions on the group to their coefficients, `[feature, element]`."""
        return np.linalg.pinv(self.features)

    def coefficients(self, functions: Array) -> Array:
        """Return the coefficients `[neuron, feature]` of functions `[element, neuron]` in this representation."""
        return (self.inverse @ functions).T

    def full(self, coefficients: Array) -> Array:
        """Return matrices F `[neuron, d, d]` such that trace(F^T rho(g)) is the function with given coefficients
        `[neuron, feature]`.
        """
        if len(self.columns) == self.dim:
            return coefficients.reshape(-1, self.dim, self.dim)
        factor = self.dim / (self.multiplicity * len(self.matrices))
        return factor * np.einsum("gf,nf,gij->nij", self.features, coefficients, self.matrices)

    def of_full(self, matrices: Array) -> Array:
        """Return the coefficients `[neuron, feature]` of the functions given by matrices `[neuron, d, d]`; the inverse
        of `full`.
        """
        if len(self.columns) == self.dim:
            return matrices.reshape(len(matrices), -1)
        return self.coefficients(np.einsum("nij,gij->gn", matrices, self.matrices))

    @property
    def has_vectors(self) -> bool:
        """True if rank-one matrices need fewer numbers, as in real representations of two or more dimensions."""
        return self.multiplicity == 1 and self.dim > 1


def by_name(blocks: Iterable[Block]) -> dict[str, Block]:
    """Return a map from the names of representations to the representations."""
    return {block.name: block for block in blocks}
