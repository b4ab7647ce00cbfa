"""Measurements of a run, made when it was published and shipped in place of its weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modinterp.files import read_unpacked
from modinterp.runs.weights import first_line

MOST_BYTES = 2**24  # that are read


@dataclass(frozen=True)
class Recorded:
    """Measurements of a run as they were when it was published.

    Attributes:
        values: name of a measurement to its JSON; see `modinterp.measurements.recorded`.
        claims: map from the id of each claim about this network to its numbers, by name.
    """

    values: Mapping[str, Any]
    claims: Mapping[str, Mapping[str, tuple[float, ...]]]

    def to_bytes(self) -> bytes:
        """JSON text."""
        return (json.dumps({"values": self.values, "claims": self.claims}, indent=0) + "\n").encode()


def read_recorded(path: Path) -> Recorded:
    """Read the bytes that `Recorded.to_bytes` wrote, packed with gzip.

    Raises:
        ValueError: it is damaged, or larger than any that is written here.
    """
    try:
        found = json.loads(read_unpacked(path, MOST_BYTES))
        claims = {
            id: {name: tuple(float(value) for value in values) for name, values in numbers.items()}
            for id, numbers in found["claims"].items()
        }
        return Recorded(dict(found["values"]), claims)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {first_line(error)}") from error
