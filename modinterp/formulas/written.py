"""Write the formulas of any network before they are measured, and give a reason for each formula that does not
exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from modinterp.formulas import group_ladder
from modinterp.formulas.compact import Effects, at_threshold
from modinterp.formulas.formula import Formula
from modinterp.formulas.group_reading import GroupReading
from modinterp.formulas.heads_as_waves import HeadReading
from modinterp.formulas.ladder import ASSUMPTIONS, PRODUCTS, Step, steps, with_attention
from modinterp.formulas.reading import NeuronReading, alphas, alphas_and_halves, paths, turned_b
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, NetworkMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.runs import NotRecorded

TURNED = 0.9  # share of the pairs whose answer moves under the half turn, where the answers are waves inside, too


@dataclass
class Written:
    """The formulas of one network, before they are compared with the network.

    Attributes:
        steps: the formulas, shortest first.
        absent: map from the key of each formula that does not exist to a one-line reason.
        reading: the data from which formulas with neurons are written; None without neurons.
        thinned: function from a threshold to the formula without waves whose effect is below the threshold.
        compact: the assumption behind the formula `compact`, as a sentence.
    """

    steps: list[Step] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    reading: NeuronReading | GroupReading | None = None
    thinned: Callable[[Any, float], Any] | None = None
    compact: str = ASSUMPTIONS["compact"]


def written(m: NetworkMeasurements) -> Written:
    """Write the formulas of a measured network."""
    if isinstance(m, GroupMeasurements):
        return _of_group(m)
    if isinstance(m, CyclicMeasurements) and m.basis.is_operation:
        return _of_waves(m)
    if len(m.task.output_sizes) > 1:
        why = f"{m.task.name} asks {len(m.task.output_sizes)} questions about each pair; a formula gives one answer"
    else:
        why = f"{m.task.name} is not an addition of relabelled numbers, so no formula of waves is known"
    return Written(absent={"all": why})


def _of_waves(m: CyclicMeasurements) -> Written:
    found = Written()
    if (why := _why_no_answers(m)) is None:
        formula = Formula(m.p, m.sign, alphas=alphas(m), names=_names(m))
        found.steps.append(Step("answers", ASSUMPTIONS["answers"], formula, inside=False, read_from=("alphas",)))
        both = alphas_and_halves(m)
        formula = replace(formula, alphas=both[0], halves=both[1])
        found.steps.append(Step("distance", ASSUMPTIONS["distance"], formula, inside=False, read_from=("halves",)))
    else:
        found.absent["answers"] = why
    try:
        reading = NeuronReading.of(m)
    except NoSuchPart as error:
        found.absent["neurons"] = str(error)
        if m.has_attention and not m.has_neurons and not m.is_output_only:
            found.steps.append(_without_neurons(m))
        return found
    found.steps += steps(reading)
    if found.steps[-1].key != "reads":
        found.absent["reads"] = (
            "key frequencies and their doubles are most of all frequencies, and their waves can fit any function"
        )
    try:
        keys = next(x for x in found.steps if x.key == "keys")
        found.steps.append(with_attention(reading, HeadReading.of(m, reading), keys))
    except NoSuchPart as error:
        found.absent["attention"] = str(error)
    found.reading, effects = reading, Effects.of(reading)
    found.thinned = partial(_thinned, at_threshold, effects)
    return found


def _thinned(thin: Callable[[Any, Effects, float], Any], effects: Effects, formula: Any, least: float) -> Any:
    return thin(formula, effects, least)


def _of_group(m: GroupMeasurements) -> Written:
    found = Written(compact=group_ladder.ASSUMPTIONS["compact"])
    if m.keys:
        found.steps.append(group_ladder.answers(m))
    else:
        found.absent["answers"] = "no representation stands out"
    try:
        reading = GroupReading.of(m)
    except NoSuchPart as error:
        found.absent["neurons"] = str(error)
        return found
    numbers = sum(w.numel() for w in m.model.parameters())
    for one in group_ladder.steps(reading, numbers):
        if isinstance(one, Step):
            found.steps.append(one)
        else:
            found.absent[one[0]] = one[1]
    found.reading, effects = reading, Effects.of(reading)
    found.thinned = partial(_thinned, group_ladder.at_threshold, effects)
    return found


def _names(m: CyclicMeasurements) -> tuple[int, ...]:
    return m.basis.cyclic.names if m.basis.cyclic.is_renamed else ()


def _why_no_answers(m: CyclicMeasurements) -> str | None:
    """Return the reason why cosines of the answer do not describe a network's inside; None if they may."""
    if not m.freqs:
        return "no frequency stands out"
    try:
        turned = m.causal.half_turn_of_keys
    except NotRecorded:
        return None  # then the logits are described and nothing is seen of the inside, as the assumption says
    if turned.moved >= TURNED:
        return None
    return (
        f"rotating circles of the key frequencies by half a step changes the answer on {turned.moved:.1%} "
        "of pairs; in a network that adds by waves it would on nearly all"
    )


def _without_neurons(m: CyclicMeasurements) -> Step:
    """Return the formula of a network without neurons."""
    logits = turned_b(m.logits.double().cpu().numpy(), m.sign)
    terms = ("constant", "first", "second", "double first", "double second", *PRODUCTS)
    formula = replace(Formula(m.p, m.sign, names=_names(m)), path=paths(logits, m.p, m.freqs, terms))
    return Step("pairs", ASSUMPTIONS["pairs"], formula, inside=False, read_from=("path",))
