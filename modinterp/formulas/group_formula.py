"""Write a network over pairs of group elements as matrices of representations, evaluated by numpy alone.

A neuron of a representation rho has the input ``u = constant + tr(A^T rho(a)) + tr(B^T rho(b))`` and adds ``act(u)
tr(C^T rho(c))`` to the logit of class c. In the shortest form A = x y^T, B = y z^T and C is along x z^T: the neuron
reads ``x.rho(a) y`` and ``y.rho(b) z``. For a cyclic group these matrices are the waves of `waves`, with phases that
add.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modinterp.formulas.matrices import Array, Block, Walk, by_name
from modinterp.formulas.waves import ACTIVATIONS, PAIRS_AT_ONCE, significant, to_bits

Rounding = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class GroupCluster:
    """Neurons of one representation in a formula, whose inputs and outputs have the same kinds of terms.

    Attributes:
        block: representation of the neurons.
        constant: constant part of every neuron's input, `[neuron]`.
        inputs: map from `a: NAME`, `b: NAME` or `a, b: NAME` to coefficients `[neuron, feature]`. The columns of these
            coefficients are matrix elements of the named representation for a, for b, or products of both.
        outputs: map from the name of a representation to the coefficients of the neurons' outputs, `[neuron, feature]`.
        vectors: vectors x, y and z, `[3, neuron, d]`, if the neurons' inputs are x.rho(a) y and y.rho(b) z.
        along: coefficient of each neuron's output along the product of its input matrices A and B; None without such a
            part.
        blocks: the representations by their names.
        neurons: index of each neuron in the network.
    """

    block: Block
    constant: Array
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    vectors: Array | None = None
    along: Array | None = None
    blocks: Mapping[str, Block] = field(default_factory=dict, repr=False)
    neurons: tuple[int, ...] = ()

    @property
    def freq(self) -> str:
        """Name of the representation, which has the role of the frequency."""
        return self.block.name

    @property
    def size(self) -> int:
        """Number of neurons of the cluster."""
        return len(self.constant)

    @property
    def numbers(self) -> int:
        """The number of parameters of the neurons, including their representation, their number, and their kinds of
        terms.
        """
        some = [self.constant, *self.inputs.values(), *self.outputs.values()]
        return 3 + sum(x.size for x in (*some, self.vectors, self.along) if x is not None)

    def own(self) -> tuple[Array, Array]:
        """Return the matrices A and B of every neuron, `[neuron, d, d]`."""
        if self.vectors is not None:
            x, y, z = self.vectors
            return x[:, :, None] * y[:, None], y[:, :, None] * z[:, None]
        zero = np.zeros((self.size, self.block.rank))
        found = [self.block.full(self.inputs.get(f"{of}: {self.freq}", zero)) for of in "ab"]
        return found[0], found[1]

    def input(self, a: Array, b: Array, p: int) -> Array:
        """Return the inputs of the neurons for pairs of elements, `[..., neuron]`."""
        own = () if self.vectors is None else zip("ab", map(self.block.of_full, self.own()), strict=True)
        every = {**self.inputs, **{f"{of}: {self.freq}": matrices for of, matrices in own}}
        u = self.constant
        for term, coefficients in every.items():
            of, name = split(term)
            features = self.blocks[name].features
            if of == "a, b":
                both = features[a][..., :, None] * features[b][..., None, :]
                u = u + both.reshape(*both.shape[:-2], -1) @ coefficients.T
            else:
                u = u + (features @ coefficients.T)[a if of == "a" else b]
        return u

    def output(self, p: int) -> Array:
        """Return the output of each neuron to every class, `[neuron, class]`."""
        names = dict.fromkeys((self.freq, *self.outputs))
        return np.sum([self.written(name) for name in names], axis=0)

    def written(self, name: str) -> Array:
        """Return the outputs of the neurons in one representation, `[neuron, class]`."""
        block = self.blocks[name]
        written = np.zeros((self.size, len(block.matrices)))
        if name in self.outputs:
            written += self.outputs[name] @ block.features.T
        if self.along is not None and name == self.freq:
            written += self.along[:, None] * (block.of_full(direction(*self.own())) @ block.features.T)
        return written

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        data: dict[str, Any] = {"block": self.freq, "constant": significant(self.constant)}
        if self.vectors is not None:
            data["vectors"] = {name: list(map(significant, x)) for name, x in zip("xyz", self.vectors, strict=True)}
        data["inputs"] = {term: list(map(significant, x)) for term, x in self.inputs.items()}
        if self.along is not None:
            data["along"] = significant(self.along)
        outputs = {name: list(map(significant, x)) for name, x in self.outputs.items()}
        return data | {"outputs": outputs, "neurons": list(self.neurons)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any], blocks: Mapping[str, Block]) -> GroupCluster:
        """Rebuild the neurons from the result of `to_json`."""
        inputs, outputs = ({key: np.array(x) for key, x in data[part].items()} for part in ("inputs", "outputs"))
        vectors = np.array([data["vectors"][name] for name in "xyz"]) if "vectors" in data else None
        along = np.array(data["along"]) if "along" in data else None
        return cls(blocks[data["block"]], np.array(data["constant"]), inputs, outputs, vectors, along, blocks,
                   tuple(data.get("neurons", ())))  # fmt: skip

    def mapped(self, rounded: Rounding) -> GroupCluster:
        """Apply a function to each array of the cluster."""
        inputs, outputs = ({key: rounded(x) for key, x in part.items()} for part in (self.inputs, self.outputs))
        vectors = None if self.vectors is None else rounded(self.vectors)
        along = None if self.along is None else rounded(self.along)
        return GroupCluster(self.block, rounded(self.constant), inputs, outputs, vectors, along, self.blocks,
                            self.neurons)  # fmt: skip


def split(term: str) -> tuple[str, str]:
    """Split the name of an input term into its variable (`a`, `b` or `a, b`) and the name of its representation."""
    of, _, name = term.partition(": ")
    return of, name


def direction(a: Array, b: Array) -> Array:
    """Return products of matrices `[neuron, d, d]`, normalised to a sum of squares of 1; zero products stay zero."""
    product = a @ b
    norm = np.sqrt(np.square(product).sum(axis=(1, 2), keepdims=True))
    return np.divide(product, norm, out=np.zeros_like(product), where=norm > 0)


@dataclass(frozen=True, eq=False)
class GroupPath:
    """The path to the logits around the neurons: products of a matrix element of the pair and a matrix element of the
    class.

    Attributes:
        block: representation of the class and of the pair.
        term: variable of the pair's matrix elements: `constant`, `a`, `b` or `a b`.
        coefficients: coefficient of each product, `[feature of the pair, feature of the class]`.
    """

    block: Block
    term: str
    coefficients: Array

    @property
    def numbers(self) -> int:
        """The number of parameters of the path."""
        return self.coefficients.size

    def of_pair(self, a: Array, b: Array) -> Array:
        """Return the features of the pair in this path, `[..., feature]`."""
        if self.term == "constant":
            return np.ones((*a.shape, 1))
        if self.term == "a b":
            product = self.block.matrices[a] @ self.block.matrices[b]
            return product[..., self.block.columns].reshape(*a.shape, -1)
        return self.block.features[a if self.term == "a" else b]


@dataclass(frozen=True, eq=False)
class GroupFormula:
    """A network over pairs of elements of a group, a function of (a, b) that returns the logits of all classes.

    Attributes:
        walk: description of all elements as products of generators.
        act_fn: nonlinearity of the neurons, a key of `ACTIVATIONS`.
        blocks: the representations that occur in the formula.
        alphas: map from the name of a representation to the coefficient of its character of a b c^-1 in the logits.
        clusters: groups of neurons with the same representation and the same kinds of terms.
        path: matrix elements that reach the logits without passing through neurons.
    """

    walk: Walk
    act_fn: str = "relu"
    blocks: Mapping[str, Block] = field(default_factory=dict, repr=False)
    alphas: Mapping[str, float] = field(default_factory=dict)
    clusters: tuple[GroupCluster, ...] = ()
    path: tuple[GroupPath, ...] = ()

    sign = 1

    @property
    def p(self) -> int:
        """Number of elements of the group."""
        return len(self.walk.steps) + 1

    @property
    def numbers(self) -> int:
        """The number of parameters of the formula; matrices of representations belong to the group and do not count."""
        names = len({x.block.name for x in self.path})
        return 2 * len(self.alphas) + sum(x.numbers for x in (*self.clusters, *self.path)) + names

    @property
    def neurons(self) -> int:
        """The number of neurons of the formula."""
        return sum(cluster.size for cluster in self.clusters)

    def __call__(self, a: Array | int, b: Array | int) -> Array:
        """Return the logits `[..., class]` of pairs of elements, given by their indices."""
        a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
        logits = np.zeros((*a.shape, self.p))
        for name, alpha in self.alphas.items():
            rho = self.blocks[name].matrices
            product = (rho[a] @ rho[b]).reshape(*a.shape, -1)
            logits += alpha * product @ rho.reshape(self.p, -1).T
        for cluster in self.clusters:
            logits += ACTIVATIONS[self.act_fn](cluster.input(a, b, self.p)) @ cluster.output(self.p)
        for one in self.path:
            logits += one.of_pair(a, b) @ one.coefficients @ one.block.features.T
        return logits

    def grid(self) -> Array:
        """Return the logits of all pairs, `[a, b, class]`."""
        x = np.arange(self.p)
        rows = max(1, PAIRS_AT_ONCE // self.p)
        return np.concatenate([self(x[i : i + rows, None], x[None]) for i in range(0, self.p, rows)])

    def used(self) -> set[str]:
        """Return the names of the representations that occur in the formula."""
        terms = {split(term)[1] for x in self.clusters for term in x.inputs}
        outputs = {name for x in self.clusters for name in (x.freq, *x.outputs)}
        return terms | outputs | set(self.alphas) | {x.block.name for x in self.path}

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `of_json` rebuilds the formula."""
        places, times = self.walk.generators, [list(x) for x in self.walk.times]
        data: dict[str, Any] = {"identity": self.walk.identity, "times": times, "act_fn": self.act_fn}
        data["steps"] = [list(x) for x in self.walk.steps]  # which follow from `times`, for the exported program
        data["blocks"] = {
            name: {"generators": np.round(block.matrices[places], 12).tolist(), "columns": list(block.columns)}
            for name, block in self.blocks.items() if name in self.used()
        }  # fmt: skip
        data["alphas"] = dict(zip(self.alphas, significant(list(self.alphas.values())), strict=True))
        data["clusters"] = [x.to_json() for x in self.clusters]
        data["path"] = [
            {"block": x.block.name, "term": x.term, "coefficients": list(map(significant, x.coefficients))}
            for x in self.path
        ]
        return data

    @classmethod
    def of_json(cls, data: Mapping[str, Any] | str) -> GroupFormula:
        """Rebuild a formula from the result of `to_json`, or from its JSON text."""
        if isinstance(data, str):
            data = json.loads(data)
        walk = Walk(data["identity"], tuple(map(tuple, data["times"])))
        blocks = by_name(Block(name, walk.matrices(np.array(x["generators"]))) for name, x in data["blocks"].items())
        clusters = tuple(GroupCluster.of_json(x, blocks) for x in data["clusters"])
        path = tuple(GroupPath(blocks[x["block"]], x["term"], np.array(x["coefficients"])) for x in data["path"])
        return cls(walk, data["act_fn"], blocks, data["alphas"], clusters, path)

    def rounded(self, bits: int) -> GroupFormula:
        """Round every number of the formula to a number of bits, within its array's range."""
        rounded = to_bits(bits)
        alphas = dict(zip(self.alphas, rounded(np.array(list(self.alphas.values()))).tolist(), strict=True))
        clusters = tuple(x.mapped(rounded) for x in self.clusters)
        path = tuple(GroupPath(x.block, x.term, rounded(x.coefficients)) for x in self.path)
        return GroupFormula(self.walk, self.act_fn, self.blocks, alphas, clusters, path)
