"""A statement of a source, made checkable: what to measure, on which runs, and what to hold it against."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from modinterp.claims.band import Band
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.runs import NotRecorded, TrainedRun

Verdict = Literal["holds", "refuted", "not measured"]
Scope = Literal["this run", "any seed", "any network"]
Value = int | float | Sequence[float] | Sequence[int]
Measure = Callable[..., Mapping[str, Value]]
Run = TrainedRun | NetworkMeasurements


def each(measure: Measure) -> Measure:
    """A measure of one run, taken on every run: each of its numbers becomes one number per run."""

    @functools.wraps(measure)
    def on_each(*runs: NetworkMeasurements) -> Mapping[str, Value]:
        rows = [measure(m) for m in runs]
        return {name: [row[name] for row in rows] for name in rows[0]}  # type: ignore[misc]

    return on_each


@dataclass(frozen=True)
class Finding:
    """The verdict that was recorded for the shipped runs, and why, where it is not that the claim holds."""

    verdict: Verdict = "holds"
    why: str = ""


HOLDS = Finding()


def refuted(why: str) -> Finding:
    """The claim does not hold on the shipped runs."""
    return Finding("refuted", why)


def not_measured(why: str) -> Finding:
    """The claim awaits a run that is not shipped."""
    return Finding("not measured", why)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a source; every field is given by its name.

    Attributes:
        id: `SOURCE.PLACE.WHAT`.
        where: section, figure or table of the source.
        statement: in our words.
        source_says: the source's number, as it prints it.
        measure: from the measurements of the runs in `needs` to named numbers; a sequence holds one number per run.
        expected: name of a number to the band it must lie in; numbers without a band are reported beside.
        given: name of a number to the band in which it must lie for the claim to be about these runs at all, such as
            the accuracy of a network that is said to have learned; off it the claim is not measured.
        needs: names of runs.
        scope: `this run`, or `any seed` (measured on all of `needs` that are there), or `any network` (mathematics and
            set-up, true before training as well; all others must fail on the same network at its start).
        finding: the recorded verdict.
        figure: key of the figure of the source that shows it.
        required: patterns of names, such as `SOURCE/decay-3-*`; for each at least one of `needs` must be there. Without
            any, `this run` asks for all of `needs` and `any seed` for one.
    """

    id: str
    where: str
    statement: str
    source_says: str
    measure: Measure
    expected: Mapping[str, Band]
    needs: tuple[str, ...] = ()
    scope: Scope = "this run"
    finding: Finding = HOLDS
    figure: str = ""
    required: tuple[str, ...] = ()
    given: Mapping[str, Band] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.expected:
            raise ValueError(f"{self.id} expects nothing, so nothing could refute it")
        for pattern in self.required:
            if not _fits(pattern, self.needs):
                raise ValueError(f"{self.id} requires {pattern}, which none of its needs fits")

    @property
    def bands(self) -> Mapping[str, Band]:
        """Name of a number to its band, of all numbers that are given or expected."""
        return {**self.given, **self.expected}

    @property
    def source(self) -> str:
        """The source's short name."""
        return self.id.partition(".")[0]

    @property
    def _unmeasured(self) -> Result:
        return Result(self, {}, "not measured", (), 0.0)

    def check(self, *runs: Run) -> Result:
        """Measure on these runs, or on measurements of them, and hold the numbers against their bands.

        Raises:
            ValueError: no run, where the claim needs one; a number that the claim expects was not measured.
        """
        if self.needs and not runs:
            raise ValueError(f"{self.id} is measured on a run, such as {self.needs[0]}")
        began = time.perf_counter()
        measured = {name: _numbers(value) for name, value in self.measure(*map(measure, runs)).items()}
        missing = sorted(set(self.bands) - set(measured))
        if missing:
            raise ValueError(f"{self.id} expects {', '.join(missing)}, which its measure does not return")
        result = Result(self, measured, "holds", tuple(run.name for run in runs), time.perf_counter() - began)
        if set(result.off) & set(self.given):
            return replace(result, verdict="not measured")
        return replace(result, verdict="refuted") if result.off else result

    def check_foreign(self, run: Run) -> Result:
        """`check` on somebody's checkpoint.

        The verdict is `not measured` where the claim needs what does not come with one: a split, a history or
        snapshots, more than one run, or a part that only other architectures have.
        """
        if len(self.needs) > 1 and (self.required or self.scope == "this run"):
            return self._unmeasured
        try:
            result = self.check(*([run] if self.needs else []))
        except NotRecorded:
            return self._unmeasured
        missing = any(v != v for name in self.bands for v in result.measured[name])
        return replace(result, verdict="not measured", measured={}, runs=()) if missing else result

    def check_available(self, runs: Mapping[str, Run]) -> Result:
        """`check` on those of the runs it needs that are there.

        The verdict is `not measured` where a run is missing that the claim cannot do without, or came without the
        weights that the claim asks for.

        Args:
            runs: name of a run to the run, or to measurements of it.
        """
        present = [name for name in self.needs if name in runs]
        fewest = len(self.needs) if self.scope == "this run" and not self.required else min(1, len(self.needs))
        if len(present) < fewest or not all(_fits(pattern, present) for pattern in self.required):
            return self._unmeasured
        try:
            return self.check(*(runs[name] for name in present))
        except NotRecorded:
            return self._unmeasured


