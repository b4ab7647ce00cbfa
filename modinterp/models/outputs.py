"""Find the logits in the output of a user's network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

_DEEPEST = 3  # containers in each other


def arrays(result: Any, depth: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Return the arrays in a network's output with their names; `logits` comes first, and other arrays keep their
    order.

    >>> [name for name, _ in arrays({"hidden": torch.zeros(2, 3), "logits": torch.zeros(2, 5)})]
    ['logits', 'hidden']
    """
    if isinstance(result, Tensor):
        yield "", result
        return
    inner = _parts(result)
    if inner is None:
        yield "", _tensor(result)
        return
    if depth == _DEEPEST:
        return
    for name, part in inner:
        for below, array in arrays(part, depth + 1):
            yield ".".join(filter(None, (name, below))), array


def _parts(result: Any) -> list[tuple[str, Any]] | None:
    """Return the names and parts of a container; None for an array."""
    if isinstance(result, Mapping):
        return sorted(((str(name), part) for name, part in result.items()), key=lambda x: x[0] != "logits")
    if hasattr(result, "logits"):
        return [("logits", result.logits)]
    is_list = isinstance(result, list) and any(not isinstance(x, int | float | list) for x in result)
    if isinstance(result, tuple) or is_list:
        return [(str(i), part) for i, part in enumerate(result)]
    return None


def _tensor(x: Any) -> Tensor:
    if not isinstance(x, np.ndarray) and callable(getattr(x, "numpy", None)):  # such as tinygrad's
        x = x.numpy()
    return torch.as_tensor(np.array(x))


def refusal(logits: Tensor, rows: int, classes: int) -> str:
    """Return the reason why an array `[row, output]` cannot be the logits of `rows` inputs; an empty text if it can."""
    if logits.ndim != 2 or len(logits) != rows or logits.shape[1] < classes:
        return f"expected logits [{rows}, {classes} or more], or [.., pos, ..], got {list(logits.shape)}"
    return "" if logits.is_floating_point() else f"expected logits, which are real numbers, got {logits.dtype}"


def read(
    result: Any, rows: int, classes: int, at: int = -1, output: str | None = None, positions_first: bool = False
) -> Float[Tensor, "row output"]:
    """Return the logits at one position from a network's output: from the named array, or from the first array that
    fits.

    Args:
        rows: number of inputs that the network was given.
        classes: smallest number of logits per input.
        at: the position to read, if the array has several positions.
        output: the name of the array, as `arrays` returns it.
        positions_first: True if positions are the first axis, and not the second.
    Raises:
        ValueError: no array in the output can be the logits.
    """
    why = "expected logits, got nothing"
    for name, array in arrays(result):
        if output is not None and name != output:
            continue
        logits = array[at] if array.ndim == 3 and positions_first else array
        logits = logits[:, at] if logits.ndim == 3 else logits
        if not (why := refusal(logits, rows, classes)):
            return logits
    raise ValueError(why)
