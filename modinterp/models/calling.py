"""How anybody's network is called: in which form it takes its inputs, and logits at the last position come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

# What a network may answer to inputs of a form, or as many at once, as it does not take.
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, AttributeError, AssertionError, KeyError, MemoryError)
_PROBED = 2  # inputs on which a form is tried
_ONE_HOT = "one-hot"


def _one_hot(tokens: Tensor, classes: int) -> Float[Tensor, "batch 2 residue"]:
    """a and b below the number of classes, whichever vocabularies they come from, as vectors."""
    return F.one_hot(tokens[:, :2] % classes, classes).to(torch.get_default_dtype())


# From the vectors of a and b, `[batch, 2, residue]`, to the arguments of a network that takes vectors.
_OF_VECTORS: dict[str, Callable[[Tensor], tuple[Tensor, ...]]] = {
    f"{_ONE_HOT} pairs in a row": lambda vectors: (vectors.flatten(1),),
    f"{_ONE_HOT} pairs": lambda vectors: (vectors,),
    f"{_ONE_HOT} as two arguments": lambda vectors: vectors.unbind(1),
}
_OF_TOKENS: dict[str, Callable[[Tensor], tuple[Tensor, ...]]] = {
    "tokens": lambda tokens: (tokens,),
    "pairs without =": lambda tokens: (tokens[:, :2],),
    "two arguments": lambda tokens: (tokens[:, 0], tokens[:, 1]),
}
FORMS = (  # the likeliest first
    "tokens", "pairs without =", f"{_ONE_HOT} pairs in a row", f"{_ONE_HOT} pairs", "two arguments",
    f"{_ONE_HOT} as two arguments",
)  # fmt: skip


@dataclass(frozen=True)
class Calling:
    """How a network is called.

    Attributes:
        form: a key of `FORMS`.
        as_numpy: whether it takes arrays of numpy, as functions of JAX do, and not tensors.
        in_float64: whether its one-hot vectors are of float64.
        most: how many inputs it takes at a time; None where it takes all.
    """

    form: str = "tokens"
    as_numpy: bool = False
    in_float64: bool = False
    most: int | None = None

    def __str__(self) -> str:
        words = (", as numpy arrays" * self.as_numpy, ", in float64" * self.in_float64)
        return self.form + "".join(words) + (f", {self.most} at a time" if self.most else "")

    @property
    def takes_vectors(self) -> bool:
        """Whether the network is called with one-hot numbers, which other vectors may replace."""
        return self.form in _OF_VECTORS

    def logits(
        self, network: Callable[..., Any], tokens: Int[Tensor, "batch pos"], classes: int
    ) -> Float[Tensor, "batch output"]:
        """Logits at the last position, those of the classes first.

        Raises:
            ValueError: what comes out is no array of logits for each input.
        """
        if self.most is None:
            return self._at_once(network, tokens, classes)
        batches = tokens.split(self.most)
        full = [torch.cat([x, x[-1:].expand(self.most - len(x), -1)]) for x in batches]
        return torch.cat([self._at_once(network, x, classes) for x in full])[: len(tokens)]

    def _at_once(self, network: Callable[..., Any], tokens: Tensor, classes: int) -> Tensor:
        if self.takes_vectors:
            return self.of_vectors(network, _one_hot(tokens, classes), classes)
        return self._called(network, _OF_TOKENS[self.form](tokens), classes)

    def of_vectors(
        self, network: Callable[..., Any], vectors: Float[Tensor, "batch 2 residue"], classes: int
    ) -> Float[Tensor, "batch output"]:
        """Logits of a network that takes one-hot numbers, for any vectors in their place."""
        float_type = torch.float64 if self.in_float64 else _float_type(network)
        return self._called(network, _OF_VECTORS[self.form](vectors.to(float_type)), classes)

    def _called(self, network: Callable[..., Any], inputs: tuple[Tensor, ...], classes: int) -> Tensor:
        with evaluating(network):
            # copies, since some networks write into their inputs
            result = network(*(x.cpu().numpy().copy() if self.as_numpy else x.clone() for x in inputs))
        return _logits(result, len(inputs[0]), classes)


@contextmanager
def evaluating(network: object) -> Iterator[None]:
    """A network with all its modules in the mode of evaluation, until the block ends."""
    every = network.modules() if isinstance(network, nn.Module) else ()
    modules = [m for m in every if getattr(m, "training", False)]  # a frozen TorchScript module has no mode
    for module in modules:
        module.training = False
    try:
        yield
    finally:
        for module in modules:
            module.training = True


def _logits(result: Any, rows: int, classes: int) -> Float[Tensor, "batch output"]:
    """Logits at the last position out of what a network gives: an array, or several of which one is the logits.

    Raises:
        ValueError: none is.
    """
    if isinstance(result, Mapping):
        result = result["logits"] if "logits" in result else tuple(result.values())
    result = getattr(result, "logits", result)
    error = ValueError("expected logits, got nothing")
    for part in result if isinstance(result, tuple) else (result,):
        logits = part if isinstance(part, Tensor) else torch.as_tensor(np.array(part))
        logits = logits[:, -1] if logits.ndim == 3 else logits
        if logits.ndim != 2 or len(logits) != rows or logits.shape[1] < classes:
            shape = list(logits.shape)
            error = ValueError(f"expected logits [{rows}, {classes} or more], or [.., pos, ..], got {shape}")
        elif not logits.is_floating_point():
            error = ValueError(f"expected logits, which are real numbers, got {logits.dtype}")
        else:
            return logits
    raise error


def _float_type(network: object) -> torch.dtype:
    parameters = network.parameters() if isinstance(network, nn.Module) else ()
    return next((w.dtype for w in parameters if w.is_floating_point()), torch.get_default_dtype())


def _ways(network: object, n_ctx: int, said: str | None) -> Iterator[Calling]:
    """The ways to call a network with inputs of so many tokens, the likeliest first."""
    is_module = isinstance(network, nn.Module)
    forms = FORMS if said is None else (said,)
    for as_numpy, form in product((False,) if is_module else (False, True), forms):
        if said is None and form == "pairs without =" and n_ctx == 2:
            continue
        for in_float64 in (False, True) if form.startswith(_ONE_HOT) and not (is_module or as_numpy) else (False,):
            yield Calling(form, as_numpy, in_float64)


def _batches(count: int) -> Iterator[int | None]:
    """How many of so many inputs may be taken at a time: all, or a power of 2."""
    yield None
    yield from (2**k for k in reversed(range((count - 1).bit_length())))


def likeliest_calling(
    network: Callable[..., Any], tokens: Int[Tensor, "batch pos"], classes: int, form: str | None = None
) -> Calling:
    """The likeliest way in which a network takes all of some inputs and gives logits, as many at a time as it takes.

    Args:
        form: the only form that is tried, a key of `FORMS`; all by default.
    Raises:
        ValueError: no such form, or no way; says what the network answered to the first.
    """
    if form is not None and form not in FORMS:
        raise ValueError(f"unknown form of inputs {form!r}; known are {', '.join(FORMS)}")
    error: ValueError | None = None
    for most in (_PROBED, *_batches(len(tokens))):
        try:
            found = _of_form(network, tokens[:most], classes, form)
        except ValueError as other:
            error = error or other
        else:
            return _of_size(network, found, tokens, classes)
    raise error or ValueError("there are no inputs to call the network with")


def _of_form(network: Callable[..., Any], tokens: Tensor, classes: int, form: str | None) -> Calling:
    """The likeliest way in which a network takes some inputs at once.

    Raises:
        ValueError: there is none.
    """
    answers = []
    for way in _ways(network, tokens.shape[1], form):
        if (answer := _refusal(network, way, tokens, classes)) is None:
            return way
        answers.append(f"{way}: {answer}")
    raise ValueError(f"the network takes pairs in none of the known forms; to {answers[0]}")


def _of_size(network: Callable[..., Any], way: Calling, tokens: Tensor, classes: int) -> Calling:
    """A way of calling, with as many inputs at a time as the network takes.

    Raises:
        ValueError: there are inputs that it does not take at all.
    """
    answers = []
    for most in _batches(len(tokens)):
        sized = replace(way, most=most)
        if (answer := _refusal(network, sized, tokens, classes)) is None:
            return sized
        answers.append(answer)
    raise ValueError(f"the network does not take all {len(tokens):,} inputs; to {way}: {answers[0]}")


def _refusal(network: Callable[..., Any], way: Calling, tokens: Tensor, classes: int) -> str | None:
    """What a network answers to inputs that it does not take in some way; None where it takes them."""
    try:
        with torch.no_grad():
            way.logits(network, tokens, classes)
    except REFUSALS as error:
        return (str(error) or type(error).__name__).splitlines()[0][:100]
    return None
