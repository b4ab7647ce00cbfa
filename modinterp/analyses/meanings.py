"""Check the meaning of arguments of analyses, by their name, type, or table annotation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from modinterp.activations import ActivationCache
from modinterp.activations.by_rows import ByRows
from modinterp.arguments import COUNT, SEED, SIZE, Limits, check
from modinterp.models import Network
from modinterp.tasks import Group, Ordering, Task

Sizes = Mapping[str, Any]  # of the named axes of all arguments
Given = Mapping[str, Any]  # all arguments


@dataclass(frozen=True)
class Holds:
    """Annotation that lists the numeric columns that a table must have, or the hooks that a cache must hold.

    Attributes:
        names: names of the required columns or hooks.
    """

    names: tuple[str, ...]

    def check(self, name: str, value: pd.DataFrame | ActivationCache) -> None:
        """Raise ValueError if a column or hook is missing, or if a column is not numeric."""
        if missing := [wanted for wanted in self.names if wanted not in list(value.keys())]:
            raise ValueError(f"{name} must hold {', '.join(self.names)}, but the name {missing[0]} is missing")
        if isinstance(value, pd.DataFrame):
            for column in self.names:
                _numbers(f"{name}[{column!r}]", value[column])


def _numbers(name: str, value: pd.Series) -> None:
    if not pd.api.types.is_numeric_dtype(value):  # truth values are numbers to pandas
        raise ValueError(f"{name} must be a column of numbers, got one of {value.dtype}")


def _series(name: str, value: pd.Series) -> None:
    _numbers(name, value)
    if value.empty:
        raise ValueError(f"{name} must have at least one row, got none")


def _network(name: str, value: Network) -> None:
    for weight, x in value.state_dict().items():
        if not is_finite(x):
            raise ValueError(f"{name} must have finite weights, but {weight} contains NaN or infinity")


def _pairs_task(name: str, value: Task) -> None:
    if isinstance(value, Ordering):
        return
    p, grid = value.output_sizes[0], value.grid
    if grid is None or len(grid) != 2 or grid[0] != grid[1]:
        raise ValueError(f"{name} must be a task on pairs of residues, got {value.name}")
    if p < 2:
        raise ValueError(f"{name} must have at least 2 answers, got {p}")


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
        raise ValueError(f"{name} must be a permutation of 0 .. {len(value) - 1}")


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
            raise ValueError(f"{name} must be of order {sizes[axis]}, the size along {axis}, got a group of order {n}")


def _representations(name: str, value: Any, sizes: Sizes, given: Given) -> None:
    """Check one or several representations; `Irrep` is not imported, since its module imports this module."""
    many = value if isinstance(value, Collection) else None
    for n in {len(rho.matrices) for rho in ([value] if many is None else many)}:
        _of_order(name, n, sizes)
        if isinstance(task := given.get("task"), Group) and task.n != n:
            raise ValueError(
                f"{name} must be of {task.group}, of order {task.n}, got representations of a group of order {n}"
            )
    if many is None:
        return
    for axis, count in (("irrep", len(many)), ("component", sum(rho.rank for rho in many))):
        if sizes.get(axis, count) != count:
            raise ValueError(f"{name} must contain {sizes[axis]} entries, the size along {axis}, got {count}")


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


def is_finite(x: Tensor) -> bool:
    """Return True if no element of a tensor is NaN or infinite; the sum is tested first, because this is fastest."""
    if not x.is_floating_point() or isinstance(x, ByRows):  # whose rows would all be computed for this alone
        return True
    version = None if x.is_inference() else x._version
    if version is None or _KNOWN_FINITE.get(x) != version:
        if not (bool(x.detach().sum().isfinite()) or bool(x.isfinite().all())):
            return False
        _KNOWN_FINITE[x] = version
    return True
