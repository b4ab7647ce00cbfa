"""The snippets of the pages here are tests: each page is one session, and its outputs are those shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from drawn import workplace  # noqa: E402

collect_ignore_glob = ["*.py", "gallery/*", "_build/*", "api/*"]


@pytest.fixture(autouse=True)
def _in_a_workplace(tmp_path: Path, doctest_namespace: dict[str, object]) -> Iterator[None]:
    doctest_namespace["docs"] = DOCS
    with workplace(tmp_path):
        yield
