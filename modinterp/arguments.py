"""Check the fields of a dataclass and the arguments of a function against their annotated types and limits.

Fields of dataclasses are checked when an object is made, and arguments of analyses when the analysis is called
(`modinterp.analyses.checked`). A wrong value therefore gives an error that names the value at once, and not an error in
the middle of a training.
"""

from __future__ import annotations

import math
import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_LETTERS = (str, bytes)  # are not taken for collections
LARGEST = 2**62  # of a whole number without another limit; torch counts in 64 bits
SEEDS = 2**40  # seeds lie below, so that every step of a training has a seed of its own in 64 bits


@dataclass(frozen=True)
class Limits:
    """An interval of allowed numbers; an open end of the interval is not allowed.

    >>> str(Limits(0, 1, open_above=True)), str(Limits(1))
    ('in [0, 1)', 'of at least 1')
    """

    least: float = -math.inf
    most: float = math.inf
    open_below: bool = False
    open_above: bool = False

    def __contains__(self, number: float) -> bool:
        above = self.least < number if self.open_below else self.least <= number
        return above and (number < self.most if self.open_above else number <= self.most)

    def __str__(self) -> str:
        if self.most == math.inf:
            return f"{'above' if self.open_below else 'of at least'} {self.least}"
        brackets = "[("[self.open_below], "])"[self.open_above]
        return f"in {brackets[0]}{self.least}, {self.most}{brackets[1]}"


COUNT, SIZE, SEED = Limits(0), Limits(1), Limits(0, SEEDS - 1)
POSITIVE, SHARE, FACTOR = Limits(0, open_below=True), Limits(0, 1), Limits(0, 1, open_above=True)
PART = Limits(0, 1, open_below=True)
OR_NEVER = "or NaN or infinity"  # in an annotation: a number that may be neither


def check_fields(instance: Any, **limits: Limits | Collection[str]) -> None:
    """Check every field of a dataclass against the field's annotation, and some fields against limits.

    An integer is accepted for a float; True, False, NaN and infinity are not accepted for a number.

    Args:
        limits: map from the name of a field to its allowed numbers or strings; for a tuple, each entry is checked.
    Raises:
        ValueError: a field has the wrong type or lies outside its limits; the message names the first such field.
    """
    hints = _hints(type(instance))
    for field in fields(instance):
        check(field.name, getattr(instance, field.name), hints[field.name], limits.get(field.name))


def check(name: str, value: Any, kind: Any, limits: Limits | Collection[str] | None = None) -> None:
    """Check one value against a type and limits, as `check_fields` checks fields.

    >>> check("lr", "x", float, COUNT)
    Traceback (most recent call last):
    ValueError: lr must be a number of at least 0, got 'x'
    """
    if not _is_of(value, kind):
        wanted = _said(kind) + (f" {limits}" if isinstance(limits, Limits) else "")
        raise ValueError(f"{name} must be {wanted}, got {_shown(value)}")
    for number in value if isinstance(value, tuple) else (value,):
        if number is None or limits is None or number in limits:
            continue
        wanted = f"{_said(kind)} {limits}" if isinstance(limits, Limits) else f"one of {', '.join(limits)}"
        raise ValueError(f"{name} must be {wanted}, got {_shown(value)}")


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _is_of(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return (OR_NEVER in parts and isinstance(value, float)) or _is_of(value, parts[0])
    if origin in (Union, types.UnionType):
        return any(_is_of(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is tuple and parts[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(_is_of, value, parts))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(_is_of(k, parts[0]) and _is_of(x, parts[1]) for k, x in value.items())
    if isinstance(origin, type) and issubclass(origin, Collection):
        return isinstance(value, origin) and not isinstance(value, _LETTERS) and all(_is_of(x, parts[0]) for x in value)
    if origin is not None:  # what can be gone through once alone, or is called, shows its parts when it is used
        return isinstance(value, origin) and not isinstance(value, _LETTERS) and getattr(value, "ndim", 1) > 0
    if hasattr(kind, "dim_str"):
        return isinstance(value, kind.array_type) and is_array_of(value, kind)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and _is_finite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST
    return isinstance(value, kind) if isinstance(kind, type) else True


def is_array_of(value: Any, kind: Any) -> bool:
    """Return True if an array has the dtype and axes of a jaxtyping annotation; the sizes of named axes may be any."""
    if str(value.dtype).removeprefix("torch.") not in kind.dtypes:
        return False
    return (axes := axes_of(value, kind)) is not None and all(not name.isdigit() or int(name) == n for name, n in axes)


def axes_of(value: Any, kind: Any) -> list[tuple[str, int | tuple[int, ...]]] | None:
    """Return the annotated name and the size of each axis, several sizes for a `*name`; None if the number of axes
    differs.
    """
    names, shape = kind.dim_str.split(), [*value.shape]
    many = next((i for i, name in enumerate(names) if name.startswith("*")), None)
    if many is not None and (extra := len(shape) - len(names) + 1) >= 0:
        shape[many : many + extra] = [tuple(shape[many : many + extra])]
    return list(zip(names, shape, strict=True)) if len(names) == len(shape) else None


def _is_finite(value: float) -> bool:
    return abs(value) < LARGEST if isinstance(value, int) else math.isfinite(value)


_WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a string", type(None): "None"}
_MANY = {int: "whole numbers", float: "numbers", str: "strings"}


def _said(kind: Any) -> str:
    """What a type asks for, in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _said(parts[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_said(part) for part in parts)
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        count = f"{len(parts)} " if origin is tuple and parts[-1] is not Ellipsis else ""
        some = _MANY.get(parts[-1] if issubclass(origin, Mapping) else parts[0], "values")
        return f"a {origin.__name__.lower()} of {count}{some}"
    if hasattr(kind, "dim_str"):
        dtype, axes = kind.__name__.partition("[")[0].lower(), ", ".join(kind.dim_str.split())
        return f"a {dtype} {kind.array_type.__name__} [{axes}]"
    return _WORDS.get(kind, f"a {getattr(kind, '__name__', kind)}")


def _shown(value: Any) -> str:
    """A value on one line of at most 100 characters."""
    text = ascii(value) if isinstance(value, (str, int, float, tuple, list, bool, type(None))) else type(value).__name__
    if value is not None and hasattr(value, "shape") and hasattr(value, "dtype"):
        text = f"a {value.dtype} {text} of shape {tuple(value.shape)}"
    return text if len(text) <= 100 else f"{text[:100]} ..."
