"""Print results as their table, or field by field; tensors are printed as type and shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import torch

_ROWS, _ITEMS = 20, 6  # of a table, of a tuple
_PLAIN = (bool, int, float, str)
Kind = TypeVar("Kind", bound=type)


def printable(kind: Kind) -> Kind:
    """Decorate a dataclass so that it prints its fields and its `table()`, and shows the table in notebooks.

    >>> from dataclasses import dataclass
    >>> @printable
    ... @dataclass(frozen=True)
    ... class Circle:
    ...     radius: float
    ...     points: torch.Tensor
    >>> Circle(1 / 3, torch.zeros(113, 2))
    Circle(radius=0.3333, points=float32[113, 2])
    """
    kind.__repr__ = _text
    if hasattr(kind, "table"):
        kind._repr_html_ = lambda self: self.table().to_html(max_rows=_ROWS, float_format=_number)
    return kind


def _text(result: Any) -> str:
    values, has_table = {field.name: getattr(result, field.name) for field in fields(result)}, hasattr(result, "table")
    in_short = ", ".join(f"{name}={_short(x)}" for name, x in values.items() if not has_table or _is_plain(x))
    table = f"\n{result.table().to_string(max_rows=_ROWS, float_format=_number)}" if has_table else ""
    return f"{type(result).__name__}{f'({in_short})' if in_short or not has_table else ''}{table}"


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return len(value) <= _ITEMS and all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _short(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, tuple):
        more = f", ... {len(value)} in all" if len(value) > _ITEMS else "," * (len(value) == 1)
        return f"({', '.join(map(_short, value[:_ITEMS]))}{more})"
    return _number(value) if isinstance(value, float) else repr(value)


def _number(x: float) -> str:
    return f"{x:.4g}"
