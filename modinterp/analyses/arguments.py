"""What analyses are given: every public one holds its arguments against its annotations when it is called.

Nothing is written into the analyses themselves. `check_when_called` goes through the modules of this package when it is
imported, and what one of them is asked from outside is checked, once:

- *type, dtype and rank*, as annotated; a scalar or a row of numpy's or torch's will do for numbers, and is made one;
- *shape*: an axis of one name has one size in all arguments, the operands `a` and `b` have the same, and none is empty;
- *finite*: no number of a tensor, nor of a network's weights, is NaN or infinite, since NaN is never evidence;
- *meaning*, where a name or a type has one and the same everywhere (`NAMES`, `KINDS`), or an annotation holds what a
  table or a cache must hold (`Holds`); a group, its representations and what they are of have one order.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from modinterp.activations import ActivationCache
from modinterp.analyses.groups.irreps import Irrep
from modinterp.arguments import COUNT, SEED, SIZE, Limits, axes_of, check, is_array_of
from modinterp.models import Network
from modinterp.tasks import Group, Ordering, Task

Sizes = Mapping[str, Any]  # of the named axes of all arguments
Given = Mapping[str, Any]  # all arguments
R = TypeVar("R")
SAME = (("a", "b"), ("component_a", "component_b"))  # axes of one size


@dataclass(frozen=True)
class Holds:
    """In an annotation: columns of numbers that a table must have, or hooks that a cache must hold.

    Attributes:
        names: names of the columns, or of the hooks.
    """

    names: tuple[str, ...]

    def check(self, name: str, value: pd.DataFrame | ActivationCache) -> None:
        """Raises ValueError where one is not there, or a column is none of numbers."""
        if missing := [wanted for wanted in self.names if wanted not in list(value.keys())]:
            raise ValueError(f"{name} must hold {', '.join(self.names)}, got none of the name {missing[0]}")
        if isinstance(value, pd.DataFrame):
            for column in self.names:
                _numbers(f"{name}[{column!r}]", value[column])


def _numbers(name: str, value: pd.Series) -> None:
    if not pd.api.types.is_numeric_dtype(value):  # truth values are numbers to pandas
        raise ValueError(f"{name} must be a column of numbers, got one of {value.dtype}")


def _series(name: str, value: pd.Series) -> None:
    _numbers(name, value)
    if value.empty:
        raise ValueError(f"{name} must have a row, got none")


def _network(name: str, value: Network) -> None:
    for weight, x in value.state_dict().items():
        if not _is_finite(x):
            raise ValueError(f"{name} must have finite weights, got NaN or infinity in {weight}")


def _pairs_task(name: str, value: Task) -> None:
    if isinstance(value, Ordering):
        return
    p, grid = value.output_sizes[0], value.grid
    if grid is None or len(grid) != 2 or grid[0] != grid[1]:
        raise ValueError(f"{name} must be one of pairs of residues, got {value.name}")
    if p < 2:
        raise ValueError(f"{name} must have 2 answers at least, got {p}")


KINDS: dict[type, Callable[[str, Any], None]] = {Network: _network, Task: _pairs_task, pd.Series: _series}


def _rows(name: str, value: Tensor, sizes: Sizes, given: Given) -> None:
    task, labels = given.get("task"), given.get("labels")
    inputs = len(labels) if labels is not None else len(task.inputs()) if task is not None else torch.inf
    if "a" in sizes:
        inputs = sizes["a"] ** 2
    _within(name, value, 0, inputs - 1)


def _labels(name: str, value: Tensor, sizes: Sizes, given: Given) -> None:
    _within(name, value, 0, sizes.get("output", torch.inf) - 1)
    if "a" in sizes and len(value) != sizes["a"] ** 2:
        raise ValueError(
            f"{name} must have one row for each of the {sizes['a']} x {sizes['a']} pairs, got {len(value)}"
        )


def _permutation(name: str, value: Tensor, _sizes: Sizes, _given: Given) -> None:
    if not torch.equal(value.sort().values.cpu(), torch.arange(len(value), dtype=value.dtype)):
        raise ValueError(f"{name} must be a permutation of 0 .. {len(value) - 1}, and is none")


def _residue(name: str, value: int, sizes: Sizes, _given: Given) -> None:
    check(name, value, int, Limits(0, sizes["b"] - 1))


def _fits(name: str, value: Task, sizes: Sizes, given: Given) -> None:
    if "network" in given:
        given["network"].cfg.check(value)
    if isinstance(value, Group):
        _of_order(name, value.n, sizes)


def _of_order(name: str, n: int, sizes: Sizes) -> None:
    for axis in ("element", "a", "output"):
        if sizes.get(axis, n) != n:
            raise ValueError(f"{name} must be of order {sizes[axis]}, the size along {axis}, got one of order {n}")


def _representations(name: str, value: Irrep | Collection[Irrep], sizes: Sizes, given: Given) -> None:
    for n in {len(rho.matrices) for rho in ([value] if isinstance(value, Irrep) else value)}:
        _of_order(name, n, sizes)
        if isinstance(task := given.get("task"), Group) and task.n != n:
            raise ValueError(f"{name} must be of {task.group}, of order {task.n}, got some of a group of order {n}")
    if isinstance(value, Irrep):
        return
    for axis, count in (("irrep", len(value)), ("component", sum(rho.rank for rho in value))):
        if sizes.get(axis, count) != count:
            raise ValueError(f"{name} must be as many as {sizes[axis]} along {axis}, got {count}")


def _partition(name: str, value: tuple[int, ...], _sizes: Sizes, _given: Given) -> None:
    if not value or min(value) < 1 or list(value) != sorted(value, reverse=True):
        raise ValueError(f"{name} must be a partition, whole numbers above 0 with the largest first, got {value}")


def _members(name: str, value: Collection[int], _sizes: Sizes, given: Given) -> None:
    if not value or not set(value) <= set(range(given["task"].n)):
        raise ValueError(f"{name} must hold elements below {given['task'].n}, got {sorted(value)[:9]}")


def _limited(limits: Limits) -> Callable[[str, Any, Sizes, Given], None]:
    def limited(name: str, value: Any, _sizes: Sizes, _given: Given) -> None:
        for number in (value,) if isinstance(value, int) else value if isinstance(value, Collection) else ():
            if isinstance(number, int):
                check(name, number, int, limits)

    return limited


def _column(_name: str, value: str, _sizes: Sizes, given: Given) -> None:
    if "table" in given:
        Holds((value,)).check("table", given["table"])


def _token(name: str, value: int, _sizes: Sizes, given: Given) -> None:
    most = next((given[key].cfg.d_vocab for key in ("network", "model") if key in given), 2**12)
    check(name, value, int, Limits(0, most - 1))


def _modulus(name: str, value: int, _sizes: Sizes, given: Given) -> None:
    most = next((given[key].cfg.d_vocab for key in ("network", "model") if key in given), 2**12)
    check(name, value, int, Limits(2, most))


def _tokens(name: str, value: Tensor, _sizes: Sizes, given: Given) -> None:
    _within(name, value, 0, given["network"].cfg.d_vocab - 1 if "network" in given else torch.inf)


def _sign(name: str, value: int, _sizes: Sizes, _given: Given) -> None:
    if value not in (1, -1):
        raise ValueError(f"{name} must be 1 for a + b or -1 for a - b, got {value}")


def _within(name: str, value: Tensor, least: float, most: float) -> None:
    low, high = value.aminmax()
    if low < least or high > most:
        raise ValueError(f"{name} must lie in 0 .. {most}, got {low} to {high}")


NAMES: dict[str, Callable[[str, Any, Sizes, Given], None]] = {
    "labels": _labels,
    "train": _rows,
    "test": _rows,
    "rows": _rows,
    "names": _permutation,
    "shuffle": _permutation,
    "a": _residue,
    "b": _residue,
    "sign": _sign,
    "equals": _token,
    "tokens": _tokens,
    "p": _modulus,
    "residues": _modulus,
    "task": _fits,
    "column": _column,
    "rho": _representations,
    "irreps": _representations,
    "shape": _partition,
    "subgroup": _members,
    "where": lambda name, x, sizes, _: _within(name, x, 0, sizes["output"] - 1),
    "seed": _limited(SEED),
    **dict.fromkeys(("draws", "boxes", "batch_size", "n_neurons", "d_model", "most", "waves", "steps", "width",
                     "n", "limit", "n_classes"), _limited(SIZE)),
    **dict.fromkeys(("count", "degree", "first", "rank", "gap", "freq", "freqs", "attention", "embedding"),
                    _limited(COUNT)),
}  # fmt: skip


_KNOWN_FINITE = WeakTensorKeyDictionary()  # tensors that were looked through, by how often they had been changed


def _is_finite(x: Tensor) -> bool:
    """Whether no number of a tensor is NaN or infinite; the sum says so soonest, unless it is too large itself."""
    if not x.is_floating_point():
        return True
    version = None if x.is_inference() else x._version
    if version is None or _KNOWN_FINITE.get(x) != version:
        if not (bool(x.detach().sum().isfinite()) or bool(x.isfinite().all())):
            return False
        _KNOWN_FINITE[x] = version
    return True


def _arrays(value: Any, kind: Any) -> Iterator[tuple[Tensor, Any]]:
    """Every tensor in an argument, beside its annotation."""
    if isinstance(value, Tensor):
        parts = [part for part in (kind, *get_args(kind)) if hasattr(part, "dim_str")]
        yield value, next((part for part in parts if is_array_of(value, part)), None)
    elif isinstance(value, (Mapping, list, tuple)) and not isinstance(value, ActivationCache):
        inner = get_args(kind)[-1] if get_args(kind) else None
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _arrays(one, inner)


def _one_by_one(name: str, values: Iterable[Any], kind: Any) -> Iterator[Any]:
    """What can be gone through once alone is checked as it comes."""
    for value in values:
        _check({name: value}, {name: kind})
        yield value


def _items(kind: Any) -> Any:
    """What an `Iterable`, or one or None, is annotated to give; None for anything else."""
    return next((get_args(part)[0] for part in (kind, *get_args(kind)) if get_origin(part) is Iterable), None)


def _holds_arrays(kind: Any) -> bool:
    return kind is Tensor or hasattr(kind, "dim_str") or any(map(_holds_arrays, get_args(kind)))


def _plain(value: Any) -> Any:
    """A scalar or a row of numpy's or torch's as Python's number or list."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray, Tensor)) else value


