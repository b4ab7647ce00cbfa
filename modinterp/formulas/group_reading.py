"""Project all numbers of a group network's formula from its activations and weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modinterp.analyses.fourier.neurons import SMALLEST_CLUSTER
from modinterp.formulas.group_formula import GroupCluster, GroupFormula, GroupPath, direction
from modinterp.formulas.matrices import Array, Block, Walk, by_name
from modinterp.formulas.reading import inputs_of
from modinterp.formulas.waves import ACTIVATIONS
from modinterp.measurements import GroupMeasurements
from modinterp.measurements.network import NoSuchPart

CONSTANT = 1e-9  # share of the largest variance of an input, below which an input is constant
ADDITIVE = 1e-9  # share of the inputs' variance that is no sum of a function of a and one of b, where there are none
TERMS_OF_PATH = ("constant", "a", "b", "a b")


def basis_of(m: GroupMeasurements) -> tuple[Walk, dict[str, Block]]:
    """Return the elements as products of generators, and the nontrivial representations by name."""
    walk = Walk.of(m.task.table.numpy(), m.task.identity)
    blocks = by_name(Block(rho.name, rho.matrices.numpy()) for rho in m.basis.all_blocks)
    return walk, blocks


@dataclass(frozen=True, eq=False)
class GroupReading:
    """The data from which the formulas of a network on a group are written.

    Attributes:
        walk, blocks: generators and representations of the group.
        keys: names of the key representations, and of other representations with five or more neurons.
        logits: logits of all pairs, `[a, b, class]`.
        act_fn: nonlinearity of the neurons.
        pre: inputs of the last layer's neurons, `[a, b, neuron]`.
        W_L: map from neurons to logits, `[neuron, class]`.
        own: name of each neuron's representation; empty for a neuron whose input is constant.
    """

    walk: Walk
    blocks: dict[str, Block]
    keys: tuple[str, ...]
    logits: Array
    act_fn: str
    pre: Array
    W_L: Array
    own: tuple[str, ...]

    sign = 1

    @classmethod
    def of(cls, m: GroupMeasurements) -> GroupReading:
        """Read the data for formulas from a network.

        Raises:
            NoSuchPart: the network exposes no neurons, has no W_L, an unknown nonlinearity, or only neurons with
                constant input.
        """
        act_fn, pre = inputs_of(m)
        walk, blocks = basis_of(m)
        found = pre.numpy()
        own = _own(found, blocks)
        if not any(own):
            raise NoSuchPart(f"no neuron of {m.name} has an input that varies over the pairs")
        large = {name for name in own if name and own.count(name) >= SMALLEST_CLUSTER}
        keys = tuple(name for name in blocks if name in {*m.key_names, *large})
        logits, W_L = (x.detach().double().cpu().numpy() for x in (m.logits, m.W_L))
        return cls(walk, blocks, keys, logits, act_fn, found, W_L, own)

    @property
    def p(self) -> int:
        """Number of elements of the group."""
        return len(self.logits)

    @cached_property
    def act(self) -> Array:
        """The neurons after their nonlinearity, `[a, b, neuron]`."""
        return ACTIVATIONS[self.act_fn](self.pre)

    @cached_property
    def constant(self) -> Array:
        """Mean input of each neuron over all pairs."""
        return self.pre.mean(axis=(0, 1))

    @cached_property
    def by_element(self) -> tuple[Array, Array]:
        """Centred mean input of each neuron by the first element, and by the second element, `[element, neuron]`."""
        return self.pre.mean(axis=1) - self.constant, self.pre.mean(axis=0) - self.constant

    @cached_property
    def is_additive(self) -> bool:
        """True if inputs of neurons are sums of a function of a and a function of b."""
        left = self.pre - self.constant - self.by_element[0][:, None] - self.by_element[1]
        return float(np.square(left).sum()) <= ADDITIVE * float(np.square(self.pre - self.constant).sum())

    def members(self) -> Iterator[tuple[Block, Array]]:
        """Yield each representation with the indices of its neurons."""
        for name, block in self.blocks.items():
            if name in self.own:
                yield block, np.array([n for n, own in enumerate(self.own) if own == name])

    def inputs(self, neurons: Array, names: Iterable[str]) -> dict[str, Array]:
        """Return the coefficients of some representations of a and of b in the inputs of some neurons."""
        return {
            f"{of}: {name}": self.blocks[name].coefficients(x[:, neurons])
            for name in names for of, x in zip("ab", self.by_element, strict=True)
        }  # fmt: skip

    def products(self, neurons: Array, name: str) -> Array:
        """Return the coefficients of products of matrix elements of a and of b, `[neuron, feature x feature]`."""
        block = self.blocks[name]
        found = np.einsum("xa,abn,yb->nxy", block.inverse, self.pre[:, :, neurons], block.inverse, optimize=True)
        return found.reshape(len(neurons), -1)

    def outputs(self, neurons: Array, names: Iterable[str]) -> dict[str, Array]:
        """Return the coefficients of some representations in the outputs of some neurons."""
        return {name: self.blocks[name].coefficients(self.W_L[neurons].T) for name in names}

    def cluster(self, block: Block, neurons: Array) -> GroupCluster:
        """Return the neurons of one representation as a part of a formula, with the inputs and outputs in this
        representation.
        """
        return GroupCluster(
            block, self.constant[neurons], self.inputs(neurons, [block.name]), self.outputs(neurons, [block.name]),
            blocks=self.blocks, neurons=tuple(neurons.tolist()),
        )  # fmt: skip

    def passing(self) -> Array:
        """Return the part of the logits that does not come from neurons, `[a, b, class]`."""
        return self.logits - self.act @ self.W_L

    def paths(self) -> tuple[GroupPath, ...]:
        """Return the path around the neurons, in the key representations."""
        logits, found = self.passing(), []
        for name in self.keys:
            block = self.blocks[name]
            of_class = logits @ block.inverse.T  # [a, b, feature]
            for term in TERMS_OF_PATH:
                empty = GroupPath(block, term, np.zeros((1, 1)))
                x = np.arange(self.p)
                of_pair = empty.of_pair(*np.broadcast_arrays(x[:, None], x)).reshape(self.p**2, -1)
                # features of different columns are orthogonal for each but complex and quaternionic representations
                solved = np.linalg.pinv(of_pair.T @ of_pair) @ (of_pair.T @ of_class.reshape(self.p**2, -1))
                found.append(GroupPath(block, term, solved))
        return tuple(found)

    def empty(self) -> GroupFormula:
        """Return a formula for this network without any terms, to which terms are added."""
        return GroupFormula(self.walk, self.act_fn, self.blocks)


def _own(pre: Array, blocks: dict[str, Block]) -> tuple[str, ...]:
    """Return the representation that holds most of each neuron's input; empty for a constant neuron."""
    both = np.concatenate([pre.mean(axis=1), pre.mean(axis=0)], axis=-1)
    both = both - both.mean(axis=0)
    energies = [np.square(block.features @ (block.inverse @ both)).sum(axis=0) for block in blocks.values()]
    of_neuron = np.stack(energies).reshape(len(blocks), 2, -1).sum(axis=1)
    names, size = list(blocks), pre.var(axis=(0, 1))
    live = (size > CONSTANT * size.max()) & (of_neuron.max(axis=0) > 0)
    return tuple(names[k] if is_live else "" for k, is_live in zip(of_neuron.argmax(axis=0), live, strict=True))


