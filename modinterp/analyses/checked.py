"""Define `@checked`, which makes an analysis compare its arguments with its annotations when it is called.

Each public analysis has the decorator. The decorator `checked` raises a ValueError that names the argument, and checks:

- *type, dtype and rank*, as annotated; a scalar or a row of numpy or torch is accepted, and converted to Python;
- *shape*: axes with one name have one size in all arguments, the operands `a` and `b` have equal sizes, and no axis is
  empty;
- *finite*: no number of a tensor, nor of a network's weights, is NaN or infinite, since NaN is never evidence;
- *meaning*, where a name or a type means the same everywhere (`modinterp.analyses.meanings`), or an annotation lists
  the entries of a table or a cache. A group and its representations have one order.

Arguments that one analysis passes to another are not checked again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from torch import Tensor

from modinterp.activations import ActivationCache
from modinterp.analyses.meanings import KINDS, NAMES, Given, Holds, is_finite
from modinterp.arguments import axes_of, check, is_array_of

P = ParamSpec("P")
R = TypeVar("R")
_WITHIN_AN_ANALYSIS = ContextVar("inside another analysis", default=False)
SAME = (("a", "b"), ("component_a", "component_b"))  # axes of one size


def _arrays(value: Any, kind: Any) -> Iterator[tuple[Tensor, Any]]:
    """Yield every tensor in an argument, with its annotation."""
    if isinstance(value, Tensor):
        parts = [part for part in (kind, *get_args(kind)) if hasattr(part, "dim_str")]
        yield value, next((part for part in parts if is_array_of(value, part)), None)
    elif isinstance(value, (Mapping, list, tuple)) and not isinstance(value, ActivationCache):
        inner = get_args(kind)[-1] if get_args(kind) else None
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _arrays(one, inner)


def _one_by_one(name: str, values: Iterable[Any], kind: Any) -> Iterator[Any]:
    """Check the items of an iterator one by one, because an iterator can be read only once."""
    for value in values:
        _check({name: value}, {name: kind})
        yield value


def _items(kind: Any) -> Any:
    """Return the annotated item type of an `Iterable` or an optional `Iterable`; None for other annotations."""
    return next((get_args(part)[0] for part in (kind, *get_args(kind)) if get_origin(part) is Iterable), None)


def _holds_arrays(kind: Any) -> bool:
    return kind is Tensor or hasattr(kind, "dim_str") or any(map(_holds_arrays, get_args(kind)))


def _plain(value: Any) -> Any:
    """Convert a scalar or a row of numpy or torch to a Python number or list."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray, Tensor)) else value


def _check(given: Given, hints: Mapping[str, Any]) -> None:
    sizes: dict[str, Any] = {}
    for name, value in given.items():
        kind = hints[name]
        check(name, value, kind)
        if isinstance(value, Mapping) and not value and _holds_arrays(kind):
            raise ValueError(f"{name} must hold a tensor, got none")
        for x, annotation in _arrays(value, kind):
            if not is_finite(x):
                raise ValueError(f"{name} must be finite, got NaN or infinity")
            if x.numel() == 0:
                raise ValueError(f"{name} must not be empty, got shape {tuple(x.shape)}")
            for axis, size in axes_of(x, annotation) or () if annotation is not None else ():
                if not axis.isdigit() and axis[0] not in "#_" and sizes.setdefault(axis, size) != size:
                    known, what = sizes[axis], "the arguments before it"
                    raise ValueError(f"{name} must have size {known} along {axis}, as {what}, got {size}")
    for one, other in SAME:
        if one in sizes and other in sizes and sizes[one] != sizes[other]:
            raise ValueError(f"{one} and {other} must have equal sizes, got {sizes[one]} and {sizes[other]}")
    for name, value in given.items():
        if value is None:
            continue
        for kind, means in KINDS.items():
            if isinstance(value, kind):
                means(name, value)
        for part in get_args(hints[name]):
            if isinstance(part, Holds):
                part.check(name, value)
        if name in NAMES:
            NAMES[name](name, value, sizes, given)


def checked(analysis: Callable[P, R]) -> Callable[P, R]:
    """Decorate an analysis so that it raises ValueError for arguments that do not fit its annotations.

    The annotations are read at the first call, when the analysis's module is completely imported.
    """

    @functools.cache
    def annotations() -> tuple[inspect.Signature, dict[str, Any], dict[str, Any], set[str]]:
        signature, hints = inspect.signature(analysis), get_type_hints(analysis, include_extras=True)
        items = {name: item for name in signature.parameters if (item := _items(hints[name])) is not None}
        return signature, hints, items, {name for name in signature.parameters if not _holds_arrays(hints[name])}

    @functools.wraps(analysis)
    def when_called(*args: P.args, **kwargs: P.kwargs) -> R:
        if _WITHIN_AN_ANALYSIS.get():
            return analysis(*args, **kwargs)
        signature, hints, items, plain = annotations()
        bound = signature.bind(*args, **kwargs)
        for name in plain & bound.arguments.keys():
            bound.arguments[name] = _plain(bound.arguments[name])
        _check(bound.arguments, hints)
        for name in items.keys() & bound.arguments.keys():
            if bound.arguments[name] is not None:
                bound.arguments[name] = _one_by_one(name, bound.arguments[name], items[name])
        outside = _WITHIN_AN_ANALYSIS.set(True)
        try:
            return analysis(*bound.args, **bound.kwargs)
        finally:
            _WITHIN_AN_ANALYSIS.reset(outside)

    return when_called
