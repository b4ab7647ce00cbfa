"""One rule checked on many items by one test, which names every item that fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def check_each(items: Iterable[Item], check: Callable[[Item], object], name: Callable[[Item], str] = str) -> None:
    """Check all items, and fail with the name of each that fails and with why.

    Use it in place of `pytest.mark.parametrize` where hundreds of items need no fixture or process of their own.

    Args:
        items: at least one.
        check: raises an error for an item that fails.
        name: of an item in the message.
    """
    failures, count = [], 0
    for item in items:
        count += 1
        try:
            check(item)
        except Exception as error:  # what goes wrong with one item hides no other
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            failures.append(f"{name(item)}: {type(error).__name__} at {place}: {error}")
    assert count, "there is nothing to check"
    assert not failures, f"{len(failures)} of {count} fail\n" + "\n".join(failures)
