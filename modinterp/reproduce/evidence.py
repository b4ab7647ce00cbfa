"""Measure claims network by network, so that each network is captured once and then freed.

A claim about several networks is first evaluated on each network alone. The measurements of a claim on each network are
cached before the activations are freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from modinterp.analyses.training.phases import Phases
from modinterp.claims import Claim, Result
from modinterp.claims.checking import UNDEFINED, Numbers, recorded_among
from modinterp.claims.relatives import related
from modinterp.claims.result import BEFORE, CONTRAST, MEMORISED, NEVER_GENERALISES, SHUFFLED
from modinterp.measurements import NetworkMeasurements, measure_as_published
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Task
from modinterp.training import RunSpec


@dataclass(frozen=True)
class Asked:
    """The claims that need measurements of one network, by claim id.

    Attributes:
        own: single-network claims that are evaluated on the network.
        before: claims of `own` for which the network is the first, so that it is also measured before training.
        together: claims about the network together with other networks.
        control: kind of control network, such as "of random labels"; empty for other networks.
        as_control: map from the id of a claim to the task that a control network is treated as having learned.
        phases: training phases of the claims' first network, used for a control network that never generalises; None if
            unknown.
    """

    own: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    together: frozenset[str] = frozenset()
    control: str = ""
    as_control: Mapping[str, Task] = field(default_factory=dict)
    phases: Phases | None = None


@dataclass
class Evidence:
    """The numbers of single-network claims for every measured network.

    Attributes:
        rows: map from the id of a claim to the numbers of each network, by the network's name.
        control: map from the id of a claim to its numbers on control networks, such as the first network before
            training.
        seconds: map from the id of a claim to the time of its measurements. [s]
        at_start: map from the name of a network to its measurements before training, by the name of the measurement.
    """

    rows: dict[str, dict[str, Numbers]] = field(default_factory=dict)
    control: dict[str, dict[str, Numbers]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    at_start: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, claims: Sequence[Claim], asked: Asked, m: NetworkMeasurements) -> None:
        """Measure the claims of one network, then free its activations."""
        if asked.as_control:
            self._add_control(claims, asked, m)
        of_it = [claim for claim in claims if claim.id in asked.own]
        of_several = [claim for claim in claims if claim.id in asked.together]
        for claim in of_it:
            began = perf_counter()
            if (numbers := _numbers(claim, m)) is not None:
                self.rows.setdefault(claim.id, {})[m.name] = numbers
            self.seconds[claim.id] = self.seconds.get(claim.id, 0.0) + perf_counter() - began
        for claim in of_several:
            claim.ask_alone(m)
        m.let_go()
        before_training = [claim for claim in of_several if claim.is_about_networks]
        for when, before in untrained(m.run) if asked.before or before_training else ():
            measured = measure_as_published(before)
            for claim in of_it:
                if claim.id not in asked.before:
                    continue
                if (numbers := _numbers(claim, measured, undefined=UNDEFINED)) is not None:
                    self.control.setdefault(claim.id, {})[when] = numbers
            if when == BEFORE:
                for claim in before_training:
                    claim.ask_alone(measured)
            measured.let_go()
            if when == BEFORE:
                self.at_start[m.name] = measured.taken
            if not asked.before:  # of claims about several networks nothing is taken after memorising
                break

    def _add_control(self, claims: Sequence[Claim], asked: Asked, m: NetworkMeasurements) -> None:
        """Measure claims on a control network, which learned something else; undefined numbers are left out."""
        as_if = {task: measure_as_published(replace(m.run, task=task)) for task in asked.as_control.values()}
        if asked.phases is not None:
            for measured in as_if.values():
                vars(measured)["phases"] = asked.phases
        for claim in claims:
            if claim.id in asked.as_control:
                with suppress(NotRecorded, *UNDEFINED):
                    numbers = claim.numbers(as_if[asked.as_control[claim.id]])
                    self.control.setdefault(claim.id, {})[asked.control] = numbers
        for measured in as_if.values():
            measured.let_go()

    def update(self, other: Evidence) -> None:
        """Add measurements of other networks that another process has taken."""
        for id, rows in other.rows.items():
            self.rows.setdefault(id, {}).update(rows)
        for id, control in other.control.items():
            self.control.setdefault(id, {}).update(control)
        self.at_start.update(other.at_start)
        for id, seconds in other.seconds.items():
            self.seconds[id] = self.seconds.get(id, 0.0) + seconds

    def result(self, claim: Claim, specs: Mapping[str, RunSpec | None]) -> Result:
        """Return the result of a single-network claim from the measured numbers.

        Args:
            specs: map from the name of every network that the claim is about to its spec.
        """
        rows = self.rows.get(claim.id, {})
        if next(iter(specs), None) not in rows:
            return claim.open("pending")
        result = claim.judged([(network, rows[network.name]) for network in related(specs) if network.name in rows])
        control = self.control.get(claim.id, {})
        return replace(result, control=control, seconds=self.seconds[claim.id], of_source=True)


def asked_of(
    claims: Sequence[Claim], measured: Mapping[str, NetworkMeasurements], controls: Mapping[str, str]
) -> dict[str, Asked]:
    """Return the claims that need measurements of each available network, by the name of the network.

    Args:
        controls: map from the name of a control network to its kind, such as "of random labels".
    """
    about = _subjects(claims, measured)
    first = {id: measured[names[0]].spec for id, names in about.items()}
    of_several = _subjects(claims, measured, of_one=False)
    found = {}
    for name, m in measured.items():
        as_control = _as_control(
            {id: s for id, s in first.items() if name not in about[id]}, m.spec, controls.get(name)
        )
        found[name] = Asked(
            frozenset(id for id, names in about.items() if name in names),
            frozenset(id for id, names in about.items() if names[:1] == (name,)),
            frozenset(id for id, names in of_several.items() if name in names),
            controls.get(name, ""),
            as_control,
            _phases([measured[about[id][0]] for id in as_control]) if controls.get(name) == NEVER_GENERALISES else None,
        )
    return found


def _phases(networks: Sequence[NetworkMeasurements]) -> Phases | None:
    """Return the phases of the first network that has phases of training."""
    for m in networks:
        with suppress(NotRecorded, AttributeError):
            if m.phases.formed == m.phases.formed:
                return m.phases
    return None


def _as_control(first: Mapping[str, RunSpec | None], spec: RunSpec | None, what: str | None) -> dict[str, Task]:
    """Return the claims to measure on a control network, with the task of each claim's first network.

    The first network must have the control's shape and another task, or the same task for a control that never
    generalises. For a network that is no control, the result is empty.
    """
    if spec is None or what is None:
        return {}
    known = {id: s for id, s in first.items() if s is not None}
    same = what == NEVER_GENERALISES
    alike = {id: s for id, s in known.items() if s.shape == spec.shape and (s.task.name == spec.task.name) is same}
    return {id: s.task for id, s in alike.items()}


def checked(
    claims: Sequence[Claim],
    measured: Mapping[str, NetworkMeasurements],
    on_claim: Callable[[Result], object] = lambda _: None,
    evidence: Evidence | None = None,
    controls: Mapping[str, str] | None = None,
) -> tuple[Result, ...]:
    """Check each claim on the available runs and on control networks, and return the results.

    Single-network claims are measured network by network; a network's activations are freed before the next is
    captured.

    Args:
        measured: map from the name of every available run to its measurements.
        on_claim: function that is called with each result.
        evidence: numbers of single-network claims, if they are already measured.
        controls: map from the name of a control network to its kind, such as "of random labels".
    """
    if evidence is None:
        evidence = Evidence()
        for name, asked in asked_of(claims, measured, controls or {}).items():
            evidence.add(claims, asked, measured[name])
    about, results = _subjects(claims, measured), []
    at_start: dict[str, NetworkMeasurements | None] = {}
    for claim in claims:
        if claim.id in about:
            result = evidence.result(claim, {name: measured[name].spec for name in about[claim.id]})
        else:
            result = claim.check_available(measured)
            if claim.is_about_networks and result.measured:
                for name in set(result.runs) - set(at_start):
                    at_start[name] = _at_start(measured[name], evidence)
                result = replace(result, control=_control_of(claim, [at_start[name] for name in result.runs]))
            for m in (*(measured[name] for name in result.runs), *filter(None, at_start.values())):
                m.let_go()
        result = replace(result, control={**result.control, **_unlike(claim, result.runs, measured, controls or {})})
        terms = measured[result.runs[0]].words_of_task if result.runs else {}
        results.append(replace(result, terms=terms, recorded=recorded_among(result, measured)))
        on_claim(results[-1])
    return tuple(results)


def _unlike(
    claim: Claim, runs: Sequence[str], measured: Mapping[str, NetworkMeasurements], controls: Mapping[str, str]
) -> dict[str, Numbers]:
    """Return a claim's numbers on its contrast runs, and on its own runs with shuffled settings.

    A contrast run of the first run's shape that is a control of the source is measured as if it had learned the first
    run's task. Undefined numbers are left out, and so is a contrast with missing runs.
    """
    found: dict[str, Numbers] = {}
    first = measured[runs[0]] if runs else None
    contrast = [
        _as_if(measured[name], first) if name in controls else measured[name]
        for name in claim.contrast
        if name in measured
    ]
    if claim.contrast and len(contrast) == len(claim.contrast):
        numbers = _numbers(claim, *(contrast if claim.of_one is None else contrast[:1]), undefined=UNDEFINED)
        found |= {} if numbers is None else {CONTRAST: numbers}
    if claim.shuffled and len(runs) > 1:
        # of a claim about one network, the first has the settings of the second
        order = np.random.default_rng(0).permutation(len(runs)) if claim.of_one is None else [1]
        others = [
            replace(measured[name].run, spec=measured[runs[i]].spec) for name, i in zip(runs, order, strict=False)
        ]
        if claim.of_one is not None:
            others = [replace(run, recorded=None) for run in others]  # which are the numbers with its own settings
        numbers = _numbers(claim, *map(measure_as_published, others), undefined=UNDEFINED)
        found |= {} if numbers is None else {SHUFFLED: numbers}
    return found


def _as_if(m: NetworkMeasurements, first: NetworkMeasurements | None) -> NetworkMeasurements:
    """Measure a network as if it had learned another network's task, if both have the same shape."""
    if first is None or first.spec is None or m.spec is None or m.task.name == first.task.name:
        return m
    return measure_as_published(replace(m.run, task=first.task)) if m.spec.shape == first.spec.shape else m


