"""Record your own training loop: write snapshots and losses to a folder during the training."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd
import torch
from torch import nn

from modinterp.files import write_atomically
from modinterp.models import Wrapped
from modinterp.models.call_search import calling_of
from modinterp.runs.loggers import Logger, logger
from modinterp.runs.own_run import Rows, own_split, run
from modinterp.runs.recorded_run import HISTORY, MARK
from modinterp.runs.run import TRAINED, TrainedRun
from modinterp.runs.store import write_weights
from modinterp.tasks import Task
from modinterp.tasks.description import description
from modinterp.training import accuracy, cross_entropy

RATIO = 1.25  # between the steps of two snapshots: 62 of them in a million steps


class record:
    """A recorder of snapshots and losses of a module, while your own PyTorch loop trains the module.

    Every file is written under another name and then renamed, so a killed process leaves no incomplete file. A
    restarted loop continues in the same folder. A restarted loop replaces the snapshots of all steps from the restarted
    step on.

    >>> import tempfile, torch, modinterp as mi
    >>> task, folder = mi.tasks.addition(7), tempfile.mkdtemp()
    >>> model = torch.nn.Sequential(torch.nn.Embedding(8, 4), torch.nn.Flatten(), torch.nn.Linear(12, 7))
    >>> with mi.record("mine/run-1", model, task, train=range(30), out=folder) as recorded:
    ...     for step in range(10):
    ...         recorded(step)  # after the loss and the optimiser's step
    >>> mine = recorded.run()
    >>> list(mine.snapshots)
    [0, 1, 2, 3, 4, 5, 7, 9]

    Args:
        name: name of the run; the folder of the run is `out/name`.
        model: the module to train.
        task: the task on which the module is trained.
        train: training inputs, as indices into `task.inputs()` or as a mask over all inputs.
        out: parent folder; `trained/` by default.
        ratio: factor between the steps of successive snapshots, larger than 1. All of the first training steps are
            recorded.
        inputs, tokens: input format of the module; see `explain`.
        to: names of loggers that also receive each row of the history: `wandb`, `tensorboard`.
    Raises:
        FileExistsError: the folder holds files that no recorder wrote.
        ValueError: an index in `train` is out of range, or `ratio` is 1 or less.
    """

    def __init__(
        self,
        name: str,
        model: nn.Module,
        task: Task,
        *,
        train: Rows,
        out: str | Path = TRAINED,
        ratio: float = RATIO,
        inputs: str | None = None,
        tokens: str | Callable[..., Any] | None = None,
        to: Sequence[str] = (),
    ):
        if not ratio > 1:
            raise ValueError(f"ratio must be more than 1, got {ratio}")
        self.name, self.model, self.task, self.ratio = name, model, task, ratio
        self.inputs, self.tokens, self.calling = inputs, tokens, calling_of(model, task, inputs, tokens)
        self.split, self.folder = own_split(task, train), Path(out) / name
        self.rows: list[dict[str, float]] = []
        self.due = self.last = -1
        self._open()
        self.loggers: list[Logger] = [logger(kind, name, self.folder) for kind in to]

    def _open(self) -> None:
        """Create the recorder's folder, or continue in a folder that an earlier recorder wrote."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = self.folder / MARK
        if not mark.is_file() and any(self.folder.iterdir()):
            raise FileExistsError(f"{self.folder} holds files that no recorder wrote; choose another name or `out`")
        self._mark(is_over=False)
        if (self.folder / HISTORY).is_file():
            self.rows = pd.read_csv(self.folder / HISTORY).to_dict("records")  # pyright: ignore[reportAttributeAccessIssue]

    def _mark(self, is_over: bool) -> None:
        """Write a description of the recording into its folder, so that the run can be opened without the module."""
        content = {
            "name": self.name,
            "task": description(self.task),
            "train": self.split.train.tolist(),
            "over": is_over,
        }
        write_atomically(self.folder / MARK, json.dumps(content).encode())

    def __enter__(self) -> record:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.last >= 0 and (not self.rows or self.rows[-1]["epoch"] < self.last):
            self._write(self.last)
        if error is None:
            self._mark(is_over=True)
        for each in self.loggers:
            each.close()

    def __call__(self, step: int) -> None:
        """Record a step: write a snapshot if one is due. Call the recorder after each step of the optimiser.

        Args:
            step: number of the step, which must grow from call to call.
        Raises:
            ValueError: `step` is not larger than at the previous call.
        """
        if step <= self.last:
            raise ValueError(f"each step must be larger than the previous one, got {step} after {self.last}")
        if self.last < 0:
            self._forget_from(step)
        self.last = step
        if step >= self.due:
            self._write(step)
            self.due = max(step + 1, math.ceil(step * self.ratio))

    def at(self, step: int) -> None:
        """Record a step in a loop that may report a step twice, for example when it accumulates gradients."""
        if step > self.last:
            self(step)

    def _forget_from(self, step: int) -> None:
        """Delete the snapshots and history rows that an earlier loop recorded from a step on."""
        self.rows = [row for row in self.rows if row["epoch"] < step]
        for path in self.folder.glob("step_*.safetensors"):
            if int(path.stem.removeprefix("step_")) >= step:
                path.unlink()

    def _write(self, step: int) -> None:
        weights = {name: w.detach().cpu().clone() for name, w in self.model.state_dict().items()}
        write_weights(self.folder / f"step_{step}.safetensors", weights)
        self.rows.append(self._measured(step))
        for each in self.loggers:
            each.log(step, {name: value for name, value in self.rows[-1].items() if name != "epoch"})
        write_atomically(self.folder / HISTORY, self.history.to_csv(index=False).encode())

    def _measured(self, step: int) -> dict[str, float]:
        """Measure losses [nats] and accuracies on the training inputs and the held-out inputs."""
        wrapped = Wrapped(self.model, self.task, self.calling, is_looked_into=False)
        labels, row = self.task.labels()[:, 0], {"epoch": float(step)}
        with torch.no_grad():
            for part, rows in (("train", self.split.train), ("test", self.split.test)):
                if len(rows):
                    logits = wrapped(self.task.inputs()[rows])[:, -1].double().cpu()
                    row[f"{part}_loss"] = float(cross_entropy(logits, labels[rows]))
                    row[f"{part}_accuracy"] = float(accuracy(logits, labels[rows]))
        return row

    @property
    def history(self) -> pd.DataFrame:
        """Return a table with one row for each snapshot: step as `epoch`, losses [nats] and accuracies."""
        return pd.DataFrame(self.rows)

    def run(self) -> TrainedRun:
        """Return the run recorded so far, in the form that `mi.run` returns."""
        rows = self.split.train
        return run(self.model, self.task, snapshots=self.folder, train=rows, history=self.history, name=self.name,
                   inputs=self.inputs, tokens=self.tokens)  # fmt: skip
