"""A statement of a source, made checkable: what to measure, on which runs, and what to hold it against."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal

from modinterp.claims.band import Band
from modinterp.claims.finding import HOLDS, Control, Finding, Reason
from modinterp.claims.relatives import is_related, related
from modinterp.claims.result import Network, Result, is_behaviour
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.models.layouts import name_list
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Task
from modinterp.training import RunSpec
from modinterp.training.relation import Relation

Scope = Literal["this run", "any seed", "any network"]
Value = int | float | Sequence[float] | Sequence[int]
Measure = Callable[..., Mapping[str, Value]]
Run = TrainedRun | NetworkMeasurements
Numbers = Mapping[str, tuple[float, ...]]


def _any_task(task: Task) -> bool:
    """Whether a claim is said of a network that learned a task: of any."""
    return True


def each(measure: Measure) -> Measure:
    """A measure of one network, taken on every one of several: each of its numbers becomes one number per network."""

    @functools.wraps(measure)
    def on_each(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        rows = [measure(m) for m in runs]
        return {name: [row[name] for row in rows] for name in rows[0]}  # type: ignore[misc]

    on_each.of_one = measure  # type: ignore[attr-defined]
    return on_each


@dataclass(frozen=True, kw_only=True)
class Change:
    """A band, a measure or a verdict that was changed after a number had been seen.

    Attributes:
        date: of the change, `YYYY-MM-DD`.
        what: what was changed.
        before, now: the band or the number then and now.
        why: why that is no way to let a number in.
    """

    date: str
    what: str
    before: str
    now: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a source; every field is given by its name.

    A claim about one network (its `measure` takes one, or is made by `each`) is measured on every network of the recipe
    that is there: those in `needs`, and their relatives by seed, rounding and draw order. One about several together,
    such as a sweep, is measured on `needs` alone.

    Attributes:
        id: `SOURCE.PLACE.WHAT`.
        where: section, figure or table of the source.
        statement: in our words.
        source_says: the source's number, as it prints it.
        measure: from the measurements of the runs in `needs` to named numbers; a sequence holds one number per run.
        expected: name of a number to the band it must lie in; numbers without a band are reported beside. One whose
            name says `accuracy` shows that a network works, and not how.
        printed: name of a number to its value in the source, for the table of the source's numbers beside ours.
        outside: name of a printed number to why it lies outside of all that is measured here.
        by_selection: names of numbers by which the first of `needs` was chosen among its like to stand for the source's
            network, such as its frequencies, or that follow from them. There it agrees because it was chosen to.
        given: name of a number to the band in which it must lie for the claim to be about a network at all, such as
            the accuracy of one that is said to have learned; a network off it is not counted.
        needs: names of runs, that of the source's own network first.
        scope: `this run`, or `any seed` (measured on all of `needs` that are there), or `any network` (mathematics and
            set-up, true before training as well).
        finding: the recorded verdict.
        control: whether its numbers, accuracies apart, tell the trained network from the same one before training, and
            from one that has only memorised, as recorded.
        said_of: whether it is said of a network that learned a task; by default of any that the source is about.
        figure: key of the figure of the source that shows it.
        required: patterns of names, such as `SOURCE/decay-3-*`; for each at least one of `needs` must be there. Without
            any, `this run` asks for all of `needs` and `any seed` for one.
        changed: what was changed of it since its numbers were first known.
    """

    id: str
    where: str
    statement: str
    source_says: str
    measure: Measure
    expected: Mapping[str, Band]
    printed: Mapping[str, float] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)
    by_selection: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    scope: Scope = "this run"
    finding: Finding = HOLDS
    control: Control = "told apart"
    said_of: Callable[[Task], bool] = _any_task
    figure: str = ""
    required: tuple[str, ...] = ()
    given: Mapping[str, Band] = field(default_factory=dict)
    changed: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        if not self.expected:
            raise ValueError(f"{self.id} expects nothing, so nothing could refute it")
        for pattern in self.required:
            if not _fits(pattern, self.needs):
                raise ValueError(f"{self.id} requires {pattern}, which none of its needs fits")
        if unknown := sorted(set(self.outside) - set(self.printed)):
            raise ValueError(f"{self.id} says why {', '.join(unknown)} lies outside, which the source does not print")

    @property
    def bands(self) -> Mapping[str, Band]:
        """Name of a number to its band, of all numbers that are given or expected."""
        return {**self.given, **self.expected}

    @property
    def source(self) -> str:
        """The source's short name."""
        return self.id.partition(".")[0]

    @property
    def is_by_selection(self) -> bool:
        """Whether all that it expects, accuracies apart, is what its first network was chosen by.

        Then that network says nothing: it does not count among those in which the claim holds, which counts apart.
        """
        return bool(self.by_selection) and all(is_behaviour(n) or n in self.by_selection for n in self.expected)

    @property
    def of_one(self) -> Measure | None:
        """The measure of one network, where the claim is about one; None where it is about several, or about none."""
        if self.scope == "any network" or not self.needs:
            return None
        return getattr(self.measure, "of_one", self.measure if len(self.needs) == 1 else None)

    @property
    def is_about_networks(self) -> bool:
        """Whether it is about trained networks, and not mathematics or set-up."""
        return bool(self.needs) and self.scope != "any network"

    def check(self, *runs: Run) -> Result:
        """Measure on these runs, or on measurements of them, and hold the numbers against their bands.

        Of a claim about one network the first run must be measurable, and of the others those count that are.

        Raises:
            NotRecorded: a run lacks what the claim asks for.
            ValueError: no run, where the claim needs one; it has no numbers of these runs, or not of them alone.
        """
        try:
            return self._checked(*runs)
        except (AttributeError, ArithmeticError, LookupError) as error:
            names = [run.name for run in runs]
            if set(self.needs) <= set(names) or (self.of_one is not None and names[0] in self.needs):
                raise
            asked = self.needs[0] + " and others together" * (self.of_one is None and len(self.needs) > 1)
            raise ValueError(f"{self.id} is measured on {asked}, and has no numbers of {name_list(names)}") from error

    def _checked(self, *runs: Run) -> Result:
        """`check`, with what goes wrong as it is."""
        if self.needs and not runs:
            raise ValueError(f"{self.id} is measured on a run, such as {self.needs[0]}")
        began, measured = time.perf_counter(), [measure(run) for run in runs]
        networks = related({m.name: m.spec for m in measured})
        if self.of_one is None:
            result = self.judged_together(self.numbers(*measured), networks)
        else:
            rows = [(networks[0], self.numbers(measured[0]))]
            for network, m in zip(networks[1:], measured[1:], strict=True):
                with suppress(NotRecorded):
                    rows.append((network, self.numbers(m)))
            result = self.judged(rows)
        return replace(result, seconds=time.perf_counter() - began)

    def numbers(self, *measured: NetworkMeasurements) -> Numbers:
        """The numbers of one network, where the claim is about one, and otherwise of all these together.

        Raises:
            NotRecorded: a run lacks what the claim asks for.
            ValueError: a number that the claim expects was not measured.
        """
        numbers = self._measured(measured)
        if missing := sorted((set(self.bands) | set(self.printed) | set(self.by_selection)) - set(numbers)):
            raise ValueError(f"{self.id} expects {', '.join(missing)}, which its measure does not return")
        return numbers

    def ask_alone(self, m: NetworkMeasurements) -> None:
        """Take of one network what a claim about several asks of each, in all their places, which is kept there."""
        parameters = inspect.signature(self.measure).parameters.values()
        places = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        with suppress(NotRecorded, ValueError, ArithmeticError, LookupError):  # alone it may have no numbers
            self.measure(*[m] * max(places, 1))

    def _measured(self, measured: Sequence[NetworkMeasurements]) -> Numbers:
        """The numbers that its measure returns, or else those that were recorded of the network."""
        try:
            return {name: _numbers(value) for name, value in (self.of_one or self.measure)(*measured).items()}
        except NotRecorded:
            recorded = measured[0].run.recorded if len(measured) == 1 and measured[0].is_recorded else None
            if self.of_one is None or recorded is None or self.id not in recorded.claims:
                raise
            return recorded.claims[self.id]

    def judged(self, rows: Sequence[tuple[Network, Numbers]]) -> Result:
        """The result of a claim about one network, from the numbers of each, the source's own first.

        Networks for which what is `given` is not so are left out; where it is so for none, the claim does not apply.
        """
        applicable = [(network, row) for network, row in rows if self._applies(row)]
        networks, kept = zip(*(applicable or rows[:1]), strict=True)
        names = [name for name in kept[0] if all(len(row.get(name, ())) == len(kept[0][name]) for row in kept)]
        numbers = {name: tuple(value for row in kept for value in row[name]) for name in names}
        left_out = tuple(network.name for network, _ in rows if network not in networks)
        return Result(self, numbers, networks, self._reason(bool(applicable)), left_out=left_out)

    def judged_together(self, numbers: Numbers, networks: tuple[Network, ...]) -> Result:
        """The result of a claim about several networks, or about none, from their numbers together."""
        return Result(self, numbers, networks, self._reason(self._applies(numbers)))

    def _applies(self, numbers: Numbers) -> bool:
        return all(band.holds(value) for name, band in self.given.items() for value in numbers[name])

    def _reason(self, applies: bool) -> Reason:
        return "variant" if self.finding.reason == "variant" else "" if applies else "does not apply"

    def check_foreign(self, run: Run) -> Result:
        """`check` on somebody's checkpoint.

        The verdict is open where the claim needs what does not come with one: a split, a history or snapshots, more
        than one run, or a part that only other architectures have; and where it is said of networks of another task.
        """
        if len(self.needs) > 1 and (self.required or self.scope == "this run"):
            return self.open("does not apply")
        if self.needs and not self.said_of(run.task):
            return self.open("does not apply")
        try:
            result = self._checked(*([run] if self.needs else []))
        except NotRecorded:
            return self.open("does not apply")
        missing = any(v != v for name in self.bands for v in result.measured[name])
        return self.open("does not apply") if missing else result

    def check_available(self, runs: Mapping[str, Run]) -> Result:
        """`check` on those of the runs that it is about and that are there.

        The verdict is open where a run is missing that the claim cannot do without, or came without the weights that
        the claim asks for.

        Args:
            runs: name of a run to the run, or to measurements of it; may hold others.
        """
        if not self.has_enough(runs):
            return self.open("pending")
        measured = {name: measure(run) for name, run in runs.items()}
        try:
            return self._checked(*(measured[name] for name in self.counted(measured)))
        except NotRecorded:
            return self.open("pending")

    def has_enough(self, names: Collection[str]) -> bool:
        """Whether the runs that the claim cannot do without are among these."""
        present = [name for name in self.needs if name in names]
        fewest = len(self.needs) if self.scope == "this run" and not self.required else min(1, len(self.needs))
        return len(present) >= fewest and all(_fits(pattern, present) for pattern in self.required)

    def subjects(self, specs: Mapping[str, RunSpec | None]) -> tuple[str, ...]:
        """Names of those runs that the claim is measured on: its needs, and their relatives if it is about one network.

        Args:
            specs: name of every run that there is to what it was trained from, None for a foreign checkpoint.
        """
        needs = [name for name in self.needs if name in specs]
        first = specs[needs[0]] if needs else None
        if self.of_one is None or first is None or not all(is_related(first, specs[name]) for name in needs):
            return tuple(needs)
        others = (name for name in specs if name not in needs and name.startswith(f"{self.source}/"))
        return (*needs, *(name for name in others if is_related(first, specs[name], Relation.SAME)))

    def counted(self, measured: Mapping[str, NetworkMeasurements]) -> tuple[str, ...]:
        """Names of the `subjects` that count: the needs, and those relatives that did not end while they still moved.

        Args:
            measured: name of every run that there is to its measurements.
        """
        names = self.subjects({name: m.spec for name, m in measured.items()})
        return tuple(name for name in names if name in self.needs or measured[name].is_settled)

    def open(self, reason: Reason) -> Result:
        """The result where nothing was measured."""
        return Result(self, {}, (), reason)


def _fits(pattern: str, names: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _numbers(value: Value) -> tuple[float, ...]:
    """A measured value as floats, one per run; NaN, which no band holds, where it was measured on no run at all."""
    return tuple(float(v) for v in value) or (float("nan"),) if isinstance(value, Sequence) else (float(value),)
