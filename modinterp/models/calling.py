"""How anybody's network is called: in which form it takes its inputs, and logits at the last position come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

# What a network may answer to an input of a form that it does not take.
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, AttributeError, AssertionError, KeyError)


def _residues(tokens: Tensor, classes: int) -> Tensor:
    """a and b below the number of classes, whichever vocabularies they come from."""
    return tokens[:, :2] % classes


FORMS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "tokens": lambda tokens, _: tokens,
    "pairs without =": lambda tokens, _: tokens[:, :2],
    "one-hot pairs in a row": lambda tokens, p: F.one_hot(_residues(tokens, p), p).flatten(1),
    "one-hot pairs": lambda tokens, p: F.one_hot(_residues(tokens, p), p),
}


@dataclass(frozen=True)
class Calling:
    """How a network is called.

    Attributes:
        form: a key of `FORMS`.
        as_numpy: whether it takes arrays of numpy, as functions of JAX do, and not tensors.
    """

    form: str = "tokens"
    as_numpy: bool = False

    def __str__(self) -> str:
        return self.form + ", as numpy arrays" * self.as_numpy

    def logits(
        self, network: Callable[..., Any], tokens: Int[Tensor, "batch pos"], classes: int
    ) -> Float[Tensor, "batch output"]:
        """Logits at the last position, those of the classes first.

        Raises:
            ValueError: what comes out is no array of logits for each input.
        """
        inputs = FORMS[self.form](tokens, classes)
        if self.form.startswith("one-hot"):
            inputs = inputs.to(_float_type(network))
        result = network(inputs.cpu().numpy() if self.as_numpy else inputs)
        result = getattr(result, "logits", result[0] if isinstance(result, tuple) else result)
        logits = result if isinstance(result, Tensor) else torch.as_tensor(np.array(result))
        logits = logits[:, -1] if logits.ndim == 3 else logits
        if logits.ndim != 2 or len(logits) != len(tokens) or logits.shape[1] < classes:
            shape = tuple(logits.shape)
            raise ValueError(f"expected logits [{len(tokens)}, {classes} or more], or [.., pos, ..], got {list(shape)}")
        if not logits.is_floating_point():
            raise ValueError(f"expected logits, which are real numbers, got {logits.dtype}")
        return logits


def _float_type(network: object) -> torch.dtype:
    parameters = network.parameters() if isinstance(network, nn.Module) else ()
    return next((w.dtype for w in parameters if w.is_floating_point()), torch.get_default_dtype())


def callings(network: Callable[..., Any], tokens: Int[Tensor, "batch pos"], classes: int) -> list[Calling]:
    """Every way in which a network takes some inputs and gives logits, the likeliest first.

    Raises:
        ValueError: there is none; says what the network answered to tokens.
    """
    found, answers = [], []
    for as_numpy in (False, True)[: 1 if isinstance(network, nn.Module) else 2]:
        for form in FORMS:
            if form == "pairs without =" and tokens.shape[1] == 2:
                continue
            calling = Calling(form, as_numpy)
            try:
                with torch.no_grad():
                    calling.logits(network, tokens, classes)
            except REFUSALS as error:
                answers.append(f"{calling}: {(str(error) or type(error).__name__).splitlines()[0][:100]}")
            else:
                found.append(calling)
    if not found:
        raise ValueError(f"the network takes pairs in none of the known forms; to {answers[0]}")
    return found
