"""One number of an explanation, and why one may be missing."""

from __future__ import annotations

from dataclasses import dataclass

ATTENTION_ONLY = "the network is attention alone"
NOT_SEEN = "it is not known where in the network"
NO_EMBEDDING = "it is not known where the network has one embedding of both numbers"
NO_ATTENTION = "the network has no attention"


@dataclass(frozen=True)
class Row:
    """One number of an explanation.

    Attributes:
        section: title of the section that it belongs to.
        key: name under which programs find it.
        quantity: what is measured, for people, with its unit.
        value: the number; None where it was not measured.
        note: why it was not measured, or what else to know.
    """

    section: str
    key: str
    quantity: str
    value: float | None
    note: str = ""


Entry = tuple[str, str, float | None] | tuple[str, str, float | None, str]  # a row without its section
