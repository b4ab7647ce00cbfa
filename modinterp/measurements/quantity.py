"""Register quantities: every number has one key, one title, one definition, and one function that computes it.

Tables, pages, files, comparisons, criteria and claims name a quantity by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from inspect import getdoc, isfunction
from itertools import groupby
from typing import Any

from modinterp.cluster.cores import within_free_cores
from modinterp.files import short_names
from modinterp.runs import NotRecorded
from modinterp.terminal.suggestions import suggestion

Number = float | int | None
Of = Callable[[Any], Number | Mapping[int, Number]]
# What titles say of a network that is not at hand.
WORDS = {"readout": "W_L", "features": "neurons", "block": "frequency", "blocks": "frequencies", "answer": "a + b",
         "inputs": "all pairs", "kind": "pairs"}  # fmt: skip
STAGES = {
    "task": "Does it do the task?",
    "parts": "Which parts does it need, and where does it look?",
    "causal": "Does the answer move as predicted when the inside is changed?",
    "keys": "Which {blocks} does it use, and how clearly?",
    "layers": "How much of each layer do the {blocks} explain?",
    "use": "Does the answer depend on the {blocks}?",
    "formula": "How well does the formula replace the network?",
    "symmetry": "Clock or pizza?",
    "cosets": "Cosets or representations?",
    "training": "How was it trained?",
}


def number_text(value: float, digits: int = 4) -> str:
    """Format a number: integers below 1e9 in full, with commas from 10,000 on, and other numbers to some digits.

    >>> number_text(433.0), number_text(10340), number_text(2.4123456e-7), number_text(float("nan"))
    ('433', '10,340', '2.412e-07', 'nan')
    """
    if abs(value) < 1e9 and value == round(value):
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.0f}"
    return f"{value:.{digits}g}"


@dataclass(frozen=True)
class Reading:
    """One number that was measured on one network.

    Attributes:
        key: key of the quantity; for a layer before the last, `KEY_LAYER`, where KEY is the key.
        quantity: key of the quantity, without a layer.
        stage: title of the group of quantities.
        title: title of the quantity, in words that fit this network.
        value: the number; None if the network lacks a part that the number needs.
        note: reason why the number is missing, or a remark about the number.
        unit: unit of the number; empty for a share, a count or a ratio.
        definition: number of a definition in docs/definitions.md, or a formula.
    """

    key: str
    quantity: str
    stage: str
    title: str
    value: float | None
    note: str = ""
    unit: str = ""
    definition: str = ""

    def row(self) -> dict[str, Any]:
        """Return the number as a row of a table; NaN for a missing number."""
        return {
            "stage": self.stage,
            "key": self.key,
            "title": self.title,
            "value": float("nan") if self.value is None else self.value,
            "unit": self.unit,
            "definition": self.definition,
            "note": self.note if self.value is not None else f"absent: {self.note}",
        }


@dataclass(frozen=True)
class Quantity:
    """One quantity: its name, its meaning, and its computation from the measurements of a network.

    Attributes:
        key: the name by which tables, claims and pages refer to the quantity.
        title: title of the quantity; words of the network replace `{readout}`, `{features}`, `{block}`, `{blocks}` and
            `{answer}`.
        stage: key of the quantity's stage in `STAGES`.
        of: function from measurements to the number, or to one number for each layer. The function `of` raises
            `NotRecorded` if a network does not have the number.
        kinds: names of the classes of measurements that have this quantity.
        unit: unit of the number; empty for a share, a count or a ratio.
        definition: number of the quantity's definition in docs/definitions.md, or a formula.
        is_behaviour: True if the number describes how well a network works, such as an accuracy, and not how it works.
        note: function from measurements to a remark about the number of one network.
    """

    key: str
    title: str
    stage: str
    of: Of = field(repr=False)
    kinds: tuple[str, ...]
    unit: str = ""
    definition: str = ""
    is_behaviour: bool = False
    note: Callable[[Any], str] | None = field(default=None, repr=False)

    def applies(self, m: Any) -> bool:
        """Return True if the quantity is defined for a network's kind of measurements."""
        return any(kind.__name__ in self.kinds for kind in type(m).__mro__)

    def readings(self, m: Any) -> Iterator[Reading]:
        """Yield the number of a network, or one number for each layer; the last layer's number has the plain key."""
        words = WORDS | m.words
        title, stage = (text.format(**words) for text in (self.title, STAGES[self.stage]))
        try:
            found, why = self.of(m), "" if self.note is None else self.note(m)
        except NotRecorded as error:
            why = str(error).replace(m.name, short_names([m.name])[0])  # no page shows the folders of a machine
            yield Reading(self.key, self.key, stage, title, None, why, self.unit, self.definition)
            return
        of_layer = found if isinstance(found, Mapping) else {None: found}
        last = max(of_layer, key=lambda layer: layer or 0, default=None)
        for layer, value in of_layer.items():
            key, text = (self.key, title) if layer == last else (f"{self.key}_{layer}", f"layer {layer}: {title}")
            number = None if value is None else float(value)
            yield Reading(key, self.key, stage, text, number, why, self.unit, self.definition)


