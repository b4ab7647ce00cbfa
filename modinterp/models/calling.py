"""Call a user's network: convert inputs to its format, and read its logits at the answer's position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from modinterp.models.outputs import read
from modinterp.models.token_map import TokenMap
from modinterp.tasks.renaming import Renaming

# What a network may answer to inputs of a form, or as many at once, as it does not take.
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, AttributeError, AssertionError, KeyError, MemoryError)
_PROBED = 2  # inputs on which a form is tried
_COMPARED = 64  # inputs on which it is looked whether answers depend on the others of a batch
_ALIKE = 0.01  # of the spread of the logits, by which answers may move then
_ONE_HOT, POSITIONS_FIRST = "one-hot", "positions first"

# From the vectors of a and b, `[batch, 2, residue]`, to the arguments of a network that takes vectors.
_OF_VECTORS: dict[str, Callable[[Tensor], tuple[Tensor, ...]]] = {
    f"{_ONE_HOT} pairs in a row": lambda vectors: (vectors.flatten(1),),
    f"{_ONE_HOT} pairs": lambda vectors: (vectors,),
    f"{_ONE_HOT} as two arguments": lambda vectors: vectors.unbind(1),
}
# From tokens, how many of them are numbers, and how many tokens there are, to the arguments.
_OF_TOKENS: dict[str, Callable[[Tensor, int, int], tuple[Tensor, ...]]] = {
    "tokens": lambda tokens, numbers, size: (tokens,),
    "pairs without =": lambda tokens, numbers, size: (tokens[:, :numbers],),
    "two arguments": lambda tokens, numbers, size: tokens[:, :numbers].unbind(1),
    POSITIONS_FIRST: lambda tokens, numbers, size: (tokens.T.contiguous(),),
    f"{_ONE_HOT} tokens": lambda tokens, numbers, size: (_one_hot(tokens, size),),
    f"{_ONE_HOT} tokens in a row": lambda tokens, numbers, size: (_one_hot(tokens, size).flatten(1),),
}
FORMS = (  # the likeliest first
    "tokens", "pairs without =", f"{_ONE_HOT} pairs in a row", f"{_ONE_HOT} pairs", "two arguments",
    f"{_ONE_HOT} as two arguments", POSITIONS_FIRST, f"{_ONE_HOT} tokens", f"{_ONE_HOT} tokens in a row",
)  # fmt: skip


TOKEN_FORMS = tuple(name for name in FORMS if name in _OF_TOKENS)


def _one_hot(tokens: Tensor, size: int) -> Float[Tensor, "batch pos token"]:
    return F.one_hot(tokens, size).to(torch.get_default_dtype())


@dataclass(frozen=True)
class Calling:
    """The input format of a network, and the place in its output where the answer is read.

    Attributes:
        form: kind of the inputs, a key of `FORMS`.
        as_numpy: True if the network takes numpy arrays, like functions of JAX, instead of tensors.
        in_float64: True if one-hot vectors have dtype float64.
        most: largest number of inputs per call of the network; None without a limit.
        numbers: how many numbers an input has; the numbers come first among the task's tokens.
        tokens: map from the numbers of an input to the network's own tokens; None if the network uses the task's
            tokens.
        made_by: function from the numbers, one tensor `[batch]` each, to the network's arguments; it replaces `form`
            and `tokens`.
        output: name of the output array with the logits; None for the first array that fits.
        renaming: relabelling of the numbers before the network is called; None for no relabelling.
    """

    form: str = "tokens"
    as_numpy: bool = False
    in_float64: bool = False
    most: int | None = None
    numbers: int = 2
    tokens: TokenMap | None = None
    made_by: Callable[..., Any] | None = None
    output: str | None = None
    renaming: Renaming | None = None

    def __str__(self) -> str:
        first = self.form if self.tokens is None else f"tokens {self.tokens}"
        if self.tokens is not None and self.form != "tokens":
            first = f"{first}, {self.form}"
        if self.made_by is not None:
            first = f"the result of {getattr(self.made_by, '__name__', 'a function')} for the numbers"
        words = (", as numpy arrays" * self.as_numpy, ", in float64" * self.in_float64)
        where = "" if self.output is None else f", of its output {self.output!r}"
        return first + "".join(words) + (f", {self.most} at a time" if self.most else "") + where

    @property
    def takes_vectors(self) -> bool:
        """True if the network takes one-hot vectors, which other vectors may replace."""
        return self.form in _OF_VECTORS and self.made_by is None and self.tokens is None

    @property
    def takes_tokens_of_task(self) -> bool:
        """True if the network takes all tokens of the task, including "=" if the task has it."""
        of_numbers = ("pairs without =", "two arguments", *_OF_VECTORS)
        return self.form not in of_numbers and self.made_by is None and self.tokens is None

    @property
    def answer_at(self) -> int:
        """The position whose logits are the answer; negative positions count from the end."""
        return -1 if self.tokens is None else self.tokens.answer_at

    @property
    def where_it_is_read(self) -> str:
        """Text that names the position of the answer."""
        last = self.tokens is None or self.tokens.position == len(self.tokens.words) - 1
        return "read at the last position" if last else f"read at position {self.answer_at}"

    @property
    def order(self) -> tuple[int, ...] | None:
        """The network's positions in the order of the task's positions; None if the two orders are equal, or if no such
        order exists.
        """
        return None if self.tokens is None else self.tokens.order

    def positions(self, n_ctx: int) -> int:
        """Return the number of positions of the network's input, for a task with a number of tokens."""
        if self.tokens is not None:
            return len(self.tokens.words)
        return self.numbers if self.form == "pairs without =" else n_ctx

    @property
    def is_seen_into(self) -> bool:
        """True if the positions of activations can be brought into the order of the task's tokens."""
        return self.most is None and self.made_by is None and (self.tokens is None or self.tokens.order is not None)

    def logits(
        self, network: Callable[..., Any], tokens: Int[Tensor, "batch pos"], classes: int
    ) -> Float[Tensor, "batch output"]:
        """Return the logits at the answer's position, with the logits of the task's classes first.

        Raises:
            ValueError: the output contains no array of logits for each input.
        """
        if self.most is None:
            return self._at_once(network, tokens, classes)
        batches = tokens.split(self.most)
        full = [torch.cat([x, x[-1:].expand(self.most - len(x), -1)]) for x in batches]
        return torch.cat([self._at_once(network, x, classes) for x in full])[: len(tokens)]

    def _at_once(self, network: Callable[..., Any], tokens: Tensor, classes: int) -> Tensor:
        if self.takes_vectors:
            one_hot = _one_hot(tokens[:, : self.numbers] % classes, classes)
            return self.of_vectors(network, one_hot, classes)
        return self._read(self.outputs(network, tokens, classes), len(tokens), classes)

    def outputs(self, network: Callable[..., Any], tokens: Int[Tensor, "batch pos"], classes: int) -> Any:
        """Return the complete output of the network for some inputs."""
        if self.takes_vectors:
            return self._called(network, self._vectors(network, _one_hot(tokens[:, :2] % classes, classes)))
        residues = tokens[:, : self.numbers] % classes
        numbers = residues if self.renaming is None else self.renaming.numbers(residues)
        if self.made_by is not None:
            made = self.made_by(*numbers.unbind(1))
            return self._called(network, made if isinstance(made, tuple) else (made,))
        if self.tokens is not None:
            own, count, size = self.tokens.tokens(numbers), len(self.tokens.words), self.tokens.size(classes)
        else:
            shifted = tokens[:, : self.numbers] - residues + numbers
            own, count = torch.cat([shifted, tokens[:, self.numbers :]], dim=1), self.numbers
            size = TokenMap.of_task(tokens, classes, self.numbers).size(classes)
        return self._called(network, _OF_TOKENS[self.form](own, count, size))

    def of_vectors(
        self, network: Callable[..., Any], vectors: Float[Tensor, "batch 2 residue"], classes: int
    ) -> Float[Tensor, "batch output"]:
        """Return the logits of a network that takes one-hot vectors, for any vectors in place of one-hot vectors."""
        return self._read(self._called(network, self._vectors(network, vectors)), len(vectors), classes)

    def _vectors(self, network: Callable[..., Any], vectors: Tensor) -> tuple[Tensor, ...]:
        float_type = torch.float64 if self.in_float64 else _float_type(network)
        vectors = vectors if self.renaming is None else self.renaming.vectors(vectors)
        return _OF_VECTORS[self.form](vectors.to(float_type))

    def _called(self, network: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        with evaluating(network):
            # copies, since some networks write into their inputs
            own = (x.clone() if isinstance(x, Tensor) else x for x in inputs)
            return network(*(x.cpu().numpy() if self.as_numpy and isinstance(x, Tensor) else x for x in own))

    def _read(self, result: Any, rows: int, classes: int) -> Float[Tensor, "batch output"]:
        first = 0 if self.tokens is None else self.tokens.first_class
        is_turned = self.form == POSITIONS_FIRST and self.made_by is None
        logits = read(result, rows, first + classes, self.answer_at, self.output, is_turned)[:, first:]
        return logits if self.renaming is None else self.renaming.answers(logits)


@contextmanager
def evaluating(network: object) -> Iterator[None]:
    """Set all modules of a network to evaluation mode until the `with` statement ends."""
    every = network.modules() if isinstance(network, nn.Module) else ()
    modules = [m for m in every if getattr(m, "training", False)]  # a frozen TorchScript module has no mode
    for module in modules:
        module.training = False
    try:
        yield
    finally:
        for module in modules:
            module.training = True


def _float_type(network: object) -> torch.dtype:
    parameters = network.parameters() if isinstance(network, nn.Module) else ()
    return next((w.dtype for w in parameters if w.is_floating_point()), torch.get_default_dtype())


def _ways(network: object, n_ctx: int, said: Calling | None, form: str | None) -> Iterator[Calling]:
    """Return the possible input formats for a number of tokens, most likely first.

    Args:
        said: known fields of the input format, such as its tokens.
        form: the only form to try; all forms by default.
    """
    is_module, known = isinstance(network, nn.Module), said or Calling()
    forms = FORMS if form is None else (form,)
    if known.made_by is not None:
        forms = ("tokens",)
    elif known.tokens is not None and form is None:
        forms = tuple(each for each in TOKEN_FORMS if each != "pairs without =")
    for as_numpy, each in product((False,) if is_module else (False, True), forms):
        if form is None and each == "pairs without =" and n_ctx == known.numbers:
            continue
        is_float = each in _OF_VECTORS and not (is_module or as_numpy)
        for in_float64 in (False, True) if is_float else (False,):
            yield replace(known, form=each, as_numpy=as_numpy, in_float64=in_float64)


def _batches(count: int) -> Iterator[int | None]:
    """Return the batch sizes to try for a number of inputs: all inputs, then powers of 2."""
    yield None
    yield from (2**k for k in reversed(range((count - 1).bit_length())))


def likeliest_calling(
    network: Callable[..., Any],
    tokens: Int[Tensor, "batch pos"],
    classes: int,
    form: str | None = None,
    said: Calling | None = None,
) -> Calling:
    """Return the most likely input format: the first in which the network accepts all given inputs and returns logits.

    Args:
        form: the only form to try, a key of `FORMS`; all forms by default.
        said: fields of the input format that the user stated, such as the tokens.
    Raises:
        ValueError: the form is unknown, or the network accepts no format; the message holds the network's first error.
    """
    if form is not None and form not in FORMS:
        raise ValueError(f"unknown form of inputs {form!r}; known are {', '.join(FORMS)}")
    error: ValueError | None = None
    for most in (_PROBED, *_batches(len(tokens))):
        try:
            found = _of_form(network, tokens[:most], classes, form, said)
        except ValueError as other:
            error = error or other
        else:
            return _of_size(network, found, tokens, classes)
    raise error or ValueError("no inputs were given to call the network with")


def _of_form(
    network: Callable[..., Any], tokens: Tensor, classes: int, form: str | None, said: Calling | None
) -> Calling:
    """Return the most likely input format in which a network accepts a batch of inputs.

    Raises:
        ValueError: the network accepts the inputs in no format.
    """
    answers = []
    for way in _ways(network, tokens.shape[1], said, form):
        if (answer := refused(network, way, tokens, classes)) is None:
            return way
        answers.append(f"{way}: {answer}")
    raise ValueError(f"the network accepts pairs in none of the known forms; to {answers[0]}")


def _of_size(network: Callable[..., Any], way: Calling, tokens: Tensor, classes: int) -> Calling:
    """Return the input format with the largest batch size that the network accepts.

    Raises:
        ValueError: the network does not accept some of the inputs.
    """
    answers = []
    for most in _batches(len(tokens)):
        sized = replace(way, most=most)
        if (answer := refused(network, sized, tokens, classes)) is None:
            return sized
        answers.append(answer)
    raise ValueError(f"the network does not accept all {len(tokens):,} inputs; to {way}: {answers[0]}")


def refused(network: Callable[..., Any], way: Calling, tokens: Tensor, classes: int) -> str | None:
    """Return the error that a network raises on inputs in some format; None if the network accepts the inputs."""
    try:
        with torch.no_grad():
            way.logits(network, tokens, classes)
            is_apart = _answers_each_alone(network, way, tokens[: way.most or _COMPARED], classes)
    except REFUSALS as error:
        return (str(error) or type(error).__name__).splitlines()[0][:100]
    return None if is_apart else "the answer to an input depends on the other inputs of the same batch"


def _answers_each_alone(network: Callable[..., Any], way: Calling, tokens: Tensor, classes: int) -> bool:
    """Return True if inputs get the same answers in reverse order, or if the network's answers are random."""
    once, again, turned = (
        way.logits(network, x, classes)[:, :classes].double().log_softmax(dim=-1)
        for x in (tokens, tokens, tokens.flip(0))
    )
    moved = (turned.flip(0) - once).nan_to_num().abs().max()
    return bool(moved <= _ALIKE * once.nan_to_num().std(correction=0) + 1e-4 or not torch.equal(once, again))
