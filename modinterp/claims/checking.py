"""Check a claim: measure its numbers on runs, and compare them with its tolerances."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from modinterp.claims.claim import ClaimData, Value
from modinterp.claims.finding import Reason
from modinterp.claims.relatives import Network, related
from modinterp.claims.result import Result
from modinterp.measurements import NetworkMeasurements, measure_as_published
from modinterp.measurements.degenerate import UNDEFINED, why_undefined
from modinterp.models.layouts import name_list
from modinterp.runs import NotRecorded, TrainedRun

Run = TrainedRun | NetworkMeasurements
Numbers = Mapping[str, tuple[float, ...]]


class Replayed(dict[str, tuple[float, ...]]):
    """Numbers of a claim that were recorded when a network was published, and that are not measured again."""


@dataclass(frozen=True, kw_only=True)
class Claim(ClaimData):
    """One statement of a source, with the methods that check it; pass every field by name.

    The fields of `Claim` are those of `ClaimData`. Use `check` for chosen runs, `check_available` for all available
    runs of the source, and `check_foreign` for your own network.
    """

    def check(self, *runs: Run) -> Result:
        """Measure the claim on runs, or on measurements of runs, and compare the numbers with their tolerances.

        For a single-network claim, the first run must be measurable; further runs that cannot be measured are skipped.

        Raises:
            NotRecorded: a run lacks something that the claim needs, such as weights or snapshots.
            ValueError: the claim needs a run and got none; or its numbers are not defined for these runs, or only for
                more runs.
        """
        try:
            return self._checked(*runs)
        except (AttributeError, ArithmeticError, LookupError) as error:
            names = [run.name for run in runs]
            if set(self.needs) <= set(names) or (self.of_one is not None and names[0] in self.needs):
                raise
            asked = self.needs[0] + " and others together" * (self.of_one is None and len(self.needs) > 1)
            raise ValueError(
                f"{self.id} is measured on {asked}, so there are no numbers for {name_list(names)}"
            ) from error

    def _checked(self, *runs: Run) -> Result:
        """Do the work of `check`, but let errors of the measure pass unchanged."""
        if self.needs and not runs:
            raise ValueError(f"{self.id} is measured on a run, such as {self.needs[0]}")
        began, measured = time.perf_counter(), [measure_as_published(run) for run in runs]
        networks = related({m.name: m.spec for m in measured})
        if self.of_one is None:
            result = self.judged_together(self.numbers(*measured), networks)
        else:
            rows = [(networks[0], self.numbers(measured[0]))]
            for network, m in zip(networks[1:], measured[1:], strict=True):
                with suppress(NotRecorded):
                    rows.append((network, self.numbers(m)))
            result = self.judged(rows)
        terms = measured[0].words_of_task if measured else {}
        recorded = recorded_among(result, {m.name: m for m in measured})
        return replace(result, seconds=time.perf_counter() - began, terms=terms, recorded=recorded)

    def numbers(self, *measured: NetworkMeasurements) -> Numbers:
        """Measure the numbers of one network for a single-network claim, and otherwise of all given networks together.

        Raises:
            NotRecorded: a run lacks something that the claim needs, such as weights or snapshots.
            ValueError: a number that the claim expects was not measured.
        """
        numbers = self._measured(measured)
        if missing := sorted(set(self.names) - {*numbers, *self.reported}):
            raise ValueError(f"{self.id} expects {', '.join(missing)}, which its measure does not return")
        return numbers

    def ask_alone(self, m: NetworkMeasurements) -> None:
        """Compute and cache everything that a claim about several networks needs from one of them."""
        parameters = inspect.signature(self.measure_of_all).parameters.values()
        places = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        with suppress(NotRecorded, ValueError, ArithmeticError, LookupError):  # alone it may have no numbers
            self.measure_of_all(*[m] * max(places, 1))

    def _measured(self, measured: Sequence[NetworkMeasurements]) -> Numbers:
        """Return the claim's numbers that were recorded for a network, or else measure them."""
        recorded = measured[0].run.recorded if len(measured) == 1 else None
        if self.of_one is not None and recorded is not None:
            numbers = recorded.claims.get(self.id, {})
            if numbers and set(self.bands) <= set(numbers):  # else recorded before the claim asked for them
                return Replayed(numbers)
        return {name: _numbers(value) for name, value in (self.of_one or self.measure_of_all)(*measured).items()}

    def judged(self, rows: Sequence[tuple[Network, Numbers]]) -> Result:
        """Return the result of a single-network claim from the numbers of each network, with the source's main network
        first.

        Networks that fail the claim's precondition (its field `given`) are left out. If all networks fail the
        precondition, the claim does not apply.
        """
        applicable = [(network, row) for network, row in rows if self._applies(row)]
        networks, kept = zip(*(applicable or rows[:1]), strict=True)
        names = [name for name in kept[0] if all(len(row.get(name, ())) == len(kept[0][name]) for row in kept)]
        numbers = {name: tuple(value for row in kept for value in row[name]) for name in names}
        left_out = tuple(network.name for network, _ in rows if network not in networks)
        replayed = tuple(network.name for network, row in applicable or rows[:1] if isinstance(row, Replayed))
        return Result(self, numbers, networks, self._reason(bool(applicable)), left_out=left_out, recorded=replayed)

    def judged_together(self, numbers: Numbers, networks: tuple[Network, ...]) -> Result:
        """Return the result of a claim about several networks together, or about no network, from its numbers."""
        return Result(self, numbers, networks, self._reason(self._applies(numbers)))

    def _applies(self, numbers: Numbers) -> bool:
        return all(band.holds(value) for name, band in self.given.items() for value in numbers[name])

    def _reason(self, applies: bool) -> Reason:
        return "variant" if self.finding.reason == "variant" else "" if applies else "does not apply"

    def check_foreign(self, run: Run) -> Result:
        """Check the claim on a user's checkpoint; if the claim cannot be measured, return an open verdict instead of an
        error.

        The verdict is open if the checkpoint lacks what the claim needs: a split, a history, snapshots, more runs, or a
        part of another architecture. The verdict is also open if the claim is about another task, or if its numbers are
        undefined, as in a network without key frequencies. `Result.why` gives the reason.
        """
        if len(self.needs) > 1 and (self.required or self.scope == "this run"):
            return self.open("does not apply")
        if self.needs and not self.said_of(run.task):
            return self.open("does not apply")
        try:
            result = self._checked(*([run] if self.needs else []))
        except NotRecorded as error:
            return self.open("does not apply", str(error))
        except UNDEFINED:
            why = (
                why_undefined(measure_as_published(run))
                or "something that the claim counts or divides by does not exist in this network"
            )
            return self.open("does not apply", f"the numbers of the claim are not defined for this network: {why}")
        missing = [name for name in self.bands if any(v != v for v in result.measured[name])]
        if not missing:
            return result
        why = why_undefined(measure_as_published(run)) if self.needs else ""
        names = ", ".join(result.title(name) for name in missing)
        return self.open("does not apply", f"not defined for this network: {names}" + f", as {why}" * bool(why))

    def check_available(self, runs: Mapping[str, Run]) -> Result:
        """Check the claim on all available runs that it is about.

        The verdict is open if a required run is missing, or was shipped without weights that the claim needs.

        Args:
            runs: map from the name of a run to the run or to its measurements; runs that the claim does not use are
                ignored.
        """
        if not self.has_enough(runs):
            return self.open("pending")
        measured = {name: measure_as_published(run) for name, run in runs.items()}
        try:
            names = self.subjects({name: m.spec for name, m in measured.items()})
            return replace(self._checked(*(measured[name] for name in names)), of_source=True)
        except NotRecorded:
            return self.open("pending")

    def open(self, reason: Reason, why: str = "") -> Result:
        """Return an open result, for a claim that could not be measured, with the reason."""
        return Result(self, {}, (), reason, why=why)


def recorded_among(result: Result, measured: Mapping[str, NetworkMeasurements]) -> tuple[str, ...]:
    """Return the names of networks whose numbers in a result were recorded earlier, and not recomputed from weights."""
    return tuple(name for name in result.runs if measured[name].is_recorded or name in result.recorded)


def _numbers(value: Value) -> tuple[float, ...]:
    """Return a measured value as a tuple of floats, one per run; NaN if the value was measured on no run."""
    return tuple(float(v) for v in value) or (float("nan"),) if isinstance(value, Sequence) else (float(value),)
