"""Choose the examples on which a run is trained and measured at each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._pytree import tree_map

from modinterp.models import MLPConfig, indexed
from modinterp.models.lookup import Index
from modinterp.models.operations import Operations
from modinterp.tasks import Examples
from modinterp.training.spec import RunSpec

MOST_MEASURED = 20_000  # inputs that a row of history is measured on, where a step sees but a batch of them


@dataclass(frozen=True)
class Batch:
    """Examples in the form that the forward pass takes; for several runs, each tensor has a leading axis `run`.

    Attributes:
        index: the table lookups that `modinterp.models.indexed` returns.
        labels: labels `[input, answer]` at the positions that have an answer; -1 for inputs without an answer there.
        times: `[input, 1]`, the number of examples that each row represents.
    """

    index: Index
    labels: Tensor
    times: Tensor


def stack_batches(batches: Sequence[Batch]) -> Batch:
    """Stack batches of equal shape into one batch whose tensors have a leading axis `run`."""
    index = tree_map(lambda *each: torch.stack(each), *[b.index for b in batches])
    return Batch(index, *(torch.stack([getattr(b, name) for b in batches]) for name in ("labels", "times")))


def pad_examples(examples: Examples, rows: int) -> Examples:
    """Pad examples to a number of rows with rows that have no answer."""
    bottom = (0, 0, 0, rows - len(examples.labels))
    return Examples(F.pad(examples.inputs, bottom), F.pad(examples.labels, bottom, value=-1))


class Part(NamedTuple):
    """A set of examples for training or testing, and how often each example occurs, `[input, 1]`."""

    examples: Examples
    times: Tensor

    def padded(self, rows: int) -> Part:
        """Return the examples followed by rows without an answer, up to a given number of rows."""
        bottom = (0, 0, 0, rows - len(self.times))
        return Part(pad_examples(self.examples, rows), F.pad(self.times, bottom, value=1))


def parts_of(spec: RunSpec) -> tuple[Part, Part]:
    """Return the training examples and the held-out examples of a run.

    A network of summed one-hot tokens has the same output for both orders of a pair. The two orders then count as one
    example that occurs twice, which is exact and nearly twice as fast. For networks with an embedding, pairs are not
    merged, so that trainings keep the same bits as in earlier versions.
    """
    inputs, labels = spec.task.inputs(), spec.task.labels()
    recipe, model = spec.recipe, spec.model
    is_summed = isinstance(model, MLPConfig) and model.one_hot and model.joined != "concatenated"
    is_merged = is_summed and recipe.batches == "full" and not recipe.dropout
    return tuple((_merged if is_merged else _each_once)(inputs[rows], labels[rows]) for rows in spec.split)  # type: ignore


def _each_once(inputs: Tensor, labels: Tensor) -> Part:
    return Part(Examples(inputs, labels), torch.ones(len(inputs), 1, dtype=torch.int64))


def _merged(inputs: Tensor, labels: Tensor) -> Part:
    """Merge inputs that differ only in the order of their tokens and have equal labels."""
    rows = torch.cat([inputs.sort(dim=1).values, labels], dim=1)
    found, times = rows.unique(dim=0, return_counts=True)
    examples = Examples(*found.split([inputs.shape[1], labels.shape[1]], dim=1))
    return Part(examples, times.unsqueeze(1))


def _measured_part(part: Part, spec: RunSpec) -> Part:
    """Return the examples on which the history is measured: all, or the first `MOST_MEASURED` if training uses batches.

    A split is in random order, so the first examples are a fair sample. Measuring all examples would take longer than
    training.
    """
    most = None if spec.recipe.batches == "full" else MOST_MEASURED
    return Part(Examples(*(x[:most] for x in part.examples)), part.times[:most])


def unread_and_read(spec: RunSpec) -> tuple[int, int]:
    """Return how many of the last positions a training ignores, and how many positions before the ignored ones it
    reads.

    Where every input is read at the same neighbouring positions, a causal network does not need the later positions.
    """
    task = spec.task
    first, last = task.read_positions[0], task.read_positions[-1]
    is_block = len(task.read_positions) == task.n_asked == last + 1 - first
    if not is_block or not getattr(spec.model, "causal", False):
        return 0, task.n_read
    return task.n_ctx - 1 - last, task.n_asked


class Batches:
    """The training batches of one run, stored on a device.

    Attributes:
        held_out: the examples on which the test loss is measured.
    """

    def __init__(
        self,
        spec: RunSpec,
        parts: tuple[Part, Part],
        device: torch.device,
        last_tokens: Tensor,
        rows: tuple[int, int],
        operations: Operations,
    ):
        """Prepare the batches of a run on a device.

        Args:
            last_tokens: all tokens that may occur at the last position, in order.
            parts: the training examples and the held-out examples.
            rows: numbers of rows to which the training examples and the held-out examples are padded.
            operations: the operations that the forward pass uses, `FAST` or `MAPPABLE`.
        """
        self.spec, self.device, self._last_tokens, self._operations = spec, device, last_tokens, operations
        self._turn: tuple[int, Tensor] = (-1, torch.empty(0))
        self._shuffler: torch.Generator | None = None
        (self._train, _), _ = parts
        whole, held_out = (_measured_part(part.padded(n), spec) for part, n in zip(parts, rows, strict=True))
        self._whole, self.held_out = self._batch(whole), self._batch(held_out)

    def _batch(self, part: Part) -> Batch:
        (inputs, labels), times = part
        task, read = self.spec.task, None
        unread, n_read = unread_and_read(self.spec)
        if unread or n_read < task.n_read:
            inputs, labels = inputs[:, : task.n_ctx - unread], labels[:, :n_read]
        elif task.n_asked < task.n_read:
            answers = (labels < 0).int().argsort(dim=1, stable=True)[:, : task.n_asked].sort(dim=1).values
            labels, read = labels.gather(1, answers), answers + task.n_ctx - task.n_read
        index = indexed(self.spec.model, inputs, self._last_tokens, n_read, read, self._operations)
        return Batch(tree_map(lambda x: x.to(self.device), index), labels.to(self.device), times.to(self.device))

    def at(self, step: int) -> Batch:
        """Return the batch of a step, which depends only on the step and not on earlier steps."""
        kind, size = self.spec.recipe.batches, self.spec.recipe.batch_size
        if kind == "full":
            return self._whole
        if kind == "fresh":
            return self._batch(_each_once(*self.spec.task.fresh(size, self._host_seed(step))))
        if kind == "shuffled":
            generator = torch.Generator().manual_seed(self._host_seed(step))
            rows = torch.randint(len(self._train.labels), (size,), generator=generator)
        else:
            turn, place = divmod(step, -(-len(self._train.labels) // size))
            order = self._order(turn) if kind == "permuted" else torch.arange(len(self._train.labels))
            rows = order[place * size : (place + 1) * size]
        examples = pad_examples(Examples(self._train.inputs[rows], self._train.labels[rows]), size)
        return self._batch(_each_once(*examples))

    def _order(self, turn: int) -> Tensor:
        """Return the order of the training inputs in a pass, which is the same after a training is resumed.

        For each pass, three 64-bit numbers are drawn, and the second number seeds the permutation. This reproduces two
        alternating `DataLoader` objects of torch, one over training inputs and one over other inputs, without workers.
        """
        if self._turn[0] != turn:
            if self._turn[0] > turn or self._shuffler is None:
                self._turn, self._shuffler = (-1, torch.empty(0)), self.spec.task.shuffler(self.spec.seed)
            for _ in range(turn - self._turn[0]):
                draws = [torch.empty((), dtype=torch.int64).random_(generator=self._shuffler) for _ in range(3)]
            generator = torch.Generator().manual_seed(int(draws[1]))
            self._turn = turn, torch.randperm(len(self._train.labels), generator=generator)
        return self._turn[1]

    def train_sample(self, step: int) -> Batch:
        """Return the examples on which the training loss is measured: the training examples, or the current fresh
        batch.
        """
        return self.at(step) if self.spec.recipe.batches == "fresh" else self._whole

    def _host_seed(self, step: int) -> int:
        return self.spec.seed * 1_000_003 + step


def batches_of(specs: Sequence[RunSpec], device: torch.device, pad: bool, operations: Operations) -> list[Batches]:
    """Return the batches of runs that train together.

    Args:
        operations: the operations that the forward pass uses, `FAST` or `MAPPABLE`.
        pad: True to pad all runs to the largest number of rows among them.
    """
    endings = [
        torch.arange(s.task.d_vocab)
        if s.recipe.batches == "fresh"
        else s.task.inputs()[:, s.task.n_ctx - 1 - unread_and_read(s)[0]]
        for s in specs
    ]
    last_tokens, parts = torch.cat(endings).unique(), [parts_of(spec) for spec in specs]
    sizes = [(len(train.times), len(held_out.times)) for train, held_out in parts]
    if pad:
        sizes = [(max(train for train, _ in sizes), max(test for _, test in sizes))] * len(specs)
    return [
        Batches(spec, each, device, last_tokens, size, operations)
        for spec, each, size in zip(specs, parts, sizes, strict=True)
    ]