def as_vectors(cluster: GroupCluster) -> GroupCluster:
    """Replace a cluster's input matrices by the three nearest vectors, and its outputs by coefficients along their
    product.

    The vector y is the common direction of A and B: the first right singular vector of A stacked on B transposed.
    Clusters of representations of rank one, and of complex and quaternionic representations, keep the matrices A and B.
    """
    a, b = cluster.own()
    inputs, vectors = dict(cluster.inputs), None
    if cluster.block.has_vectors:
        y = np.linalg.svd(np.concatenate([a, b.transpose(0, 2, 1)], axis=1), full_matrices=False)[2][:, 0]
        vectors = np.stack([np.einsum("nij,nj->ni", a, y), y, np.einsum("nji,nj->ni", b, y)])
        inputs = {term: x for term, x in inputs.items() if term not in (f"a: {cluster.freq}", f"b: {cluster.freq}")}
    cut = GroupCluster(cluster.block, cluster.constant, inputs, {}, vectors, None, cluster.blocks, cluster.neurons)
    along = direction(*cut.own())
    written = cluster.block.full(cluster.outputs[cluster.freq])
    size = np.square(along).sum(axis=(1, 2))
    projected = np.divide((written * along).sum(axis=(1, 2)), size, out=np.zeros(len(size)), where=size > 0)
    others = {name: x for name, x in cluster.outputs.items() if name != cluster.freq}
    return GroupCluster(cluster.block, cluster.constant, inputs, others, vectors, projected, cluster.blocks,
                        cluster.neurons)  # fmt: skip


def in_square(block: Block, blocks: Iterable[Block]) -> list[str]:
    """Return the names of other representations that occur in products of two matrix elements of one representation.

    For frequency k of a cyclic group, the only other representation in the products is frequency 2k.
    """
    square = np.square(block.character)
    return [x.name for x in blocks if x is not block and abs(float((square * x.character).mean())) > 1e-6]
