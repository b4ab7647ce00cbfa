"""Define a claim as data: a source's statement, its measure, its runs, and the tolerance of each number."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from modinterp.claims.band import Band
from modinterp.claims.finding import HOLDS, Control, Finding
from modinterp.claims.relatives import is_related, is_same
from modinterp.measurements import REGISTRY, NetworkMeasurements, one_at_a_time, quantity
from modinterp.tasks import Task
from modinterp.training import RunSpec

Scope = Literal["this run", "any seed", "any network"]
Value = int | float | Sequence[float] | Sequence[int]
Measure = Callable[..., Mapping[str, Value]]


def _any_task(task: Task) -> bool:
    """Return True: by default, a claim applies to networks of every task."""
    return True


def each(measure: Measure) -> Measure:
    """Turn a measure of one network into a measure of several networks: each number becomes one number per network.

    The activations of each network are freed before the activations of the next network are captured.
    """

    @functools.wraps(measure)
    def on_each(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        rows = [measure(m) for m in one_at_a_time(runs)]
        return {name: [row[name] for row in rows] for name in rows[0]}  # type: ignore[misc]

    on_each.of_one = measure  # type: ignore[attr-defined]
    return on_each


def in_pairs(measure: Measure) -> Measure:
    """Turn a measure of two networks with the same seed into a measure of all such pairs.

    Each number of the original measure becomes one number per pair.

    The new measure takes the networks of one recipe first, then the networks of the other recipe, in the same order of
    seeds.
    """

    @functools.wraps(measure)
    def on_pairs(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        half = len(runs) // 2
        rows = [measure(a, b) for a, b in zip(runs[:half], runs[half:], strict=True)]
        return {name: [row[name] for row in rows] for name in rows[0]}  # type: ignore[misc]

    on_pairs.of_pairs = True  # type: ignore[attr-defined]
    return on_pairs


@functools.cache  # so that two claims about the same quantities share one measure
def of_quantities(keys: tuple[str, ...]) -> Measure:
    """Return a measure of one network that computes quantities by their registered keys.

    Raises:
        KeyError: a key is not a registered quantity.
    """
    names = [quantity(key).key for key in keys]

    def measure(m: NetworkMeasurements) -> Mapping[str, Value]:
        return {key: m[key] for key in names}

    return measure


@functools.cache
def _with_quantities(measure: Measure, keys: tuple[str, ...]) -> Measure:
    """Return a measure that adds registered quantities of each network to the numbers of another measure."""

    @functools.wraps(measure)
    def both(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        numbers, quantities = measure(*runs), (of_quantities(keys) if len(runs) == 1 else each(of_quantities(keys)))
        if twice := sorted(set(numbers) & set(REGISTRY)):
            raise ValueError(
                f"a measure returns {', '.join(twice)}, which is the key of a registered quantity; name the "
                "quantity in `expected` instead"
            )
        return {**numbers, **quantities(*runs)}

    return both


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a claim's tolerance, measure or verdict, made after its numbers were known.

    Attributes:
        date: date of the change, written as `YYYY-MM-DD`.
        what: description of the changed number, tolerance or measure.
        before, now: the tolerance or the number before and after the change.
        why: reason for the change.
        was: the verdict before the change, if the change alone improved it; empty for other changes.
    """

    date: str
    what: str
    before: str
    now: str
    why: str
    was: Literal["", "refuted", "mixed"] = ""


