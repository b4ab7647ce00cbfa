"""Store measurements of a network as JSON, which is shipped with a run in place of its weights.

A measurement is recorded if its declared type can be restored from JSON. Restorable types are numbers, strings, tuples,
mappings, data classes of these, and small tensors. The declared types come from the code, and never from the file.
Recorded numbers have seven digits, the precision of float32.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor

LONGEST = 5_000  # characters of one measurement
DIGITS = 7
_WORDS = (bool, int, float, str)


def plain(value: Any) -> Any:
    """Convert a value to JSON.

    Raises:
        TypeError: `restored` could not restore a part of the value.
    """
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if value is None or isinstance(value, _WORDS):
        return value
    if isinstance(value, Tensor):
        if value.numel() > LONGEST:
            raise TypeError(f"a tensor of {value.numel():,} entries")
        return {"dtype": str(value.dtype).removeprefix("torch."), "values": plain(value.tolist())}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return [[plain(key), plain(entry)] for key, entry in value.items()]
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    raise TypeError(f"a value of type {type(value).__name__}")


def restored(kind: Any, value: Any) -> Any:
    """Restore a value of a declared type from the JSON that `plain` returned.

    Args:
        kind: the declared type of the value.
        value: the JSON value to restore.
    Raises:
        TypeError: measurements of this type are not recorded.
        ValueError: the JSON value does not fit the declared type.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind in (*_WORDS, types.NoneType):
        if type(value) is not kind:
            raise ValueError(f"{value!r:.100} is not a {kind.__name__}")
        return value
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(arguments, value)
    if origin is typing.Literal:
        return _checked(value in arguments, value)
    if getattr(kind, "array_type", None) is Tensor:  # jaxtyping's way of naming a tensor with its shape
        return _tensor(value)
    if isinstance(kind, type) and is_dataclass(kind):
        declared = _declared(kind)
        value = _by_present_name(kind, value)
        needed = {field.name for field in fields(kind) if field.default is MISSING}
        _checked(isinstance(value, dict) and needed <= set(value) <= set(declared), value)
        made = {name: restored(declared[name], entry) for name, entry in value.items()}
        return kind(**{name: _by_present_name(kind, entry) for name, entry in made.items()})
    if origin in (tuple, list):
        entries: list[Any] = value if isinstance(value, list) else _checked(False, value)
        endless = origin is list or arguments[1:] == (...,)
        each = arguments[:1] * len(entries) if endless else arguments
        _checked(len(each) == len(entries), value)
        return origin(restored(one, entry) for one, entry in zip(each, entries, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        pairs: list[Any] = value if isinstance(value, list) else _checked(False, value)
        _checked(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), value)
        return {restored(arguments[0], key): restored(arguments[1], entry) for key, entry in pairs}
    raise TypeError(f"a value of type {kind}")


def _by_present_name(kind: type, values: Any) -> Any:
    """Return a dict whose entries have their present names, by `FORMERLY` of the class; other values are unchanged."""
    formerly: Mapping[str, str] = getattr(kind, "FORMERLY", {})
    return {formerly.get(name, name): x for name, x in values.items()} if isinstance(values, dict) else values


def _checked(is_right: bool, value: Any) -> Any:
    if not is_right:
        raise ValueError(f"{value!r:.100} differs from the recorded value")
    return value


def _first_that_fits(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        try:
            return restored(kind, value)
        except ValueError:
            continue
    raise ValueError(f"{value!r:.100} differs from the recorded value")


def _tensor(value: Any) -> Tensor:
    _checked(isinstance(value, dict) and set(value) == {"dtype", "values"}, value)
    dtype = getattr(torch, str(value["dtype"]), None)
    _checked(isinstance(dtype, torch.dtype), value)
    try:
        return torch.tensor(value["values"], dtype=dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{value['values']!r:.100} is not a tensor") from error


@cache
def _declared(kind: type) -> Mapping[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def measurements_declared(kind: type) -> Mapping[str, Any]:
    """Map the name of each cached measurement of a class to its declared type."""
    found = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    kept = {name: value.func for name, value in found.items() if isinstance(value, cached_property)}
    return {name: typing.get_type_hints(function).get("return") for name, function in kept.items()}


def recorded_values(measurements: Any) -> dict[str, Any]:
    """Map the name of each measurement that fits in JSON of at most `LONGEST` characters to its JSON."""
    values = {}
    for holder in (measurements, *(measurements.part(kind) for kind in measurements.parts)):
        for name, kind in measurements_declared(type(holder)).items():
            with suppress(TypeError, ValueError):  # of another type, or of what this network does not have
                value = plain(getattr(holder, name))
                restored(kind, value)
                if len(json.dumps(value)) <= LONGEST:
                    values[name] = value
    return values


def restored_values(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Restore the recorded measurements of a class by name; names that the class lacks are left out.

    Raises:
        ValueError: a value does not fit the declared type of its measurement.
    """
    declared, named = measurements_declared(kind), _by_present_name(kind, dict(values))
    return {name: restored(declared[name], value) for name, value in named.items() if name in declared}
