"""Measure how much of a network its formulas explain, with a ladder of formulas that are compared with the network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from modinterp.figures.ladder import ladder
from modinterp.formulas.baselines import Baseline, Baselines
from modinterp.formulas.compact import compact
from modinterp.formulas.faithfulness import Faithfulness, faithfulness
from modinterp.formulas.formula import Formula
from modinterp.formulas.group_formula import GroupFormula
from modinterp.formulas.group_reading import GroupReading
from modinterp.formulas.ladder import Step
from modinterp.formulas.origins import origins
from modinterp.formulas.reading import NeuronReading
from modinterp.formulas.rung import KL, SAME, Rung, is_faithful
from modinterp.formulas.shares import shares
from modinterp.formulas.stages import stages
from modinterp.formulas.waves import DIGITS
from modinterp.formulas.written import written
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, NetworkMeasurements, PairMeasurements
from modinterp.measurements.network import NoSuchPart

AnyFormula = Formula | GroupFormula
SAMPLE = 3000  # pairs on which the search for the shortest formula looks
FEWEST_BITS, MOST_BITS = 3, 24
FEWEST_DIGITS, DIGITS_OF_KL = 2, 0.0001  # of numbers in files, and what these may change [nats]
ROUNDING_OF_ACCURACY, ROUNDING_OF_KL = 0.0005, 0.001  # what rounding may change, for "nothing changes"


@dataclass(eq=False)
class Distilled:
    """The ladder of formulas of one network, from a few numbers to all of its weights.

    Attributes:
        m: measurements of the network.
        rungs: the formulas that exist, shortest first, except `compact`, which is last.
        absent: map from the key of each formula that does not exist to a one-line reason.
    """

    m: NetworkMeasurements = field(repr=False)
    rungs: tuple[Rung, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)
    reading: NeuronReading | GroupReading | None = field(default=None, repr=False)

    @classmethod
    def of(cls, m: NetworkMeasurements) -> Distilled:
        """Build the formulas of a measured network, and compare each with the network."""
        found = written(m)
        d = cls(m, (), found.absent, found.reading)
        d.rungs = tuple(d._measured(step) for step in found.steps)
        if found.thinned is not None:
            d._add_compact(found.thinned, found.compact)
        return d

    def _add_compact(self, thinned: Callable[[Any, float], Any], assumption: str) -> None:
        def enough(formula: AnyFormula) -> bool:
            return is_faithful(self._faithfulness(formula))

        def enough_on_sample(formula: AnyFormula) -> bool:
            return is_faithful(self._faithfulness_on_sample(formula))

        inside = sorted((x for x in self.rungs if x.inside), key=lambda x: x.faithfulness.kl)
        last = next((self[key] for key in ("keys", "attention", "reads") if self._is_faithful(key)), inside[0])
        short = compact(last.formula, thinned, enough, enough_on_sample)
        if short is None:
            self.absent["compact"] = (
                f"the formula with all waves gives the network's answer on {last.faithfulness.same:.2%} of "
                f"pairs, at a KL divergence of {last.faithfulness.kl:.3g} nats; a faithful formula needs "
                f"{SAME:.1%} and {KL} nats"
            )
            return
        step = Step("compact", assumption, short, read_from=last.read_from)
        self.rungs = (*self.rungs, self._measured(step))

    def _is_faithful(self, key: str) -> bool:
        return any(rung.key == key and rung.is_faithful for rung in self.rungs)

    @cached_property
    def _network(self) -> np.ndarray:
        return self.m.logits.double().cpu().flatten(0, 1).numpy()

    @cached_property
    def _answers(self) -> np.ndarray:
        return self.m.labels[:, 0].cpu().numpy()

    def _faithfulness(self, formula: AnyFormula) -> Faithfulness:
        return faithfulness(formula.grid().reshape(-1, formula.p), self._network, self._answers)

    def _faithfulness_on_sample(self, formula: AnyFormula) -> Faithfulness:
        """Return the faithfulness on a random sample of pairs, for the search of a threshold."""
        n = formula.p**2
        rows = np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False)
        return faithfulness(formula(rows // formula.p, rows % formula.p), self._network[rows], self._answers[rows])

    def _measured(self, step: Step) -> Rung:
        return Rung(**vars(step), faithfulness=self._faithfulness(step.formula))

    def shares(self, rung: Rung) -> dict[str, float]:
        """Return the share of each part of the network that a formula covers; see `modinterp.formulas.shares`."""
        if rung.key not in self._shares:
            assert isinstance(self.m, PairMeasurements)
            self._shares[rung.key] = shares(self.m, self.reading, rung.formula)
        return self._shares[rung.key]

    @cached_property
    def _shares(self) -> dict[str, dict[str, float]]:
        return {}

    def __getitem__(self, key: str) -> Rung:
        """Return the formula with a key, such as `compact`.

        Raises:
            KeyError: the formula does not exist; the message gives the reason.
        """
        for rung in self.rungs:
            if rung.key == key:
                return rung
        there = ", ".join(rung.key for rung in self.rungs) or "none"
        raise KeyError(f"there is no formula {key!r}; choose one of {there}{self._why_not}")

    @property
    def _why_not(self) -> str:
        return "".join(f"; {key}: {why}" for key, why in self.absent.items())

    @property
    def shortest(self) -> Rung | None:
        """The faithful formula of the network's inside with the fewest numbers; None if no formula is faithful."""
        faithful = [rung for rung in self.rungs if rung.is_faithful]
        return min(faithful, key=lambda rung: rung.formula.numbers, default=None)

    @property
    def numbers(self) -> int:
        """The number of weights of the network; 0 for a function."""
        return sum(w.numel() for w in self.m.model.parameters())

    @cached_property
    def baselines(self) -> Baselines | None:
        """Baselines that reduce the network itself to fewer numbers; None for a function without weights."""
        if not self.numbers or not isinstance(self.m, CyclicMeasurements | GroupMeasurements):
            return None
        return Baselines(self.m)

    def bits(self, rung: Rung) -> int:
        """Return the fewest bits per number that keep the accuracy and KL divergence of a formula.

        Rounding may change the accuracy by 0.05 percentage points, and the KL divergence by 0.001 nats or 1% of its
        value.
        """
        if rung.key not in self._bits:
            low, high = FEWEST_BITS - 1, MOST_BITS
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self._is_same(rung, middle) else (middle, high)
            self._bits[rung.key] = high
        return self._bits[rung.key]

    @cached_property
    def _bits(self) -> dict[str, int]:
        return {}

    def _is_same(self, rung: Rung, bits: int) -> bool:
        found, own = self._faithfulness(rung.formula.rounded(bits)), rung.faithfulness
        most = max(ROUNDING_OF_KL, 0.01 * own.kl)
        return abs(found.accuracy - own.accuracy) <= ROUNDING_OF_ACCURACY and abs(found.kl - own.kl) <= most

    def curve(self, bits: bool = True, parts: bool = True) -> pd.DataFrame:
        """Return a table with size, faithfulness and covered share of each part, for every formula and for the network.

        Args:
            bits: True to measure the fewest bits per number, which doubles the time.
            parts: True to measure the covered share of each part of the network, which doubles the time.
        Returns:
            Columns: `rung`, `inside` (true if the formula describes the computation), `numbers`,
                `share of all numbers`, `bits`, `accuracy`, `loss` [nats], `kl` [nats], `same`, and `share of NAME`
                for each covered part.
        """
        rows = [self._row(rung, bits, parts) for rung in self.rungs]
        whole = faithfulness(self._network, self._network, self._answers) if self.rungs else None
        if whole is not None:
            rows.append({"rung": "network", "inside": True, "numbers": self.numbers, "share of all numbers": 1.0,
                         "bits": 32 * self.numbers, **vars(whole)})  # fmt: skip
        return pd.DataFrame(rows)

    def _row(self, rung: Rung, bits: bool, parts: bool) -> dict[str, Any]:
        numbers = rung.formula.numbers
        share = numbers / self.numbers if self.numbers else float("nan")
        size = {"bits": numbers * self.bits(rung)} if bits else {}
        shares = {f"share of {name}": value for name, value in self.shares(rung).items()} if parts else {}
        return {"rung": rung.key, "inside": rung.inside, "numbers": numbers, "share of all numbers": share, **size,
                **vars(rung.faithfulness), **shares}  # fmt: skip

    def beaten(self) -> pd.DataFrame:
        """Return how many numbers each baseline needs for the accuracy of the shortest faithful formula, and this
        number divided by the formula's.

        Returns:
            table with one row per baseline and the columns `baseline`, `numbers`, `accuracy`, `factor`; empty without a
                faithful formula.
        """
        best, rows = self.shortest, []
        if best is None or self.baselines is None:
            return pd.DataFrame(columns=["baseline", "numbers", "accuracy", "factor"])
        for kind in ("svd", "pruned"):
            found = self.baselines.smallest(kind, lambda x: x.accuracy >= best.faithfulness.accuracy)
            if found is not None:
                rows.append({"baseline": kind, "numbers": found.numbers, "accuracy": found.faithfulness.accuracy,
                             "factor": found.numbers / best.formula.numbers})  # fmt: skip
        return pd.DataFrame(rows)

    def figure(self, title: str = "", baselines: bool = True) -> Any:
        """Draw faithfulness against the number of parameters, with the baselines and the network."""
        others: list[Baseline] = self.baselines.drawn() if baselines and self.baselines is not None else []
        rows = pd.DataFrame({"kind": x.kind, "numbers": x.numbers, **vars(x.faithfulness)} for x in others)
        return ladder(
            self.curve(bits=False, parts=False),
            rows,
            title or (f"{self.m.name}: formulas, compared with the network reduced to equally many numbers"),
        )

    def stages(self, key: str | None = None) -> pd.DataFrame:
        """Return the loss when a formula replaces the network one part at a time; see `modinterp.formulas.stages`.

        Args:
            key: key of the formula; by default `compact`, or else the last formula.
        Raises:
            NoSuchPart: the formula has no neurons.
        """
        rung = self[key] if key else (self.rungs[-1] if self.rungs else None)
        if rung is None or self.reading is None or not rung.formula.clusters:
            raise NoSuchPart(f"no formula contains the neurons of {self.m.name}{self._why_not}")
        assert isinstance(self.m, PairMeasurements)
        return stages(self.m, self.reading, rung.formula)

    def origins(self) -> pd.DataFrame:
        """Return a table that shows which head makes the products that neurons read; see `modinterp.formulas.origins`.

        Raises:
            NoSuchPart: no formula of the network has neurons, or the network has no attention.
        """
        if self.reading is None:
            raise NoSuchPart(f"no formula contains the neurons of {self.m.name}{self._why_not}")
        if not isinstance(self.m, CyclicMeasurements) or not isinstance(self.reading, NeuronReading):
            raise NoSuchPart(f"it is not known which heads make the products that neurons of {self.m.name} read")
        return origins(self.m, self.reading)

    def sentences(self) -> Iterator[str]:
        """Return sentences that say how much of the network the shortest faithful formula covers."""
        best = self.shortest
        if best is None:
            yield "No formula that includes the neurons gives the network's answers."
            return
        share = f", which is {best.formula.numbers / self.numbers:.1%} of the network's count" if self.numbers else ""
        yield (
            f"The shortest formula that includes the neurons and gives the network's answers is `{best.key}`: "
            f"{best.formula.numbers:,} numbers{share}."
        )  # fmt: skip

    def reasons(self) -> Iterator[str]:
        """Return one line with the reason for each formula that does not exist."""
        return (f"There is no formula `{key}`: {why}." for key, why in self.absent.items())

    def to_json(self, key: str | None = None) -> str:
        """Write one formula as plain data, by default the last formula; see `Rung.to_json`.

        The numbers in the written formula have the fewest digits that keep accuracy and KL divergence.
        """
        rung = self[key or self.rungs[-1].key]
        return json.dumps(rung.to_json(self.digits(rung)), allow_nan=False, separators=(",", ":"))

    def digits(self, rung: Rung) -> int:
        """Return the fewest significant digits of the numbers in a file that keep accuracy and KL divergence.

        The accuracy must stay the same, and the KL divergence may change by at most 0.0001 nats or 1%.
        """
        own = rung.faithfulness
        for digits in range(FEWEST_DIGITS, DIGITS):
            found = self._faithfulness(type(rung.formula).of_json(rung.to_json(digits)["formula"]))
            is_close = abs(found.kl - own.kl) <= max(DIGITS_OF_KL, 0.01 * own.kl)
            if found.accuracy == own.accuracy and found.same == own.same and is_close:
                return digits
        return DIGITS

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"


def _lines(d: Distilled) -> Iterator[str]:
    yield f"{d.m.name}: {d.numbers:,} numbers"
    for rung in d.rungs:
        found = rung.faithfulness
        yield (f"  {rung.key:<9} {rung.formula.numbers:>8,} numbers, accuracy {found.accuracy:.2%}, "
               f"KL {found.kl:.3g} nats. {rung.assumption}")  # fmt: skip
    yield from (f"  {reason}" for reason in d.reasons())
    yield from d.sentences()
