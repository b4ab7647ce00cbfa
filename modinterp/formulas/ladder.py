"""Build the ladder of formulas of one network: each formula (rung) adds waves to the previous one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from modinterp.formulas.formula import Formula
from modinterp.formulas.group_formula import GroupFormula
from modinterp.formulas.heads_as_waves import HeadReading
from modinterp.formulas.reading import NeuronReading, paths
from modinterp.formulas.waves import Cluster, Path, Waves

PRODUCTS = ("sum", "difference")


@dataclass(frozen=True)
class Step:
    """One formula of the ladder, before it is compared with the network.

    Attributes:
        key: short name of the formula.
        assumption: the assumption of the formula, in one sentence.
        formula: the formula of this step.
        inside: True if the formula describes how the network computes; False if it only describes the logits.
        read_from: parts of the network from which the formula's numbers are read, keys of `READ_FROM`.
    """

    key: str
    assumption: str
    formula: Formula | GroupFormula
    inside: bool = True
    read_from: tuple[str, ...] = ()


def _cut(clusters: Sequence[Cluster], terms: Sequence[str], own: bool) -> tuple[Cluster, ...]:
    """Return the clusters with some of their input terms, and with only their own frequency or all frequencies in the
    output.
    """
    return tuple(
        replace(
            x,
            inputs={term: waves for term, waves in x.inputs.items() if term in terms},
            outputs={k: waves for k, waves in x.outputs.items() if k == x.freq or not own},
        )
        for x in clusters
    )


def following(cluster: Cluster) -> Cluster:
    """Return the cluster of neurons with output phases equal to the sum of each neuron's phases of a and b."""
    return replace(cluster, outputs={k: followed(cluster, waves, (1, 1)) for k, waves in cluster.outputs.items()})


def followed(cluster: Cluster, waves: Waves, multiples: tuple[int, int]) -> Waves:
    """Project waves onto the phase that follows from the phases of a and b; the projected amplitudes can be
    negative.
    """
    if waves.phase is None:
        return waves
    return Waves(waves.amplitude * np.cos(waves.phase - cluster.followed(multiples)))


ASSUMPTIONS = {
    "answers": (
        "The logits are cosines of the right answer minus the class; the formula does not describe the neurons."
    ),
    "distance": (
        "Each cosine of the logits falls with the distance of a and b, as |cos(w (a - b) / 2)|, as in a pizza."
    ),
    "phases": (
        "A neuron reads one wave of a and one wave of b, of one frequency. The neuron writes a wave of this "
        "frequency, with the sum of both phases."
    ),
    "waves": (
        "A neuron reads one wave of a and one wave of b, of one frequency. The neuron writes a wave of this "
        "frequency, with any phase."
    ),
    "double": "A neuron also reads waves of a and of b with twice the neuron's frequency.",
    "products": "A neuron also reads waves of a + b and of a - b, which are products of waves of a and b.",
    "path": "Waves of the key frequencies also reach the logits by the skip around the neurons.",
    "keys": (
        "A neuron writes waves of all key frequencies, and of all frequencies of five neurons or more, not only"
        " its own."
    ),
    "reads": "A neuron also reads waves of the other key frequencies.",
    "attention": (
        "Each head's attention is a softmax of waves of a and of b, and a neuron reads the heads' "
        "attention-weighted means of waves of one frequency."
    ),
    "compact": "The waves that change the network's logits the least are left out of the formula.",
    "pairs": (
        "The logits are waves of a, of b and of both numbers at the key frequencies; the formula has no neurons."
    ),
}
MOST_READ = 0.5  # of all frequencies: the waves of most of them are any function of a and of b
NEURONS = ("frequency of a neuron", "inputs", "outputs")


def steps(r: NeuronReading) -> Iterator[Step]:
    """Return the formulas of a network with neurons, from the shortest to the formula with all waves."""
    one, two = ("constant", *r.single), ("constant", *r.single, *r.double)
    every = (*two, *PRODUCTS)

    def step(key: str, clusters: tuple[Cluster, ...], path: tuple[Path, ...] = ()) -> Step:
        formula = replace(r.empty(), clusters=clusters, path=path)
        return Step(key, ASSUMPTIONS[key], formula, read_from=(*NEURONS, "path") if path else NEURONS)

    whole = tuple(
        Cluster(k, r.inputs(k, neurons, every), r.outputs(tuple(dict.fromkeys((k, *r.keys))), neurons),
                tuple(neurons.tolist()))
        for k, neurons in r.members()
    )  # fmt: skip
    plain = _cut(whole, one, own=True)
    yield step("phases", tuple(map(following, plain)))
    yield step("waves", plain)
    yield step("double", _cut(whole, two, own=True))
    products = _cut(whole, every, own=True)
    yield step("products", products)
    past = paths(r.passing(), r.p, r.keys, every)
    yield step("path", products, past)
    yield step("keys", whole, past)
    read = {min(k * i % r.p, -k * i % r.p) for k in r.keys for i in (1, 2)}
    if len(read) <= MOST_READ * (r.p // 2):
        yield step("reads", tuple(_with_others(r, x, (*r.single, *PRODUCTS)) for x in whole), past)


def with_attention(r: NeuronReading, h: HeadReading, last: Step) -> Step:
    """Return the formula whose neurons read mixtures by attention, with the outputs and paths of another formula."""
    assert isinstance(last.formula, Formula)
    heads = h.heads(r.keys)
    clusters = tuple(
        replace(x, inputs=h.inputs(r, x.freq, np.array(x.neurons)), heads=heads) for x in last.formula.clusters
    )
    formula = replace(last.formula, clusters=clusters, heads=heads)
    return Step("attention", ASSUMPTIONS["attention"], formula, read_from=(*last.read_from, "heads", "values of heads"))


def _with_others(r: NeuronReading, cluster: Cluster, terms: Sequence[str]) -> Cluster:
    """Return the cluster with waves of the other key frequencies added to its neurons' inputs.

    A key frequency that is twice the cluster's own frequency is left out, because its waves are already present.
    """
    double = 2 * cluster.freq % r.p
    taken = {cluster.freq, double, r.p - double}
    others = {
        f"{term} at {k}": waves
        for k in r.keys
        if k not in taken
        for term, waves in r.inputs(k, np.array(cluster.neurons), terms).items()
    }
    return replace(cluster, inputs={**cluster.inputs, **others})
