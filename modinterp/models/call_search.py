"""Find the input format of a user's network: try the usual formats until one gives right answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from modinterp.models.calling import POSITIONS_FIRST, REFUSALS, TOKEN_FORMS, Calling, likeliest_calling, refused
from modinterp.models.outputs import arrays
from modinterp.models.token_map import TokenMap, Word, maps_of, usual_maps
from modinterp.tasks import Task

SAMPLE = 128  # inputs on which every way is tried
OFFSETS = 4  # the number 0 is the token 0, 1, 2 or 3
SPARE = 6  # tokens beside the numbers, where no embedding says how many there are
RIGHT = 0.95  # share of right answers from which nothing simpler is looked for
FEW = 0.3  # share below which no way is taken to be the one
BETTER = 0.1  # by which it must exceed the share without a search


@dataclass(frozen=True)
class Found:
    """The input format under which a network gives the most right answers.

    Attributes:
        calling: the input format, and the position in the output where the answer is read.
        accuracy: share of right answers on a sample of the inputs, in [0, 1].
        tried: number of input formats that were tried.
        others: other variants of the format that give the same accuracy.
    """

    calling: Calling
    accuracy: float
    tried: int
    others: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Describe the input format that was found, and how certain the choice is."""
        alone = f", as right with {self.others[0]} and {len(self.others) - 1} more" if self.others else ", the only one"
        alone = f", as right with {self.others[0]}" if len(self.others) == 1 else alone
        return (
            f"found among {self.tried} ways to call the network, since its answers are right when called in "
            f"this way{alone}"
        )


@dataclass(frozen=True)
class _Scored:
    calling: Calling
    accuracy: float
    loss: float


def best_calling(
    network: Callable[..., Any],
    inputs: Int[Tensor, "input pos"],
    labels: Sequence[Int[Tensor, " input"]],
    classes: int,
    known: Calling,
    maps: Sequence[Sequence[TokenMap]] | None = None,
) -> Found | None:
    """Return the input format with the highest accuracy; None if the accuracy is too low under every format.

    First, `best_calling` tries other outputs, positions and classes with the known part of the input format. Then
    `best_calling` tries the usual maps from numbers to tokens, simplest first, until one gives right answers.

    Args:
        inputs, labels: inputs and labels of the task; labels for several operations if the operation is unknown.
        classes: number of possible answers.
        known: the part of the input format that is known.
        maps: maps from numbers to tokens to try; by default the usual maps for the network's vocabulary.
    """
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))[:SAMPLE]
    tokens, answers = inputs[order].to(device_of(network)), [each[order] for each in labels]
    best, tried = None, 0
    for group in _groups(network, classes, known, maps):
        scored: list[_Scored] = []
        for calling in group:
            tried += 1
            scored += _scored(network, calling, tokens, answers, classes)
        found = min(scored, key=_likeliest_first, default=None)
        if found is None or refused(network, found.calling, tokens, classes) is not None:
            continue
        if best is None or found.accuracy > best[0].accuracy + 0.01:
            as_right = (x for x in scored if round(x.accuracy, 2) >= round(found.accuracy, 2) and x is not found)
            best = found, tuple(dict.fromkeys(str(x.calling) for x in as_right if str(x.calling) != str(found.calling)))
        if best[0].accuracy >= RIGHT:
            break
    if best is None or best[0].accuracy < max(FEW, 4 / classes):
        return None
    return Found(best[0].calling, best[0].accuracy, tried, best[1])


def _likeliest_first(x: _Scored) -> tuple[float, ...]:
    """Return a sort key: accuracy in percent, then loss, then closeness to the usual input format."""
    tokens = x.calling.tokens
    moved = 0 if tokens is None else (tokens.position != len(tokens.words) - 1) + tokens.first_class
    return -round(x.accuracy, 2), float(f"{x.loss:.2g}"), moved + max((w.token for w in _numbers(x.calling)), default=0)


def accuracy_of(
    network: Callable[..., Any],
    calling: Calling,
    inputs: Int[Tensor, "input pos"],
    labels: Sequence[Int[Tensor, " input"]],
    classes: int,
) -> float:
    """Return the share of right answers on the sample that `best_calling` uses, for the best-fitting operation."""
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))[:SAMPLE]
    tokens = inputs[order].to(device_of(network))
    try:
        with torch.no_grad():
            logits = calling.logits(network, tokens, classes)[:, :classes]
    except REFUSALS:
        return 0.0
    return max(_accuracy(logits, each[order]) for each in labels)


