"""How annotations are checked while the tests run: an int will do for a float, as in every Python type checker.

A function's first calls are checked, and not those that follow, of which a measurement makes a million.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

from beartype import BeartypeConf, beartype

_checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
CALLS = 100  # of each function, in each process
_calls: Counter[tuple[str, str]] = Counter()  # by module and name: a function inside another is made again and again


def checked(function: Callable) -> Callable:
    """The function with its annotations checked; jaxtyping asks for it for the parameters of each of ours."""
    check, name = None, (function.__module__, function.__qualname__)

    @wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal check
        _calls[name] += 1
        if _calls[name] >= CALLS:  # the caller is jaxtyping's, which looks at this of what it has wrapped
            sys._getframe(1).f_locals["fn"].__no_type_check__ = True
            return function(*args, **kwargs)
        check = check or _checked(function)  # made when it is first called, which few functions are
        return check(*args, **kwargs)

    return counted
