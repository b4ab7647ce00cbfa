"""A claim as data: a statement of a source, what to measure, on which runs, and in which band each number must lie."""

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
    """Whether a claim is said of a network that learned a task: of any."""
    return True


def each(measure: Measure) -> Measure:
    """Turn a measure of one network into one of several: each number becomes one number per network.

    Each network's activations are let go before those of the next are captured.
    """

    @functools.wraps(measure)
    def on_each(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        rows = [measure(m) for m in one_at_a_time(runs)]
        return {name: [row[name] for row in rows] for name in rows[0]}  # type: ignore[misc]

    on_each.of_one = measure  # type: ignore[attr-defined]
    return on_each


def in_pairs(measure: Measure) -> Measure:
    """Turn a measure of two networks of one seed into one of all pairs: each number becomes one number per pair.

    The networks of one recipe come first, then those of the other recipe, in the same order of seeds.
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
    """Make a measure of one network that returns quantities by their registered keys.

    Raises:
        KeyError: no quantity has such a key.
    """
    names = [quantity(key).key for key in keys]

    def measure(m: NetworkMeasurements) -> Mapping[str, Value]:
        return {key: m[key] for key in names}

    return measure


@functools.cache
def _with_quantities(measure: Measure, keys: tuple[str, ...]) -> Measure:
    """A measure of one network or of several, and beside its numbers some quantities of each network."""

    @functools.wraps(measure)
    def both(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        numbers, quantities = measure(*runs), (of_quantities(keys) if len(runs) == 1 else each(of_quantities(keys)))
        if twice := sorted(set(numbers) & set(REGISTRY)):
            raise ValueError(f"a measure returns {', '.join(twice)}, the key of a quantity; a claim names that itself")
        return {**numbers, **quantities(*runs)}

    return both


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a tolerance, a measure or a verdict after its number had been seen.

    Attributes:
        date: of the change, `YYYY-MM-DD`.
        what: what was changed.
        before, now: the band or the number then and now.
        why: why it was changed.
        was: the verdict until then, where the change alone made it better; empty for other changes.
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

    A claim is about one network if its `measure` takes one network, or is made by `each`. A single-network claim is
    measured on every available network of the recipe: those in `needs`, and their replicates by seed, rounding and
    initialisation order. A claim about several networks together, such as a sweep, is measured only on `needs`.

    Attributes:
        id: `SOURCE.PLACE.WHAT`.
        where: section, figure or table of the source.
        statement: in our words.
        source_says: the source's number, as it prints it.
        measure: from the measurements of the runs in `needs` to named numbers that are no registered quantities; a
            sequence holds one number per run. Quantities are measured without it, wherever a claim names their keys.
        expected: name of a number, or key of a quantity, to the tolerance it must lie in.
        behaviour: names among the expected numbers of `measure` that say how well a network works, such as accuracies.
            They do not distinguish a mechanism, so controls are compared by the other numbers.
        printed: name of a number to its value in the source, for the table of the source's numbers beside ours.
        outside: name of a printed number to why it lies outside of all that is measured here.
        by_selection: names of numbers that chose the first of `needs` among its replicates to stand for the source's
            network, or that follow from such numbers. The chosen network agrees by construction.
        given: name of a number to the tolerance that a network must meet for the claim to be about it, such as an
            accuracy; a network outside is not counted.
        needs: names of runs, that of the source's own network first.
        scope: `this run`, or `any seed` (measured on all of `needs` that are there), or `any network` (mathematics and
            set-up, true before training as well).
        finding: the recorded verdict.
        control: whether the claim's numbers, behaviour apart, distinguish the trained network from itself before
            training and from one that only memorised, as recorded.
        reported: names of numbers without a tolerance, and keys of quantities, that the finding or a contradiction
            reports; a number that some networks lack may be missing.
        said_of: whether it is said of a network that learned a task; by default of any that the source is about.
        figure: key of the figure of the source that shows it.
        required: patterns of names, such as `SOURCE/decay-3-*`; for each pattern at least one matching run of `needs`
            must be available. Without `required`, the scope `this run` needs all of `needs`, and `any seed` one run.
        changed: what was changed of it since its numbers were first known.
        contrast: names of runs on which its numbers should be off: they lack what it says, in the order of `needs`. A
            control network of the source is measured as if it had learned the task of the first of `needs`.
        shuffled: whether the numbers should miss their tolerances once the settings of the runs are shuffled, as for a
            trend over a sweep. For a claim about one network, the first run gets the settings of the second.
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
            raise ValueError(f"{self.id} expects nothing, so nothing could refute it")
        if unknown := sorted({*self.behaviour} - {*self.expected} | {*self.behaviour} & {*REGISTRY}):
            raise ValueError(
                f"{self.id} lists {', '.join(unknown)} as behaviour, which are no expected numbers of its own measure"
            )
        if self.measure is None:
            of_quantities(self.names)  # which must exist
        for pattern in self.required:
            if not _fits(pattern, self.needs):
                raise ValueError(f"{self.id} requires {pattern}, which none of its needs fits")
        if unknown := sorted(set(self.outside) - set(self.printed)):
            raise ValueError(f"{self.id} says why {', '.join(unknown)} lies outside, which the source does not print")

    @property
    def bands(self) -> Mapping[str, Band]:
        """Map the name of each number that is a precondition or expected to its tolerance."""
        return {**self.given, **self.expected}

    @property
    def source(self) -> str:
        """The source's short name."""
        return self.id.partition(".")[0]

    @property
    def redefinition(self) -> Change | None:
        """The first change of measure or tolerance that improved the claim's verdict; None without one."""
        return next((change for change in self.changed if change.was), None)

    @property
    def redefined(self) -> str:
        """The verdict before its redefinition; empty where it had none."""
        return self.redefinition.was if self.redefinition is not None else ""

    @property
    def is_by_selection(self) -> bool:
        """True if every tolerance except behaviour was used to choose the main network, which then agrees by
        construction.

        A main network chosen by the claim's numbers is no evidence: it does not count among the networks in which the
        claim holds.
        """
        return bool(self.by_selection) and all(self.is_behaviour(n) or n in self.by_selection for n in self.expected)

    def is_behaviour(self, name: str) -> bool:
        """True if a number only shows that a network works, and not how: as its quantity states, or the claim."""
        return REGISTRY[name].is_behaviour if name in REGISTRY else name in self.behaviour

    @property
    def of_one(self) -> Measure | None:
        """Return the measure of one network for a single-network claim; None for any other claim."""
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
        """The measure of the runs in `needs` together; of quantities by their keys where `measure` is None."""
        if self.measure is None:
            return each(of_quantities(self.names))
        return _with_quantities(self.measure, self.keys) if self.keys else self.measure

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all numbers of the claim: expected, preconditions, printed, reported, or used to choose a
        network."""
        named = (*self.expected, *self.given, *self.printed, *self.by_selection, *self.reported)
        return tuple(dict.fromkeys(named))

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of its numbers that are keys of quantities."""
        return tuple(name for name in self.names if name in REGISTRY)

    @property
    def is_about_networks(self) -> bool:
        """True if the claim is about trained networks, and not mathematics or set-up."""
        return bool(self.needs) and self.scope != "any network"

    def has_enough(self, names: Collection[str]) -> bool:
        """True if these runs include all that the claim needs."""
        present = [name for name in self.needs if name in names]
        fewest = len(self.needs) if self.scope == "this run" and not self.required else min(1, len(self.needs))
        return len(present) >= fewest and all(_fits(pattern, present) for pattern in self.required)

    def subjects(self, specs: Mapping[str, RunSpec | None]) -> tuple[str, ...]:
        """Names of the runs on which the claim is measured: `needs`, and for a single-network claim their replicates.

        Args:
            specs: name of every run that there is to what it was trained from, None for a foreign checkpoint.
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