REGISTRY: dict[str, Quantity] = {}


def register(*quantities: Quantity) -> None:
    """Add quantities to the registry.

    Raises:
        ValueError: a key is already registered, or a stage does not exist.
    """
    for each in quantities:
        if REGISTRY.get(each.key, each) != each:
            raise ValueError(f"{each.key} is already the key of a quantity: {REGISTRY[each.key].title}")
        if each.stage not in STAGES:
            raise ValueError(f"{each.key} is of stage {each.stage!r}; known are {', '.join(STAGES)}")
        REGISTRY[each.key] = each


def quantity(key: str) -> Quantity:
    """Return the registered quantity with a key.

    Raises:
        KeyError: no quantity has this key; the message names similar keys.
    """
    if key not in REGISTRY:
        raise KeyError(f"there is no quantity {key!r}{suggestion(key, REGISTRY)}")
    return REGISTRY[key]


def title(name: str, words: Mapping[str, str] | None = None) -> str:
    """Return the title of a quantity, with its unit, by its key; a name that is not a key is returned unchanged.

    >>> title("loss"), title("neurons above 0.85")
    ('loss over all pairs [nats]', 'neurons above 0.85')
    """
    if name not in REGISTRY:
        return name
    found = REGISTRY[name]
    return found.title.format(**WORDS | dict(words or {})) + (f" [{found.unit}]" if found.unit else "")


def reading(m: Any, key: str) -> Reading:
    """Return a number of a network by its key; the number is computed once.

    Raises:
        KeyError: no quantity with this key is defined for networks of this kind.
    """
    kept: dict[str, Reading] = vars(m).setdefault("_readings", {})
    if key not in kept:
        name, _, layer = key.rpartition("_")
        found = REGISTRY.get(key) or (REGISTRY.get(name) if layer.isdigit() else None)
        if found is None or not found.applies(m):
            raise KeyError(f"{m.name} has no number {key!r}{suggestion(key, [q.key for q in m.quantities()])}")
        with within_free_cores():
            kept.update((each.key, each) for each in found.readings(m))
    if key not in kept:
        raise KeyError(f"{m.name} has no number {key!r}; there is no such layer")
    return kept[key]


def overview(m: Any) -> str:
    """Return HTML that lists the numbers of a network by stage, with the values computed so far."""
    kept: dict[str, Reading] = vars(m).get("_readings", {})
    parts = [
        f"<b>{escape(repr(m))}</b><p>A number by its key: <code>m[key]</code>; all of them: <code>m.table()</code></p>"
    ]
    for stage, quantities in groupby(m.quantities(), key=lambda each: each.stage):
        rows = []
        for each in quantities:
            found = kept.get(each.key)
            value = "" if found is None else "absent" if found.value is None else number_text(found.value)
            title = each.title.format(**WORDS) if found is None else found.title
            rows.append(f"<tr><td><code>{each.key}</code></td><td>{escape(title)}</td><td>{value}</td></tr>")
        words = STAGES[stage].format(**WORDS)
        parts.append(f"<details open><summary>{escape(words)}</summary><table>{''.join(rows)}</table></details>")
    return "".join([*parts, _members(m)])


def _members(m: Any) -> str:
    """Folded HTML that lists the attributes and methods of measurements, with the first line of each docstring."""
    rows = []
    for name in dir(m):
        member = getattr(type(m), name, None)
        first = (getdoc(member) or "").partition("\n")[0] if member is not None else ""
        call = "()" if isfunction(member) else ""
        rows.append(f"<tr><td><code>m.{name}{call}</code></td><td>{escape(first)}</td></tr>")
    summary = "Results behind the numbers, and questions about one part"
    return f"<details><summary>{summary}</summary><table>{''.join(rows)}</table></details>"
