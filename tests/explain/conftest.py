"""What tests of `explain` share."""

from __future__ import annotations

import pytest


@pytest.fixture
def numbers_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """`explain` reaches its verdict, and measures each further number when a test looks at that number.

    Listing all numbers of a network of full size takes two thirds of the time. Where a test looks at few numbers, other
    tests list all numbers of networks of the same kind.
    """
    monkeypatch.setattr("modinterp.explain.entry.is_explained", lambda _: False)