def _fits(pattern: str, names: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _numbers(value: Value) -> tuple[float, ...]:
    """A measured value as floats, one per run; NaN, which no band holds, where it was measured on no run at all."""
    return tuple(float(v) for v in value) or (float("nan"),) if isinstance(value, Sequence) else (float(value),)


def number_text(value: float) -> str:
    """A number as people read it: small integers whole, all else to four digits.

    >>> number_text(433.0), number_text(2.4123456e-7), number_text(float("nan"))
    ('433', '2.412e-07', 'nan')
    """
    return f"{value:.0f}" if abs(value) < 1e6 and value == round(value) else f"{value:.4g}"


@dataclass(frozen=True)
class Result:
    """What came out when a claim was checked.

    Attributes:
        measured: name to numbers, one, or one per run.
        runs: names of the runs it was measured on.
        seconds: that the measurement took beyond what other claims had already asked for.
    """

    claim: Claim
    measured: Mapping[str, tuple[float, ...]]
    verdict: Verdict
    runs: tuple[str, ...]
    seconds: float

    @property
    def as_recorded(self) -> bool:
        """Whether the verdict is the one that the claim's finding records."""
        return self.verdict == self.claim.finding.verdict

    @property
    def runs_pending(self) -> tuple[str, ...]:
        """Runs that the claim asks for beside those it was measured on; empty where it was measured on none of them."""
        measured_on = set(self.runs) & set(self.claim.needs)
        return tuple(name for name in self.claim.needs if name not in measured_on) if measured_on else ()

    @property
    def off(self) -> tuple[str, ...]:
        """Names of the numbers that do not lie in their band; several where one of them does not."""
        banded = [(name, band, self.measured.get(name, ())) for name, band in self.claim.bands.items()]
        return tuple(name for name, band, values in banded if not all(map(band.holds, values)))

    @property
    def seeds_held(self) -> str:
        """In how many of several runs a claim of any seed holds, such as "4 of 5"; empty where that says nothing.

        A run counts where all of its own numbers lie in their bands. It says nothing of one run alone, nor of claims
        with a number of all runs together, such as a median, that is off its band or is all that they expect.
        """
        n, banded = len(self.runs), [(band, self.measured.get(name, ())) for name, band in self.claim.expected.items()]
        own = [(band, values) for band, values in banded if len(values) == n]
        together = [band.holds(value) for band, values in banded if len(values) != n for value in values]
        if self.claim.scope != "any seed" or n < 2 or not own or not all(together):
            return ""
        return f"{sum(all(band.holds(values[i]) for band, values in own) for i in range(n))} of {n}"

    def value_text(self, name: str) -> str:
        """One of the numbers; several as smallest to largest."""
        values = self.measured[name]
        return " to ".join(dict.fromkeys(map(number_text, (min(values), max(values)))))

    def measured_text(self, only: Iterable[str] | None = None) -> str:
        """Numbers with their names.

        Args:
            only: names of the numbers to tell, in this order; all by default.
        """
        names = [name for name in (self.measured if only is None else only) if name in self.measured]
        counts = {name: len(self.measured[name]) for name in names}
        return "; ".join(f"{n} {self.value_text(n)}" + (f" ({counts[n]} runs)" if counts[n] > 1 else "") for n in names)

    def expected_text(self) -> str:
        """Bands with the names of the numbers they are for."""
        return "; ".join(f"{name} {band}" for name, band in self.claim.expected.items())

    def to_json(self) -> dict[str, Any]:
        """Plain data for `claims.json`: numbers by name; null for one that is not finite; several as a list."""
        finite = {
            name: [v if abs(v) < float("inf") else None for v in values] for name, values in self.measured.items()
        }
        claim = self.claim
        return {
            "id": claim.id,
            "source": claim.source,
            "where": claim.where,
            "statement": claim.statement,
            "reference": claim.source_says,
            "expected": {name: str(band) for name, band in claim.expected.items()},
            "given": {name: str(band) for name, band in claim.given.items()},
            "because": {name: band.because for name, band in claim.bands.items()},
            "measured": {name: values[0] if len(values) == 1 else values for name, values in finite.items()},
            "verdict": self.verdict,
            "seeds_held": self.seeds_held or None,
            "finding": {"verdict": claim.finding.verdict, "why": claim.finding.why},
            "scope": claim.scope,
            "runs": list(self.runs),
            "runs_pending": list(self.runs_pending),
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        seeds = f" ({self.seeds_held})" if self.seeds_held else ""
        told = f"expected {self.expected_text()}; the source: {self.claim.source_says}"
        return f"{self.verdict}{seeds}: {self.measured_text()} ({told})"
