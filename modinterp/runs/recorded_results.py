"""Store measurements of a run that were made when it was published, and are shipped in place of its weights."""

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
    """Measurements and claim results of a run, made when the run was published.

    Attributes:
        values: map from the name of a measurement to its JSON value; see `modinterp.measurements.recorded`.
        claims: map from the id of each claim about this network to the claim's numbers, by name.
    """

    values: Mapping[str, Any]
    claims: Mapping[str, Mapping[str, tuple[float, ...]]]

    def to_bytes(self) -> bytes:
        """Return the recorded measurements as bytes of JSON text."""
        return (json.dumps({"values": self.values, "claims": self.claims}, indent=0) + "\n").encode()


def read_recorded(path: Path) -> Recorded:
    """Read the gzip-compressed bytes that `Recorded.to_bytes` wrote.

    Raises:
        ValueError: the data are damaged, or larger than modinterp ever writes.
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
