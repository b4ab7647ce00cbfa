"""How annotations are checked while the tests run: an int will do for a float, as in every Python type checker.

A function's first calls are checked, and not those that follow, of which a measurement makes a million.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from beartype import BeartypeConf, beartype

_checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
CALLS = 100  # of each function, in each process


def checked(function: Callable) -> Callable:
    """The function with its annotations checked; jaxtyping asks for it for the parameters of each of ours."""
    check, called = None, 0

    @wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal check, called
        check, called = check or _checked(function), called + 1  # made when it is first called, which few functions are
        if called == CALLS:
            _let_go(function)
        return check(*args, **kwargs)

    return counted


def _let_go(function: Callable) -> None:
    """Tell jaxtyping to check the function of this name no longer, if it stands in a module or in a class."""
    ours: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        ours = inspect.getattr_static(ours, name, None)
    for holder in ("fget", "func", "__func__"):  # of properties, and of methods of the class
        ours = getattr(ours, holder, ours)
    while ours := getattr(ours, "__wrapped__", None):  # not the outermost, whose hints others want to see
        ours.__no_type_check__ = True
