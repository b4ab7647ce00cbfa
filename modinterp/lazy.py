"""Names of a package that are imported when they are first used, so that a command's --help does not wait for torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` that finds each name in its home.

    Args:
        package: `__name__` of the package.
        homes: name to the module that defines it; a name that is the end of its home is that module itself.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        return home if homes[name].endswith(f".{name}") else getattr(home, name)

    return find
