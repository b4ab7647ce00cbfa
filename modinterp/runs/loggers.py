"""Send the rows of a recorder's history to Weights & Biases or TensorBoard, if these are installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Logger(Protocol):
    """Interface of a logger that receives the losses and accuracies of each step."""

    def log(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write the losses and accuracies of one step."""

    def close(self) -> None:
        """Write all pending values, and close the logger."""


class _Wandb:
    """Logs to the active run of Weights & Biases, or starts a run with the recorder's name."""

    def __init__(self, wandb: Any, name: str):
        self.is_own = wandb.run is None
        self.run = wandb.init(name=name) if self.is_own else wandb.run

    def log(self, step: int, numbers: Mapping[str, float]) -> None:
        self.run.log({**numbers, "step": step})

    def close(self) -> None:
        if self.is_own:
            self.run.finish()


class _TensorBoard:
    def __init__(self, writer: Any):
        self.writer = writer

    def log(self, step: int, numbers: Mapping[str, float]) -> None:
        for name, value in numbers.items():
            self.writer.add_scalar(name, value, step)

    def close(self) -> None:
        self.writer.close()


LOGGERS = ("wandb", "tensorboard")


def logger(kind: str, name: str, folder: Path) -> Logger:
    """Return a logger that receives the rows of a recorder's history.

    Args:
        kind: `wandb`, or `tensorboard`, which writes into the folder `tensorboard` beside the snapshots.
        name: name of the run.
        folder: folder of the recorder.
    Raises:
        ImportError: the logger's package is not installed.
        ValueError: `kind` is unknown.
    """
    if kind not in LOGGERS:
        raise ValueError(f"unknown logger {kind!r}; known are {', '.join(LOGGERS)}")
    try:
        if kind == "wandb":
            import wandb  # pyright: ignore[reportMissingImports]

            return _Wandb(wandb, name)
        from torch.utils.tensorboard import SummaryWriter  # pyright: ignore[reportPrivateImportUsage]
    except ImportError as error:
        raise ImportError(f"{kind} is not installed; run `pip install {kind}`, or leave {kind} out of `to`") from error
    return _TensorBoard(SummaryWriter(str(folder / "tensorboard")))
