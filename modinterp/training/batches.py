"""Which examples a run is trained and measured on at which step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._pytree import tree_map

from modinterp.models import indexed
from modinterp.models.lookup import Index
from modinterp.models.operations import Operations
from modinterp.tasks import Examples, Split
from modinterp.training.spec import RunSpec

MOST_MEASURED = 20_000  # inputs that a row of history is measured on, where a step sees but a batch of them


@dataclass(frozen=True)
class Batch:
    """Examples in the form that the forward pass takes; for several runs, each tensor has a leading axis `run`.

    Attributes:
        index: the lookups of `modinterp.models.indexed`.
        labels: `[input, answer]`, at the positions that have an answer; -1 where an input has none.
    """

    index: Index
    labels: Tensor


def stack_batches(batches: Sequence[Batch]) -> Batch:
    """Batches of equal shape as one batch whose tensors have a leading axis `run`."""
    index = tree_map(lambda *each: torch.stack(each), *[b.index for b in batches])
    return Batch(index, torch.stack([b.labels for b in batches]))


def pad_examples(examples: Examples, rows: int) -> Examples:
    """The examples followed by rows without an answer, so that there are so many rows in all."""
    bottom = (0, 0, 0, rows - len(examples.labels))
    return Examples(F.pad(examples.inputs, bottom), F.pad(examples.labels, bottom, value=-1))


def _measured_part(examples: Examples, spec: RunSpec) -> Examples:
    """The examples that history is measured on: all, or the first `MOST_MEASURED` where a step sees but a batch.

    A split is in random order, so that the first are a fair sample; all of them would cost more than the training.
    """
    most = None if spec.recipe.batches == "full" else MOST_MEASURED
    return Examples(examples.inputs[:most], examples.labels[:most])


class Batches:
    """The batches of one run, on a device.

    Attributes:
        held_out: the examples that the test loss is measured on.
    """

    def __init__(
        self,
        spec: RunSpec,
        split: Split,
        device: torch.device,
        last_tokens: Tensor,
        rows: tuple[int, int],
        operations: Operations,
    ):
        """Batches on a device.

        Args:
            last_tokens: every token that may stand at the last position, in order.
            rows: numbers to which the training examples and the held out examples are padded.
            operations: those that the forward pass takes.
        """
        self.spec, self.device, self._last_tokens, self._operations = spec, device, last_tokens, operations
        inputs, labels = spec.task.inputs(), spec.task.labels()
        self._train, held_out = (Examples(inputs[part], labels[part]) for part in split)
        self._whole = self._batch(_measured_part(pad_examples(self._train, rows[0]), spec))
        self.held_out = self._batch(_measured_part(pad_examples(held_out, rows[1]), spec))

    def _batch(self, examples: Examples) -> Batch:
        task, labels, read = self.spec.task, examples.labels, None
        if task.n_asked < task.n_read:
            answers = (labels < 0).int().argsort(dim=1, stable=True)[:, : task.n_asked].sort(dim=1).values
            labels, read = labels.gather(1, answers), answers + task.n_ctx - task.n_read
        index = indexed(self.spec.model, examples.inputs, self._last_tokens, task.n_read, read, self._operations)
        return Batch(tree_map(lambda x: x.to(self.device), index), labels.to(self.device))

    def at(self, step: int) -> Batch:
        """The batch of a step; the same step has the same batch, whatever came before."""
        kind, size = self.spec.recipe.batches, self.spec.recipe.batch_size
        if kind == "full":
            return self._whole
        if kind == "fresh":
            return self._batch(self.spec.task.fresh(size, self._host_seed(step)))
        if kind == "shuffled":
            generator = torch.Generator().manual_seed(self._host_seed(step))
            rows = torch.randint(len(self._train.labels), (size,), generator=generator)
        else:
            rows = torch.arange(len(self._train.labels)).split(size)[step % -(-len(self._train.labels) // size)]
        return self._batch(pad_examples(Examples(self._train.inputs[rows], self._train.labels[rows]), size))

    def train_sample(self, step: int) -> Batch:
        """The examples that the training loss is measured on: the training examples, or the batch where it is fresh."""
        return self.at(step) if self.spec.recipe.batches == "fresh" else self._whole

    def _host_seed(self, step: int) -> int:
        return self.spec.seed * 1_000_003 + step


def batches_of(specs: Sequence[RunSpec], device: torch.device, pad: bool, operations: Operations) -> list[Batches]:
    """The batches of runs that train together.

    Args:
        operations: those that the forward pass takes.
        pad: whether all runs have as many rows as the one with the most.
    """
    endings = [torch.arange(s.task.d_vocab) if s.recipe.batches == "fresh" else s.task.inputs()[:, -1] for s in specs]
    last_tokens, splits = torch.cat(endings).unique(), [spec.split for spec in specs]
    sizes = [(len(train), len(test)) for train, test in splits]
    if pad:
        sizes = [(max(train for train, _ in sizes), max(test for _, test in sizes))] * len(specs)
    return [
        Batches(spec, split, device, last_tokens, size, operations)
        for spec, split, size in zip(specs, splits, sizes, strict=True)
    ]
