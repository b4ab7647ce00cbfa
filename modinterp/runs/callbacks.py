"""Wrap a recorder as a callback for Lightning or for the Trainer of transformers; each library is imported when it is
needed.
"""

from __future__ import annotations

from typing import Any

from modinterp.runs.recorder import record


def lightning_callback(recorded: record) -> Any:
    """Return a Lightning callback that calls a recorder after each batch.

    >>> lightning.Trainer(callbacks=[lightning_callback(recorded)])    # doctest: +SKIP

    Raises:
        ImportError: Lightning is not installed.
    """
    try:
        from lightning.pytorch import Callback  # pyright: ignore[reportMissingImports]
    except ImportError:
        try:
            from pytorch_lightning import Callback  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError("Lightning is not installed; run `pip install lightning`") from error

    class Recording(Callback):  # pyright: ignore[reportGeneralTypeIssues]
        def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
            recorded.at(int(trainer.global_step))

        def on_train_end(self, *_: Any) -> None:
            recorded.__exit__(None, None, None)

    return Recording()


def trainer_callback(recorded: record) -> Any:
    """Return a callback for the Trainer of transformers that calls a recorder after each step.

    >>> transformers.Trainer(model, callbacks=[trainer_callback(recorded)])    # doctest: +SKIP

    Raises:
        ImportError: transformers is not installed.
    """
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise ImportError("transformers is not installed; run `pip install transformers`") from error

    class Recording(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            recorded.at(int(state.global_step))

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            recorded.__exit__(None, None, None)

    return Recording()
