"""Describe the result of checking a claim: its numbers, verdict, and the number of networks in which it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from modinterp.claims.claim import ClaimData
from modinterp.claims.finding import Control, Finding, Kind, Reason, Verdict
from modinterp.claims.prevalence import ENOUGH, Prevalence
from modinterp.claims.relatives import Network, fewest_seeds
from modinterp.claims.tally import Column, column
from modinterp.measurements.quantity import number_text, title

NEAR = 0.05  # of a band's edge


@dataclass(frozen=True)
class Result:
    """The result of checking a claim.

    Attributes:
        measured: map from the name of a number to its values: a single value, or one value per network.
        networks: the networks on which the claim was measured.
        left_out: names of measured networks that fail the claim's precondition.
        reason: reason why the verdict is open for any numbers; empty if the numbers decide. `why_open` also returns the
            reason `one seed`.
        why: if the claim could not be measured on a user's network, text that says what is missing.
        terms: words for parts of the measured networks, which titles of quantities use.
        of_source: True if all available networks of the source were evaluated; if False, the verdict concerns only the
            given networks.
        recorded: names of networks whose numbers were recorded when published; other networks were measured now.
        control: the claim's numbers on control networks, such as the first network `before training`, if available.
        seconds: time of the measurement, without quantities that earlier claims had already computed. [s]
    """

    claim: ClaimData
    measured: Mapping[str, tuple[float, ...]]
    networks: tuple[Network, ...]
    reason: Reason = ""
    control: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    seconds: float = 0.0
    left_out: tuple[str, ...] = ()
    why: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    of_source: bool = False

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the networks on which the claim was measured."""
        return tuple(network.name for network in self.networks)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the claim; see `modinterp.claims.finding`."""
        return "open" if self.why_open else self._measured_verdict

    @property
    def why_open(self) -> Reason:
        """Reason why the verdict is open; empty for other verdicts. One seed of a recipe cannot refute a claim, so the
        verdict is open.
        """
        is_one_seed = self.of_source and bool(self.networks) and self.seeds < 2
        if not self.reason and is_one_seed and self.claim.is_about_networks and self._measured_verdict == "refuted":
            return "one seed"
        return self.reason

    @property
    def _measured_verdict(self) -> Verdict:
        """The verdict from the numbers alone, however few the networks."""
        if self.prevalence is None:
            return "refuted" if self.off else "holds"
        held, of = self.prevalence.seeds.held, self.prevalence.seeds.of
        return "holds" if held == of else "mixed" if held else "refuted"

    @property
    def seeds(self) -> int:
        """The number of independent seeds; for a comparison of recipes, the smallest number among the recipes.

        The number of seeds is 0 if the claim is about no network.
        """
        if not self.claim.is_about_networks:
            return 0
        return self.prevalence.seeds.of if self.prevalence is not None else fewest_seeds(self.networks)

    @property
    def is_preliminary(self) -> bool:
        """True if the claim is about networks and was measured on fewer than eight independent seeds."""
        several = len(self.networks) > 1 or (self.of_source and bool(self.networks))
        return self.claim.is_about_networks and several and self.seeds < ENOUGH

    @property
    def counts_as(self) -> Column:
        """The column of `modinterp.claims.tally` in which the claim counts."""
        return column(self.verdict, self.specificity, self.claim, self.seeds)

    @property
    def kind(self) -> Kind:
        """Kind of a refutation, such as `near miss`; empty for other verdicts."""
        if self.verdict != "refuted":
            return ""
        misses = [band.miss(v) for name, band in self.claim.expected.items() for v in self.measured[name]]
        recorded = self.claim.finding.kind
        if recorded == "our own expectation":  # however near, it says nothing of the source
            return recorded
        return "near miss" if max(misses) < NEAR else "network" if recorded == "near miss" else recorded

    @property
    def words(self) -> str:
        """The verdict and, if the verdict is open, the reason."""
        return Finding(self.verdict, reason=self.why_open).words

    @property
    def as_recorded(self) -> bool:
        """True if the verdict, and the kind of a refutation, equal those recorded in the claim's finding."""
        return self.words == self.claim.finding.words and self.kind == self.claim.finding.kind

    @property
    def contradicts_record(self) -> bool:
        """True if this verdict, on fewer networks than were recorded, contradicts the recorded verdict."""
        against = {"holds": ("mixed", "refuted"), "refuted": ("holds", "mixed")}
        return self.verdict in against.get(self.claim.finding.verdict, ())

    @property
    def runs_pending(self) -> tuple[str, ...]:
        """Needed runs that were not measured; empty if the claim was measured on none of its runs."""
        there = {*self.runs, *self.left_out}
        return tuple(name for name in self.claim.needs if name not in there) if there & set(self.claim.needs) else ()

    @property
    def off(self) -> tuple[str, ...]:
        """Names of the claim's numbers that lie outside their tolerances."""
        banded = [(name, band, self.measured.get(name, ())) for name, band in self.claim.bands.items()]
        return tuple(name for name, band, values in banded if not all(map(band.holds, values)))

    @cached_property
    def passes(self) -> tuple[bool, ...]:
        """True for each network, or pair of networks, whose numbers all lie in their tolerances.

        `passes` is empty for a claim about several recipes that are not compared in pairs. `passes` is also empty if a
        joint number, such as a median, misses its tolerance or is the only expected number.
        """
        n, claim = len(self._units), self.claim
        of_many = claim.scope == "any seed" and n > 1 and all(network.relation for network in self.networks)
        if claim.of_one is None and not of_many and not claim.is_of_pairs:
            return ()
        banded = [(band, self.measured.get(name, ())) for name, band in claim.expected.items()]
        own = [(band, values) for band, values in banded if len(values) == n]
        together = [band.holds(value) for band, values in banded if len(values) != n for value in values]
        if not own or not all(together):
            return ()
        return tuple(all(band.holds(values[i]) for band, values in own) for i in range(n))

    @property
    def _units(self) -> tuple[Network, ...]:
        """The networks; if networks of the same seed are compared in pairs, only the first network of each pair."""
        return self.networks[: len(self.networks) // 2] if self.claim.is_of_pairs else self.networks

    @cached_property
    def prevalence(self) -> Prevalence | None:
        """Number of seeds in which the claim holds; None for a claim that is neither about one network nor about pairs
        of one seed.

        The first network does not count if it was chosen by the claim's own numbers and other networks are available.
        """
        selected = self.claim.is_by_selection and len(self.passes) > 1 and self.runs[:1] == self.claim.needs[:1]
        return Prevalence.of(self.passes[selected:], self._units[selected:]) if self.passes else None

    @property
    def prevalence_text(self) -> str:
        """Prevalence in words for several networks, such as "4 of 5 seeds, preliminary"; empty for one network."""
        return str(self.prevalence) if self.prevalence is not None and len(self.networks) > 1 else ""

    @property
    def found_text(self) -> str:
        """The verdict with its number of seeds, such as "holds in 20 of 20 seeds (at least 86% of seeds, 95%)".

        Below eight seeds the text of the verdict ends with "preliminary". For a claim about no network, the text is
        only the verdict, such as "holds".
        """
        if self.verdict == "open" or self.prevalence is None or not self.prevalence_text:
            counted = self.is_preliminary and self.verdict != "open"
            return self.words + counted * f" on {self.seeds} seed{'s' * (self.seeds != 1)}, preliminary"
        return f"{self.verdict} in {self.prevalence.text(interval=True)}"

    @property
    def missed(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Numbers outside their tolerances: a map from network to title of the number to value and tolerance, as text.

        If networks are only compared, or the claim is about no network, the only key is the empty string. If networks
        are only compared, a value in the map may be a range.
        """
        if self.verdict not in ("mixed", "refuted"):
            return {}
        bands = self.claim.bands
        if not self.passes or len(self.networks) != len(self.passes):
            return {"": {self.title(name): (self.value_text(name), str(bands[name])) for name in self.off}}
        n, missed = len(self.passes), {}
        for i in (i for i, passed in enumerate(self.passes) if not passed):
            own = {name: self.measured[name][i] for name in self.claim.expected if len(self.measured[name]) == n}
            off = {name: value for name, value in own.items() if not bands[name].holds(value)}
            values = {self.title(name): (number_text(value), str(bands[name])) for name, value in off.items()}
            missed[self.runs[i].partition("/")[2]] = values
        return missed

    def passes_control(self, numbers: Mapping[str, tuple[float, ...]]) -> bool | None:
        """Return True if the numbers of a control network, except behaviour, lie in the claim's tolerances.

        Behaviour is compared only if every other expected number is missing or NaN. `passes_control` is None if a
        number is missing or NaN and no other number misses its tolerance.
        """
        expected = self.claim.expected
        known = [name for name in expected if any(value == value for value in numbers.get(name, ()))]
        names = [name for name in expected if not self.claim.is_behaviour(name)]
        if not set(names) & set(known):
            names = list(expected)
        values = [(expected[name], value) for name in names for value in numbers.get(name, (float("nan"),))]
        if any(value == value and not band.holds(value) for band, value in values):
            return False
        return True if all(value == value for _, value in values) else None

    @property
    def specificity(self) -> Control:
        """Text that names the first control on which the claim also holds; else `told apart` (no control passes) or
        `without control`.
        """
        passed = {when: self.passes_control(numbers) for when, numbers in self.control.items()}
        for when, words in CONTROLS.items():
            if passed.get(when):
                return words
        return "told apart" if False in passed.values() else "without control"

    def value_text(self, name: str) -> str:
        """Format a number; several values are written as "smallest to largest"."""
        values = self.measured[name]
        return " to ".join(dict.fromkeys(map(number_text, (min(values), max(values)))))

    def title(self, name: str) -> str:
        """Return the title of a number on a page: the quantity's title with its unit, or else the number's name."""
        return title(name, self.terms)

    def measured_text(self, only: Iterable[str] | None = None) -> str:
        """Return text with all numbers and their names; for several networks, the first value and the range.

        Args:
            only: names of the numbers to write, in this order; all numbers by default.
        """
        names = [name for name in (self.measured if only is None else only) if name in self.measured]
        return "; ".join(f"{self.title(name)} {self.range_text(name)}" for name in names)

    def range_text(self, name: str) -> str:
        """Format the value of the first network, followed by the range over all networks."""
        values = self.measured[name]
        if len(values) == 1:
            return number_text(values[0])
        if self.claim.of_one is None:
            return f"{self.value_text(name)} ({len(values)} runs)"
        return f"{number_text(values[0])} ({self.value_text(name)} in {len(values)} networks)"

    def expected_text(self) -> str:
        """Return text with the tolerance of each expected number."""
        return "; ".join(f"{self.title(name)} {band}" for name, band in self.claim.expected.items())

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `claims.json`; numbers that are not finite are null, and several values form a list."""
        claim, finding = self.claim, self.claim.finding
        return {
            "id": claim.id,
            "source": claim.source,
            "where": claim.where,
            "statement": claim.statement,
            "reference": claim.source_says,
            "expected": {name: str(band) for name, band in claim.expected.items()},
            "given": {name: str(band) for name, band in claim.given.items()},
            "because": {name: band.because for name, band in claim.bands.items()},
            "measured": _plain(self.measured),
            "verdict": self.verdict,
            "kind": self.kind or None,
            "by_selection": list(claim.by_selection),
            "redefined": claim.redefined or None,
            "counts_as": self.counts_as,
            "reason": self.why_open or None,
            "why": self.why or None,
            "seeds": self.seeds,
            "preliminary": self.is_preliminary,
            "prevalence": self.prevalence.to_json() if self.prevalence is not None else None,
            "control": {when: _plain(numbers) for when, numbers in self.control.items()},
            "specificity": self.specificity if self.control else None,
            "finding": {"verdict": finding.verdict, "why": finding.why},
            "scope": claim.scope,
            "runs": list(self.runs),
            "runs_recorded": list(self.recorded),
            "runs_pending": list(self.runs_pending),
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        told = f"expected {self.expected_text()}; the source: {self.claim.source_says}"
        return f"{self.found_text}: {self.measured_text()} ({told})"


BEFORE, MEMORISED = "before training", "after memorising"
NEVER_GENERALISES = "of a run that never generalises"  # and that learned the same task
CONTRAST, SHUFFLED = "of a contrast", "of shuffled settings"
CONTROLS: dict[str, Control] = {
    BEFORE: "also true before training",
    MEMORISED: "also true after memorising",
    "of random labels": "also true of random labels",
    "of another operation": "also true of another operation",
    NEVER_GENERALISES: "also true of a run that never generalises",
    CONTRAST: "also true of a contrast",
    SHUFFLED: "also true of shuffled settings",
}


def _plain(measured: Mapping[str, tuple[float, ...]]) -> dict[str, Any]:
    finite = {name: [v if abs(v) < float("inf") else None for v in values] for name, values in measured.items()}
    return {name: values[0] if len(values) == 1 else values for name, values in finite.items()}
