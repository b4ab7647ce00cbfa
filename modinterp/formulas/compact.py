"""Find the shortest formula that still answers like the network, by leaving out the least important waves.

Waves are ordered by their effect in the network's own activations, divided by the numbers that they need. The number of
waves is chosen by the KL divergence from the network, never by the right answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from modinterp.formulas.formula import Formula
from modinterp.formulas.group_formula import GroupFormula
from modinterp.formulas.group_reading import GroupReading
from modinterp.formulas.ladder import followed
from modinterp.formulas.reading import NeuronReading
from modinterp.formulas.softmax_of_waves import term_of_head
from modinterp.formulas.waves import TERMS, Array, Cluster, Path, Waves, term_of

F = TypeVar("F", Formula, GroupFormula)
HALVINGS = 9  # of the interval of thresholds: two formulas next to one another differ by a few numbers then
KEPT_WHOLE = ("constant", "single", "first", "second")  # without these a neuron is no neuron of its frequency


@dataclass(frozen=True)
class Effects:
    """Effects of the neurons of a network, in the units of the logits.

    Attributes:
        written: root mean square over classes of each neuron's output weights to the logits, `[neuron]`.
        open: share of the pairs on which each neuron's nonlinearity passes on a change of its input, `[neuron]`.
        deviation: standard deviation of each neuron over all pairs, `[neuron]`.
        p: number of residues or elements.
    """

    written: Array
    open: Array
    deviation: Array
    p: int

    @classmethod
    def of(cls, r: NeuronReading | GroupReading) -> Effects:
        """Compute the neurons' effects on the logits from a network's own activations."""
        act = r.act
        return cls(r.W_L.std(axis=1), (act != 0).mean(axis=(0, 1)), act.std(axis=(0, 1)), r.p)


def at_threshold(formula: Formula, effects: Effects, least: float) -> Formula:
    """Return the formula without waves, phases, neurons and paths whose mean square effect per number is below a
    threshold.

    Args:
        least: the threshold: mean square change of the logits per number. [logits^2]
    """
    clusters = [part for cluster in formula.clusters for part in _thinned(cluster, effects, least)]
    sizes = [abs(x.cosine) ** 2 + abs(x.sine) ** 2 for x in formula.path]
    path = tuple(x for x, size in zip(formula.path, sizes, strict=True) if _of_path(x, size) >= least)
    return replace(formula, clusters=tuple(clusters), path=path)


def _of_path(path: Path, size: float) -> float:
    waves = len(TERMS[path.term])
    return size * waves / (2 if path.term == "constant" else 4) / path.numbers


def _thinned(cluster: Cluster, effects: Effects, least: float) -> Iterator[Cluster]:
    """Return the remaining neurons, in clusters of neurons with the same waves."""
    for part in _by_head(cluster):
        yield from _thinned_alike(part, effects, least)


def _by_head(cluster: Cluster) -> Iterator[Cluster]:
    """Group neurons by the head of their largest wave, and put this wave first, because the phases of other waves
    follow it.
    """
    mixed = [term for term in cluster.inputs if term.startswith("head ")]
    if not mixed:
        yield cluster
        return
    largest = np.stack([cluster.inputs[term].amplitude for term in mixed]).argmax(axis=0)
    for k in sorted(set(largest.tolist())):
        order = dict.fromkeys(("constant", mixed[k], *cluster.inputs))
        yield _some(replace(cluster, inputs={x: cluster.inputs[x] for x in order}), (largest == k).nonzero()[0])


def _some(cluster: Cluster, members: Array) -> Cluster:
    def some(waves: Waves) -> Waves:
        return waves.mapped(lambda x: x[members], lambda x: x[members])

    return replace(cluster, inputs={x: some(w) for x, w in cluster.inputs.items()},
                   outputs={k: some(w) for k, w in cluster.outputs.items()},
                   neurons=tuple(np.array(cluster.neurons)[members].tolist()))  # fmt: skip


def _thinned_alike(cluster: Cluster, effects: Effects, least: float) -> Iterator[Cluster]:
    neurons = np.array(cluster.neurons)
    gain = (effects.written[neurons] ** 2) * effects.open[neurons]
    deviation = effects.deviation[neurons] ** 2
    kept: dict[Any, tuple[Array, Array]] = {}  # which neurons have the wave, and which a phase of its own
    first = next((term for term in cluster.inputs if term.startswith("head ")), None)
    for name, waves in cluster.inputs.items():
        (multiples, freq), size = term_of(name, cluster.freq), waves.amplitude**2 * gain
        if name in KEPT_WHOLE or name == first:
            kept[name] = (np.ones(len(neurons), bool), np.full(len(neurons), waves.phase is not None))
            continue
        size = size * (_spread(cluster, name, effects.p) if term_of_head(name) else len(multiples) / 2)
        kept[name] = _decided(cluster, waves, multiples[0], size, least, may_follow=freq == cluster.freq)
    for k, waves in cluster.outputs.items():
        size = waves.amplitude**2 / 2 * deviation
        # of another frequency there is nothing that a phase could follow
        kept[k] = _decided(cluster, waves, (1, 1), size, least, may_follow=k == cluster.freq)
    writes = np.any([kept[k][0] for k in cluster.outputs], axis=0)
    groups: dict[tuple[tuple[bool, bool], ...], list[int]] = defaultdict(list)
    for n in writes.nonzero()[0].tolist():
        groups[tuple((bool(has[n]), bool(own[n])) for has, own in kept.values())].append(n)
    for signature, members in groups.items():
        flags = dict(zip(kept, signature, strict=True))
        yield _part(cluster, np.array(members), flags)


def _spread(cluster: Cluster, term: str, p: int) -> float:
    """Return the variance over all pairs of a head's mixture of waves with amplitude 1."""
    x = np.arange(p)
    wave = cluster.wave(term, x[:, None], x[None], p)
    return float(np.square(np.abs(wave - wave.mean())).mean() / (2 if np.iscomplex(wave).any() else 1))