def _subjects(
    claims: Sequence[Claim], measured: Mapping[str, NetworkMeasurements], of_one: bool = True
) -> dict[str, tuple[str, ...]]:
    """Map each claim whose required runs are available to the runs on which it is evaluated.

    Args:
        of_one: True for single-network claims, False for claims about several networks.
    """
    specs = {name: m.spec for name, m in measured.items()}
    return {c.id: c.subjects(specs) for c in claims if (c.of_one is not None) is of_one and c.has_enough(measured)}


def untrained(run: TrainedRun) -> Iterator[tuple[str, TrainedRun]]:
    """Yield the run before training and, if a snapshot has memorised without generalising, the run at that snapshot."""
    try:
        yield BEFORE, run.at_start()
        memorised = run.memorised()
    except NotRecorded:  # somebody's network, or a history without weights
        return
    if memorised is not None:
        yield MEMORISED, memorised


def _at_start(m: NetworkMeasurements, evidence: Evidence) -> NetworkMeasurements | None:
    """Return the network before training, with its cached measurements; None if its initial weights are unknown."""
    try:
        before = measure_as_published(m.run.at_start())
    except NotRecorded:
        return None
    vars(before).update(evidence.at_start.get(m.name, {}))
    return before


def _control_of(claim: Claim, at_start: Sequence[NetworkMeasurements | None]) -> dict[str, Numbers]:
    """Return the numbers of a claim about several networks before training; {} if one network is missing."""
    known = [m for m in at_start if m is not None]
    numbers = _numbers(claim, *known) if len(known) == len(at_start) else None
    return {} if numbers is None else {BEFORE: numbers}


def _numbers(
    claim: Claim, *measured: NetworkMeasurements, undefined: tuple[type[Exception], ...] = ()
) -> Numbers | None:
    try:
        return claim.numbers(*measured)
    except (NotRecorded, *undefined):
        return None
