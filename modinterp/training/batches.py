"""Which examples a run sees at which step: everything that is decided before the network is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from modinterp.models import indexed
from modinterp.tasks import Examples, Split
from modinterp.training.recipe import RunSpec

MEASURED = 20_000


@dataclass(frozen=True)
class Batch:
    """Examples as the forward pass wants them; of several runs, each tensor with a leading axis `run`.

    Attributes:
        index: of `modinterp.models.indexed`.
        labels: `[input, answer]`, of the positions where the task asks anything; -1 where nothing is asked.
    """

    index: dict[str, Tensor]
    labels: Tensor


def stacked(batches: Sequence[Batch]) -> Batch:
    """Batches of equal shape as one, along `run`."""
    index = {name: torch.stack([b.index[name] for b in batches]) for name in batches[0].index}
    return Batch(index, torch.stack([b.labels for b in batches]))


def padded(examples: Examples, rows: int) -> Examples:
    """As many rows as asked for, those added asking nothing."""
    bottom = (0, 0, 0, rows - len(examples.labels))
    return Examples(F.pad(examples.inputs, bottom), F.pad(examples.labels, bottom, value=-1))


def _first(examples: Examples, spec: RunSpec) -> Examples:
    """What a row of history is measured on: all, or the first `MEASURED` where a step sees but a batch of them.

    A split is in random order, so that the first are a fair sample; all of them would cost more than the training.
    """
    most = None if spec.recipe.batches == "full" else MEASURED
    return Examples(examples.inputs[:most], examples.labels[:most])


class Batches:
    """The batches of one run, on a device.

    Attributes:
        held_out: the inputs it is not trained on that its test loss is measured on.
    """

    def __init__(self, spec: RunSpec, split: Split, device: torch.device, last_tokens: Tensor, rows: tuple[int, int]):
        """`rows`: to which what is trained on and what is held out are padded."""
        self.spec, self.device, self._last_tokens = spec, device, last_tokens
        inputs, labels = spec.task.inputs(), spec.task.labels()
        self._train, held_out = (Examples(inputs[part], labels[part]) for part in split)
        self._whole = self._made(_first(padded(self._train, rows[0]), spec))
        self.held_out = self._made(_first(padded(held_out, rows[1]), spec))

    def _made(self, examples: Examples) -> Batch:
        task, labels, read = self.spec.task, examples.labels, None
        if task.n_asked < task.n_read:
            answers = (labels < 0).int().argsort(dim=1, stable=True)[:, : task.n_asked].sort(dim=1).values
            labels, read = labels.gather(1, answers), answers + task.n_ctx - task.n_read
        index = indexed(self.spec.model, examples.inputs, self._last_tokens, task.n_read, read)
        return Batch({name: x.to(self.device) for name, x in index.items()}, labels.to(self.device))

    def at(self, step: int) -> Batch:
        """The batch of a step, the same whenever it is asked for."""
        kind, size = self.spec.recipe.batches, self.spec.recipe.batch_size
        if kind == "full":
            return self._whole
        if kind == "fresh":
            return self._made(self.spec.task.fresh(size, self._host_seed(step)))
        if kind == "shuffled":
            generator = torch.Generator().manual_seed(self._host_seed(step))
            rows = torch.randint(len(self._train.labels), (size,), generator=generator)
        else:
            rows = torch.arange(len(self._train.labels)).split(size)[step % -(-len(self._train.labels) // size)]
        return self._made(padded(Examples(self._train.inputs[rows], self._train.labels[rows]), size))

    def seen(self, step: int) -> Batch:
        """What the training loss is measured on: what is trained on, see `_first`; where that has no end, the batch."""
        return self.at(step) if self.spec.recipe.batches == "fresh" else self._whole

    def _host_seed(self, step: int) -> int:
        return self.spec.seed * 1_000_003 + step


def batches_of(specs: Sequence[RunSpec], device: torch.device, pad: bool) -> list[Batches]:
    """The batches of runs that train together; where they are padded, all are of the size of the largest."""
    endings = [torch.arange(s.task.d_vocab) if s.recipe.batches == "fresh" else s.task.inputs()[:, -1] for s in specs]
    last_tokens, splits = torch.cat(endings).unique(), [spec.split for spec in specs]
    sizes = [(len(train), len(test)) for train, test in splits]
    if pad:
        sizes = [(max(train for train, _ in sizes), max(test for _, test in sizes))] * len(specs)
    return [
        Batches(spec, split, device, last_tokens, size) for spec, split, size in zip(specs, splits, sizes, strict=True)
    ]
