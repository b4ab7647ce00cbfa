"""What is installed is pinned once, and its files are known by their checksums."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def names_and_versions(pins: list[str]) -> set[tuple[str, str]]:
    """Names as packages are compared by: `typing_extensions` and `typing-extensions` are one."""
    return {(re.sub(r"[-_.]+", "-", name).lower(), version) for name, version in (pin.split("==") for pin in pins)}


def test_every_pin_but_that_of_torch_has_its_checksums() -> None:
    """Written anew from `constraints.txt` by the command that stands in `SECURITY.md`."""
    pinned = names_and_versions((ROOT / "constraints.txt").read_text().split())
    lines = (ROOT / "requirements.lock").read_text().replace("\\\n", "").splitlines()
    locked, checksums = zip(*(line.split(maxsplit=1) for line in lines), strict=True)
    assert {name for name, _ in pinned - names_and_versions([*locked])} == {"torch"}
    assert names_and_versions([*locked]) <= pinned
    assert all(re.fullmatch(r"(--hash=sha256:[0-9a-f]{64}\s*)+", those) for those in checksums)
