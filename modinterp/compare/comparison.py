"""Hold a comparison of several networks: one table with a column for each network, and more detailed tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.explain import Explanation
from modinterp.explain.criteria import is_explained
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.quantity import number_text

# What a glance at several networks asks for, of all the numbers that an explanation has.
SHOWN = (
    "accuracy", "loss", "test_accuracy", "test_loss", "n_keys", "gap", "similarity_gap", "key_energy", "p_value_energy",
    "gini_W_E", "gini_read", "attention_fve", "neurons_explained", "irrep_neurons", "readoff_mean", "logit_fve",
    "logit_fve_row", "logit_fve_row_class", "restricted_accuracy", "restricted_loss", "excluded_accuracy",
    "excluded_loss", "formula_accuracy", "gradient_symmetricity", "distance_irrelevance", "distance_irrelevance_wrong",
    "cosets_a",
)  # fmt: skip


@dataclass(eq=False)
class Comparison:
    """The explanations of several networks, with tables that compare them.

    Attributes:
        explanations: map from the name of each network to its explanation, in the order of the arguments.
    """

    explanations: dict[str, Explanation]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the compared networks, in the order of the arguments."""
        return tuple(self.explanations)

    def __getitem__(self, name: str) -> Explanation:
        """Return the explanation of one network, by the network's name.

        Raises:
            KeyError: the comparison has no network of that name.
        """
        if name not in self.explanations:
            raise KeyError(f"there is no network {name!r}; choose one of {', '.join(self.names)}")
        return self.explanations[name]

    @cached_property
    def waved(self) -> dict[str, CyclicMeasurements]:
        """Map the name of each network whose task has frequencies to the measurements of the network."""
        every = {name: x.measurements for name, x in self.explanations.items()}
        return {name: m for name, m in every.items() if isinstance(m, CyclicMeasurements) and is_explained(m)}

    def table(self) -> pd.DataFrame:
        """Return a table with one row per quantity and one column per network; missing measurements are empty."""
        columns = {name: _column(x) for name, x in self.explanations.items()}
        return pd.DataFrame(columns, index=list(next(iter(columns.values()))))

    def numbers(self) -> pd.DataFrame:
        """Return a table of all numbers by key, with one column per network; numbers that were not measured are NaN."""
        values = {name: {r.key: r.value for r in x.rows} for name, x in self.explanations.items()}
        keys = list(dict.fromkeys(key for column in values.values() for key in column))
        rows = {
            key: [math.nan if (v := values[name].get(key)) is None else float(v) for name in self.names] for key in keys
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(self.names))

    def frequencies(self) -> pd.DataFrame:
        """Return a table with one row per key frequency: its energy share in each network's read-out matrix."""
        keys = sorted({k for m in self.waved.values() for k in m.freqs})
        columns = {"freq": keys}
        for name, m in self.waved.items():
            energies = [norm**2 for norm in m.keys.norms]
            total = sum(energies)
            columns[name] = [energies[k - 1] / total if total and k <= len(energies) else math.nan for k in keys]  # type: ignore[misc]
        return pd.DataFrame(columns)

    def losses_without(self) -> pd.DataFrame:
        """Return a table with one row per frequency: the loss over all pairs without this frequency in the logits.
        [nats]
        """
        columns = {name: pd.Series(m.loss_without_each_block.tolist()) for name, m in self.waved.items()}
        table = pd.DataFrame(columns)
        table.insert(0, "freq", range(1, len(table) + 1))
        return table

    @cached_property
    def curves(self) -> dict[str, pd.DataFrame]:
        """Map the name of each network with formulas to the formulas' sizes and faithfulness; see `Distilled.curve`."""
        found = {name: x.formulas for name, x in self.explanations.items() if is_explained(x.measurements)}
        return {name: d.curve(bits=False, parts=False) for name, d in found.items() if d.rungs}

    def formulas(self) -> pd.DataFrame:
        """Return a table with one row for each formula of a network: its size, its faithfulness, and its share of each
        part.
        """
        named = [curve.assign(network=name) for name, curve in self.curves.items()]
        if not named:
            return pd.DataFrame(columns=["network"])
        table = pd.concat(named)
        return table.reindex(columns=["network", *(column for column in table if column != "network")])

    def agreement(self) -> pd.DataFrame:
        """Return the Jaccard index of every two networks' key frequencies; NaN for networks of different moduli."""
        return pd.DataFrame(
            {
                name: {other: jaccard(a.freqs, b.freqs) if a.p == b.p else math.nan for other, b in self.waved.items()}
                for name, a in self.waved.items()
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Return data for JSON: a map from the name of each network to the result of `Explanation.to_json`."""
        return {name: x.to_json() for name, x in self.explanations.items()}

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        return self.table().map(as_text).to_html()


def as_text(value: Any) -> str:
    """Format one cell of the table as text."""
    return value if isinstance(value, str) else number_text(float(value))


def _column(x: Explanation) -> dict[str, Any]:
    m, spec = x.measurements, x.measurements.spec
    weights = list(m.model.parameters())
    column: dict[str, Any] = {
        "task": m.task.name,
        "shape": m.model.cfg.summary,
        "forward pass": m.model.cfg.forward_pass,
        "weights": float(sum(w.numel() for w in weights)) if weights else "",
        "sum of squared weights": float(sum(w.detach().double().square().sum() for w in weights)) if weights else "",
        "weight decay": "" if spec is None else float(spec.recipe.weight_decay),
        "warning": "" if x.warning is None else x.warning.words,
        "verdict": x.verdict.label,
        "clock or pizza": x.verdict.clock_or_pizza,
        "frequencies": ", ".join(map(str, getattr(m, "freqs", ()))),
    }
    rows = {row.key: row.value for row in x.rows}
    return column | {key: "" if rows.get(key) is None else rows[key] for key in SHOWN}


def _lines(comparison: Comparison) -> Iterator[str]:
    table = comparison.table().map(as_text)
    width = max(24, *(len(name) for name in comparison.names)) + 2
    yield f"{'':<28}" + "".join(f"{name:>{width}}" for name in comparison.names)
    for quantity, row in table.iterrows():
        cells = list(row)
        if max(map(len, cells)) < width:
            yield f"{quantity:<28}" + "".join(f"{cell:>{width}}" for cell in cells)
        elif len(set(cells)) == 1:
            yield f"{quantity:<28}  {cells[0]}"
        else:
            yield f"{quantity:<28}"
            yield from (f"  {name}: {cell}" for name, cell in zip(comparison.names, cells, strict=True) if cell)
    if len(comparison.waved) > 1:
        yield "\nagreement of the key frequencies (Jaccard)"
        yield comparison.agreement().to_string(float_format=lambda v: f"{v:.2f}")
