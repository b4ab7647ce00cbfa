"""The rows of a recorder in other people's loggers, by their own interface, where they are installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Logger(Protocol):
    """Takes the numbers of a step."""

    def log(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write the numbers of a step."""

    def close(self) -> None:
        """Write what is left."""


class _Wandb:
    """The run of Weights & Biases that is going on, or one of the recorder's name."""

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
    """A logger that is fed with the rows of a recorder.

    Args:
        kind: `wandb`, or `tensorboard`, which writes into the folder `tensorboard` beside the snapshots.
        name: of the run.
        folder: of the recorder.
    Raises:
        ImportError: it is not installed.
        ValueError: no such kind.
    """
    if kind not in LOGGERS:
        raise ValueError(f"unknown logger {kind!r}; known are {', '.join(LOGGERS)}")
    try:
        if kind == "wandb":
            import wandb  # pyright: ignore[reportMissingImports]

            return _Wandb(wandb, name)
        from torch.utils.tensorboard import SummaryWriter  # pyright: ignore[reportPrivateImportUsage]
    except ImportError as error:
        raise ImportError(
            f"{kind} is not installed; `pip install {kind}` does that, or leave it out of `to`"
        ) from error
    return _TensorBoard(SummaryWriter(str(folder / "tensorboard")))