@dataclass(frozen=True, kw_only=True)
class ClaimData:
    """The fields of a claim; `modinterp.claims.Claim` adds the methods that check it.

    A claim is about a single network if its `measure` takes one network, or is made by `each`. A single-network claim
    is measured on every available network of the recipe: those in `needs`, and their replicates by seed, rounding and
    initialisation order. A claim about several networks together, such as a sweep, is measured only on `needs`.

    Attributes:
        id: `SOURCE.PLACE.WHAT`.
        where: section, figure or table of the source that makes the claim.
        statement: the claim in our words.
        source_says: the number as the source prints it.
        measure: function from the measurements of the runs in `needs` to named numbers; a sequence holds one number per
            run. A claim that only uses registered quantities needs no `measure`: its tolerances name their keys.
        expected: map from the name of a number, or the key of a quantity, to the tolerance in which it must lie.
        behaviour: names among the expected numbers of `measure` that say how well a network works, such as accuracies.
            Numbers of `behaviour` do not distinguish a mechanism, so controls are compared by the other numbers.
        printed: map from the name of a number to its value in the source, for the table that compares the source's
            numbers with ours.
        outside: map from the name of a printed number to the reason why all our measured values differ from it.
        by_selection: names of numbers that were used to choose the first run of `needs` among its replicates, or that
            follow from such numbers. A network chosen by these numbers satisfies the claim by construction.
        given: preconditions of the claim: map from the name of a number, such as an accuracy, to its tolerance. A
            network that misses the tolerance of a precondition is not counted.
        needs: names of the runs on which the claim is measured; the first run stands for the source's own network.
        scope: `this run`, `any seed` (measured on all available runs of `needs`), or `any network` (mathematics and
            set-up, which are also true before training).
        finding: the verdict on the shipped networks, as recorded in the source's code.
        control: recorded answer to the question whether the claim's numbers, except behaviour, distinguish the trained
            network from an untrained one and from one that only memorised.
        reported: names of numbers without a tolerance, and keys of quantities, that the finding or a contradiction
            reports. Some networks may lack a number named in `reported`.
        said_of: function that returns True if the claim applies to networks of a task; by default to every task.
        figure: key of the source's figure that shows the claim.
        required: patterns of names, such as `SOURCE/decay-3-*`; for each pattern at least one matching run of `needs`
            must be available. Without `required`, the scope `this run` needs all of `needs`, and `any seed` one run.
        changed: changes of the claim after its numbers were first known.
        contrast: names of control runs, in the order of `needs`, whose numbers should miss the tolerances. A control
            network of the source is measured as if it had learned the task of the first run of `needs`.
        shuffled: True if the numbers should miss their tolerances after the settings of the runs are shuffled, as for a
            trend over a sweep. For a single-network claim, the first run gets the settings of the second run.
    """

    id: str
    where: str
    statement: str
    source_says: str
    measure: Measure | None = None
    expected: Mapping[str, Band]
    behaviour: tuple[str, ...] = ()
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
    reported: tuple[str, ...] = ()
    contrast: tuple[str, ...] = ()
    shuffled: bool = False

    def __post_init__(self) -> None:
        if not self.expected:
            raise ValueError(f"{self.id} has no expected number, so no measurement could refute it")
        if unknown := sorted({*self.behaviour} - {*self.expected} | {*self.behaviour} & {*REGISTRY}):
            raise ValueError(
                f"{self.id} lists {', '.join(unknown)} as behaviour, which are not among the expected "
                "numbers of its own measure"
            )
        if self.measure is None:
            of_quantities(self.names)  # which must exist
        for pattern in self.required:
            if not _fits(pattern, self.needs):
                raise ValueError(f"{self.id} requires {pattern}, but no run in its `needs` matches this pattern")
        if unknown := sorted(set(self.outside) - set(self.printed)):
            raise ValueError(
                f"{self.id} explains why {', '.join(unknown)} differs from the source, but the source prints "
                "no such number"
            )

    @property
    def bands(self) -> Mapping[str, Band]:
        """The tolerances of all preconditions and expected numbers, by name."""
        return {**self.given, **self.expected}

    @property
    def source(self) -> str:
        """Short name of the claim's source."""
        return self.id.partition(".")[0]

    @property
    def redefinition(self) -> Change | None:
        """The first change of measure or tolerance that improved the claim's verdict; None without one."""
        return next((change for change in self.changed if change.was), None)

    @property
    def redefined(self) -> str:
        """The verdict before the redefinition of the claim; empty if the claim was not redefined or had no verdict."""
        return self.redefinition.was if self.redefinition is not None else ""

    @property
    def is_by_selection(self) -> bool:
        """True if every tolerance except behaviour was used to choose the main network, which then agrees by
        construction.

        A main network chosen by the claim's numbers is no evidence, so it does not count among the networks in which
        the claim holds.
        """
        return bool(self.by_selection) and all(self.is_behaviour(n) or n in self.by_selection for n in self.expected)

    def is_behaviour(self, name: str) -> bool:
        """Return True if a number only shows how well a network works, and not how it works."""
        return REGISTRY[name].is_behaviour if name in REGISTRY else name in self.behaviour

    @property
    def of_one(self) -> Measure | None:
        """The measure of one network for a single-network claim; None for any other claim."""
        if self.scope == "any network" or not self.needs:
            return None
        if self.measure is None:
            return of_quantities(self.names)
        own = getattr(self.measure, "of_one", self.measure if len(self.needs) == 1 else None)
        return _with_quantities(own, self.keys) if own is not None and self.keys else own

    @property
    def is_of_pairs(self) -> bool:
        """True if the measure compares two networks of each seed, made by `in_pairs`."""
        return hasattr(self.measure, "of_pairs")

    @property
    def measure_of_all(self) -> Measure:
        """The measure of all runs in `needs` together; registered quantities are measured if `measure` is None."""
        if self.measure is None:
            return each(of_quantities(self.names))
        return _with_quantities(self.measure, self.keys) if self.keys else self.measure

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all numbers of the claim: expected, precondition, printed, reported, or used to choose a network."""
        named = (*self.expected, *self.given, *self.printed, *self.by_selection, *self.reported)
        return tuple(dict.fromkeys(named))

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the claim's numbers that are keys of registered quantities."""
        return tuple(name for name in self.names if name in REGISTRY)

    @property
    def is_about_networks(self) -> bool:
        """True if the claim is about trained networks, and not about mathematics or set-up."""
        return bool(self.needs) and self.scope != "any network"

    def has_enough(self, names: Collection[str]) -> bool:
        """Return True if the given runs include all runs that the claim needs."""
        present = [name for name in self.needs if name in names]
        fewest = len(self.needs) if self.scope == "this run" and not self.required else min(1, len(self.needs))
        return len(present) >= fewest and all(_fits(pattern, present) for pattern in self.required)

    def subjects(self, specs: Mapping[str, RunSpec | None]) -> tuple[str, ...]:
        """Return the names of the runs on which the claim is measured: `needs`, and for a single-network claim their
        replicates.

        Args:
            specs: map from the name of every available run to its spec; None for an external checkpoint.
        """
        needs = [name for name in self.needs if name in specs]
        first = specs[needs[0]] if needs else None
        if self.of_one is None or first is None or not all(is_related(first, specs[name]) for name in needs):
            return tuple(needs)
        others = [name for name in specs if name not in needs and name.startswith(f"{self.source}/")]
        found = list(needs)
        for name in (each for each in others if is_related(first, specs[each])):
            if not any(is_same(own, specs[name]) for own in map(specs.get, found) if own is not None):
                found.append(name)
        return tuple(found)


def _fits(pattern: str, names: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)