def _check(given: Given, hints: Mapping[str, Any]) -> None:
    sizes: dict[str, Any] = {}
    for name, value in given.items():
        kind = hints[name]
        check(name, value, kind)
        if isinstance(value, Mapping) and not value and _holds_arrays(kind):
            raise ValueError(f"{name} must hold a tensor, got none")
        for x, annotation in _arrays(value, kind):
            if not _is_finite(x):
                raise ValueError(f"{name} must be finite, got NaN or infinity in it")
            if x.numel() == 0:
                raise ValueError(f"{name} must not be empty, got shape {tuple(x.shape)}")
            for axis, size in axes_of(x, annotation) or () if annotation is not None else ():
                if not axis.isdigit() and axis[0] not in "#_" and sizes.setdefault(axis, size) != size:
                    known, what = sizes[axis], "what stands before it"
                    raise ValueError(f"{name} must have size {known} along {axis}, as {what}, got {size}")
    for one, other in SAME:
        if one in sizes and other in sizes and sizes[one] != sizes[other]:
            raise ValueError(f"{one} and {other} must be of one size, got {sizes[one]} and {sizes[other]}")
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


def checked(analysis: Callable[..., R]) -> Callable[..., R]:
    """The analysis, which raises ValueError for arguments that are not as annotated."""
    signature, hints = inspect.signature(analysis), get_type_hints(analysis, include_extras=True)
    items = {name: item for name in signature.parameters if (item := _items(hints[name])) is not None}
    plain = {name for name in signature.parameters if not _holds_arrays(hints[name])}

    @functools.wraps(analysis)
    def when_called(*args: Any, **kwargs: Any) -> R:
        bound = signature.bind(*args, **kwargs)
        for name in plain & bound.arguments.keys():
            bound.arguments[name] = _plain(bound.arguments[name])
        _check(bound.arguments, hints)
        for name in items.keys() & bound.arguments.keys():
            if bound.arguments[name] is not None:
                bound.arguments[name] = _one_by_one(name, bound.arguments[name], items[name])
        return analysis(*bound.args, **bound.kwargs)

    return when_called


def check_when_called(module: ModuleType) -> None:
    """Replace the public functions that a module defines by those that check what they are given."""
    for name, x in list(vars(module).items()):
        if not name.startswith("_") and callable(x) and not isinstance(x, type) and x.__module__ == module.__name__:
            setattr(module, name, checked(x))
