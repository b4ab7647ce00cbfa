"""Suggest a known name for an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggestion(unknown: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """Return a clause for the end of an error about an unknown name; empty if no known name is similar.

    Args:
        likeness: smallest similarity of a suggested name, from 0 to 1.

    >>> suggestion("mainlin-0", ["mainline-0", "other-0"])
    "; did you mean 'mainline-0'?"
    """
    known = list(names)
    if any(name.startswith(f"{unknown}/") for name in known):
        return f"; `python -m modinterp.runs list '{unknown}/*'` shows the runs of {unknown}"
    alike = difflib.get_close_matches(unknown, known, n=1, cutoff=likeness)
    return f"; did you mean {alike[0]!r}?" if alike else ""