def calling_of(
    network: Callable[..., Any], task: Task, form: str | None = None, tokens: str | Callable[..., Any] | None = None
) -> Calling:
    """Return the input format of a network for a task, taken from the arguments or found by trying formats.

    Args:
        form: a key of `FORMS`; by default the first form that the network accepts.
        tokens: text that maps numbers to tokens, as in `TokenMap.of`; or a function from the numbers, one tensor
            `[batch]` each, to the network's inputs. Special tokens that `tokens` names without a number are found by
            trying.
    Raises:
        ValueError: `form` or `tokens` is invalid, or the network does not accept such inputs.
    """
    inputs, classes = task.inputs().to(device_of(network)), sum(task.output_sizes)
    known = Calling(numbers=len(task.grid) if task.grid else task.n_ctx)
    if tokens is None:
        return likeliest_calling(network, inputs, classes, form, known)
    if not isinstance(tokens, str):
        return likeliest_calling(network, inputs, classes, form, replace(known, made_by=tokens))
    size = vocabulary(network, classes)
    maps = maps_of(tokens, classes, known.numbers, size or classes + OFFSETS + SPARE)
    first = likeliest_calling(network, inputs, classes, form, replace(known, tokens=maps[0]))
    if len(maps) == 1:
        return first
    found = best_calling(network, task.inputs(), [task.labels()[:, 0]], classes, first, [maps])
    return first if found is None or found.accuracy < RIGHT else found.calling


def device_of(network: object) -> torch.device:
    """Return the device of a module's first weight; the CPU for a function."""
    parameters = network.parameters() if isinstance(network, nn.Module) else iter(())
    return next(parameters, torch.empty(0)).device


def _groups(
    network: object, classes: int, known: Calling, maps: Sequence[Sequence[TokenMap]] | None
) -> Iterator[list[Calling]]:
    """Return groups of input formats to try, with the simplest group first."""
    if maps is None:
        yield [known]
        size = vocabulary(network, classes)
        offsets = range(min(OFFSETS, size - classes + 1) if size else OFFSETS)
        maps = usual_maps(classes, known.numbers, offsets, size or classes + OFFSETS + SPARE)
    is_module = isinstance(network, nn.Module)
    one_each = ["two arguments"] if not is_module else []
    forms = [known.form] if known.tokens is not None else ["tokens", *one_each, POSITIONS_FIRST]
    for form in forms:
        for group in maps:
            some = [x for x in group if form != "two arguments" or len(x.words) == known.numbers]
            if some:
                yield [replace(known, form=form, tokens=x, most=None, output=None) for x in some]


def vocabulary(network: object, classes: int) -> int | None:
    """Return the vocabulary size of a module if all its embeddings agree; None if the size is unknown."""
    modules = network.modules() if isinstance(network, nn.Module) else ()
    sizes = {m.num_embeddings for m in modules if isinstance(m, nn.Embedding) and m.num_embeddings >= classes}
    return sizes.pop() if len(sizes) == 1 else None


def _scored(
    network: Callable[..., Any], calling: Calling, tokens: Tensor, answers: Sequence[Tensor], classes: int
) -> Iterator[_Scored]:
    """Score an input format with every output, position and first class at which the answer may be read."""
    try:
        with torch.no_grad():
            found = list(arrays(calling.outputs(network, tokens, classes)))
    except REFUSALS:
        return
    first_axis = calling.form == POSITIONS_FIRST
    size = calling.numbers if calling.form in ("pairs without =", "two arguments") else tokens.shape[1]
    implied = TokenMap.of_task(tokens[:, :size], classes, calling.numbers)
    for name, array in found:
        if not array.is_floating_point() or array.ndim not in (2, 3) or array.shape[-1] < classes:
            continue
        by_position = array.transpose(0, 1) if array.ndim == 3 and first_axis else array
        if len(by_position) != len(tokens):
            continue
        positions = range(by_position.shape[1]) if array.ndim == 3 else (-1,)
        for at in positions:
            logits = by_position[:, at] if array.ndim == 3 else by_position
            output = name if len(found) > 1 else None
            yield from _scored_classes(calling, implied, logits, output, at, answers, classes)


def _scored_classes(
    calling: Calling,
    implied: TokenMap,
    logits: Tensor,
    output: str | None,
    at: int,
    answers: Sequence[Tensor],
    classes: int,
) -> Iterator[_Scored]:
    spare, shift = logits.shape[1] - classes, max((w.token for w in _numbers(calling)), default=0)
    for first in sorted({0, shift, 1, spare} & set(range(spare + 1))):
        some = logits[:, first : first + classes]
        if not some.isfinite().all():
            continue
        accuracies = [_accuracy(some, each) for each in answers]
        best = max(range(len(answers)), key=lambda i: accuracies[i])
        rows = answers[best] >= 0
        target = answers[best][rows].to(some.device)
        loss = torch.nn.functional.cross_entropy(some[rows].double(), target)
        if (there := _read_there(calling, implied, output, at, first)) is not None:
            yield _Scored(there, accuracies[best], float(loss))


def _numbers(calling: Calling) -> list[Word]:
    return [] if calling.tokens is None else [w for w in calling.tokens.words if w.is_number]


def _read_there(calling: Calling, implied: TokenMap, output: str | None, at: int, first: int) -> Calling | None:
    """Return an input format that reads another output, position or class; None if no such format exists."""
    tokens = calling.tokens or implied
    at = -1 if at in (-1, len(tokens.words) - 1) else at
    if calling.tokens is None and (at, first) == (-1, 0):
        return replace(calling, output=output)
    if calling.form not in TOKEN_FORMS:
        return None
    return replace(calling, output=output, tokens=replace(tokens, answer_at=at, first_class=first))


def _accuracy(logits: Tensor, answers: Tensor) -> float:
    rows = answers >= 0
    return float((logits[rows].argmax(dim=1).cpu() == answers[rows]).double().mean())
