"""Build the ladder of formulas of a network on a group, with matrices in place of cosines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from modinterp.analyses.groups import characters
from modinterp.formulas.compact import Effects
from modinterp.formulas.group_formula import GroupCluster, GroupFormula, GroupPath, split
from modinterp.formulas.group_reading import GroupReading, as_vectors, basis_of, in_square
from modinterp.formulas.ladder import MOST_READ, Step
from modinterp.formulas.matrices import Array
from modinterp.measurements import GroupMeasurements

ASSUMPTIONS = {
    "answers": "The logits are characters of a b c^-1; the formula does not describe the neurons.",
    "phases": (
        "A neuron has three vectors x, y and z: it reads x.rho(a) y and y.rho(b) z of one representation, and "
        "writes x.rho(c) z. For a complex representation, a neuron has two matrices and writes their product."
    ),
    "waves": "A neuron reads any matrix elements of rho(a) and rho(b) of one representation, and writes any of rho(c).",
    "double": "A neuron also reads the representations that occur in the square of its own representation.",
    "products": "A neuron also reads products of matrix elements of rho(a) and rho(b).",
    "path": "Matrix elements of the key representations also reach the logits by the skip around the neurons.",
    "keys": (
        "A neuron writes all key representations, and all representations of five neurons or more, not only its own."
    ),
    "reads": "A neuron also reads the other key representations.",
    "compact": "The matrices that change the network's logits the least are left out of the formula.",
}
READ_FROM = {
    "representation of a neuron": "the largest part of its mean input by a and by b, among all representations",
    "matrices of inputs": "the neuron's mean input by a, and by b, projected onto the matrix elements",
    "products of inputs": "the neuron's input over all pairs, projected onto products of matrix elements",
    "matrices of outputs": "the neuron's row of W_L = W_out W_U, projected onto the matrix elements of the class",
    "vectors": "the first singular vectors of the matrices of inputs",
    "paths of a group": (
        "the logits minus neurons times W_L, projected onto products of matrix elements of the pair and of the class"
    ),
    "characters": "the logits over all pairs, projected onto the character of a b c^-1 of each key representation",
}
NEURONS = ("representation of a neuron", "matrices of inputs", "matrices of outputs")


def answers(m: GroupMeasurements) -> Step:
    """Return the formula of the logits as characters of the key representations."""
    walk, blocks = basis_of(m)
    found = characters.fitted(m.logits, m.task, m.keys).tolist()
    formula = GroupFormula(walk, "relu", blocks, dict(zip(m.key_names, found, strict=True)))
    return Step("answers", ASSUMPTIONS["answers"], formula, inside=False, read_from=("characters",))


def steps(r: GroupReading, most: int) -> Iterator[Step | tuple[str, str]]:
    """Return the formulas of a network with neurons, shortest first, and (key, reason) for each formula that does not
    exist.

    Args:
        most: number of weights of the network; every formula must have fewer numbers.
    """

    def step(key: str, clusters: tuple[GroupCluster, ...], path: tuple[GroupPath, ...] = ()) -> Step:
        more = ("paths of a group",) * bool(path) + ("vectors",) * (key == "phases")
        more += ("products of inputs",) * any(x.startswith("a, b") for one in clusters for x in one.inputs)
        formula = replace(r.empty(), clusters=clusters, path=path)
        return Step(key, ASSUMPTIONS[key], formula, read_from=(*NEURONS, *more))

    own = tuple(r.cluster(block, neurons) for block, neurons in r.members())
    yield step("phases", tuple(map(as_vectors, own)))
    yield step("waves", own)
    now, squares = own, {x.freq: in_square(x.block, r.blocks.values()) for x in own}
    if any(_are_most(r, (name, *others)) for name, others in squares.items()):
        yield "double", ("squares of representations have most of all matrix elements, and these can fit any function")
    else:
        now = tuple(_reading(r, x, squares[x.freq]) for x in own)
        yield step("double", now)
    with_products = tuple(_with_products(r, x) for x in now)
    size = step("products", with_products).formula.numbers
    if r.is_additive:
        yield "products", "inputs of neurons are sums of a function of a and a function of b"
    elif size >= most:
        yield "products", f"the formula would have {size:,} numbers, more than the network"
    else:
        now = with_products
        yield step("products", now)
    past = r.paths() if np.abs(r.passing()).max() > 1e-9 * np.abs(r.logits).max() else ()
    if past:
        yield step("path", now, past)
    else:
        yield "path", "no path leads to the logits around the neurons"
    now = tuple(replace(x, outputs=r.outputs(np.array(x.neurons), dict.fromkeys((x.freq, *r.keys)))) for x in now)
    yield step("keys", now, past)
    if _are_most(r, r.keys):
        yield "reads", "key representations have most of all matrix elements, and these can fit any function"
    else:
        yield step("reads", tuple(_reading(r, x, r.keys) for x in now), past)


def _are_most(r: GroupReading, names: Iterable[str]) -> bool:
    """Return True if the matrix elements of some representations span most of all functions on the group."""
    return sum(r.blocks[name].rank for name in names) > MOST_READ * (r.p - 1)


def _reading(r: GroupReading, cluster: GroupCluster, names: list[str] | tuple[str, ...]) -> GroupCluster:
    """Return the cluster with other representations of a and of b in its inputs."""
    others = [name for name in names if f"a: {name}" not in cluster.inputs]
    return replace(cluster, inputs={**cluster.inputs, **r.inputs(np.array(cluster.neurons), others)})


def _with_products(r: GroupReading, cluster: GroupCluster) -> GroupCluster:
    found = r.products(np.array(cluster.neurons), cluster.freq)
    return replace(cluster, inputs={**cluster.inputs, f"a, b: {cluster.freq}": found})


def at_threshold(formula: GroupFormula, effects: Effects, least: float) -> GroupFormula:
    """Return the formula without matrices, neurons and paths whose mean square effect per number is below a threshold.

    If three vectors nearly make the two matrices of a neuron's inputs, the three vectors replace the matrices. The
    output of each neuron in its own representation becomes a coefficient along the product of the three vectors.

    Args:
        least: the threshold: mean square change of the logits per number. [logits^2]
    """
    clusters = [part for cluster in formula.clusters for part in _thinned(cluster, effects, least)]
    path = tuple(x for x in formula.path if _of_path(x) / x.numbers >= least)
    return replace(formula, clusters=tuple(clusters), path=path)


def _of_path(path: GroupPath) -> float:
    return float(np.square(path.coefficients).mean())


def _thinned(cluster: GroupCluster, effects: Effects, least: float) -> Iterator[GroupCluster]:
    """Return the remaining neurons, in clusters of neurons with the same parts."""
    neurons, block, short = np.array(cluster.neurons), cluster.block, as_vectors(cluster)
    gain = effects.written[neurons] ** 2 * effects.open[neurons]
    deviation = effects.deviation[neurons] ** 2
    own = [f"{of}: {block.name}" for of in "ab"]
    change = [block.full(cluster.inputs[term]) - matrices for term, matrices in zip(own, short.own(), strict=True)]
    off = sum(np.square(x).sum(axis=(1, 2)) * block.multiplicity / block.dim for x in change)
    three = np.asarray(gain * off < least * (2 * block.rank - 3 * block.dim)) | (short.vectors is None)
    written = cluster.written(block.name)
    missed = written - short.written(block.name)
    along = three & (deviation * np.square(missed).mean(axis=1) < least * (block.rank - 1))
    kept = {
        term: gain * _energy(cluster, term, x) >= least * x.shape[1]
        for term, x in cluster.inputs.items() if term not in own
    }  # fmt: skip
    wrote = {
        name: deviation * np.square(cluster.written(name)).mean(axis=1) >= least * x.shape[1]
        for name, x in cluster.outputs.items() if name != block.name
    }  # fmt: skip
    size = np.where(three & (short.vectors is not None), 3 * block.dim + 2, 2 * block.rank + 2)
    stays = np.any([deviation * np.square(written).mean(axis=1) >= least * size, *wrote.values()], axis=0)
    groups: dict[tuple[bool, ...], list[int]] = defaultdict(list)
    for k in stays.nonzero()[0].tolist():
        groups[tuple(bool(x[k]) for x in (three, along, *kept.values(), *wrote.values()))].append(k)
    for (is_short, is_along, *rest), members in groups.items():
        flags = dict(zip((*kept, *wrote), rest, strict=True))
        yield _part(cluster, short if is_short else cluster, np.array(members), flags, is_along)


def _energy(cluster: GroupCluster, term: str, coefficients: Array) -> Array:
    """Return the mean square of an input term over all pairs, `[neuron]`."""
    of, name = split(term)
    features = cluster.blocks[name].features
    gram = features.T @ features / len(features)
    if of == "a, b":
        gram = np.kron(gram, gram)
    return np.einsum("nf,fg,ng->n", coefficients, gram, coefficients)


def _part(cluster: GroupCluster, read: GroupCluster, some: Array, flags: dict[str, bool], along: bool) -> GroupCluster:
    """Return some neurons of a cluster with only their kept parts.

    Args:
        read: the cluster, or its short form, that holds the neurons' own inputs.
        flags: True for each kept input and output of another representation.
        along: True if the output is along the product of the neurons' matrices.
    """
    inputs = {term: x[some] for term, x in read.inputs.items() if flags.get(term, True)}
    outputs = {name: x[some] for name, x in cluster.outputs.items()
               if (name != cluster.freq and flags[name]) or (name == cluster.freq and not along)}  # fmt: skip
    vectors = None if read.vectors is None else read.vectors[:, some]
    size = read.along[some] if along and read.along is not None else None
    return GroupCluster(cluster.block, cluster.constant[some], inputs, outputs, vectors, size, cluster.blocks,
                        tuple(np.array(cluster.neurons)[some].tolist()))  # fmt: skip