def _decided(
    cluster: Cluster, waves: Waves, multiples: tuple[int, int], size: Array, least: float, may_follow: bool = True
) -> tuple[Array, Array]:
    """Decide which neurons keep a wave, and which of them need a separate phase for it."""
    if waves.phase is None:
        return size >= least, np.zeros(len(size), bool)
    if not may_follow:
        has = size / 2 >= least
        return has, has
    along = np.cos(waves.phase - cluster.followed(multiples)) ** 2
    own = (1 - along) * size >= least
    return own | (along * size >= least), own


def _part(cluster: Cluster, members: Array, flags: Mapping[Any, tuple[bool, bool]]) -> Cluster:
    """Return some neurons of a cluster with only their kept waves."""

    whole = _some(cluster, members)

    def decided(waves: Waves, key: Any, multiples: tuple[int, int]) -> Waves:
        return waves if flags[key][1] else followed(whole, waves, multiples)

    inputs = {x: decided(w, x, term_of(x, cluster.freq)[0][0]) for x, w in whole.inputs.items() if flags[x][0]}
    outputs = {k: decided(w, k, (1, 1)) for k, w in whole.outputs.items() if flags[k][0]}
    return replace(whole, inputs=inputs, outputs=outputs)


def compact(
    formula: F,
    thinned: Callable[[F, float], F],
    is_faithful: Callable[[F], bool],
    seems_faithful: Callable[[F], bool] | None = None,
) -> F | None:
    """Return the formula at the largest threshold at which it is faithful; None if it is not faithful with all waves.

    Args:
        thinned: function from a threshold to the formula, such as `at_threshold` with the effects of the neurons.
        is_faithful: function that returns True if a formula still answers like the network.
        seems_faithful: faster test for the search of the threshold, such as a test on a sample of pairs; by default
            `is_faithful`. After the search for the threshold, it is lowered until the formula passes `is_faithful`.
    """
    if not is_faithful(formula):
        return None
    low, high = -12.0, 2.0  # of the decimal logarithm of the threshold
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        shorter = thinned(formula, 10**middle)
        if shorter.clusters and (seems_faithful or is_faithful)(shorter):
            low = middle
        else:
            high = middle
    step = 14.0 / 2**HALVINGS
    while low > -12.0:
        shorter = thinned(formula, 10**low)
        if is_faithful(shorter):
            return shorter
        low, step = low - step, 2 * step
    return formula
