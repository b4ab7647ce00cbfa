"""Read files of `torch.save` that hold several state dicts, such as all snapshots of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from modinterp.runs.pickles import NotPlain, TensorEntry
from modinterp.runs.torch_files import SavedFile, saved_file

SERIES_KEYS = ("state_dicts", "snapshots", "checkpoints", "models")
EPOCH_KEYS = ("epochs", "steps", "save_epochs", "saved_epochs", "checkpoint_epochs", "iterations")


class WeightsOfEpochs(Mapping[int, dict[str, Tensor]]):
    """Map from epoch to state dict for a file with several state dicts; weights are read on access.

    Raises:
        ValueError: the file is damaged, or does not hold several state dicts.
    """

    def __init__(self, path: Path):
        try:
            self._saved: SavedFile = saved_file(path)
        except NotPlain as error:
            raise ValueError(f"{path} {error}") from error
        found = state_dicts_in(self._saved.content)
        if not found:
            raise ValueError(f"{path} holds no list of state dicts under {', '.join(SERIES_KEYS)}")
        self._path, self._dicts = path, dict(sorted(found.items()))

    def __getitem__(self, epoch: int) -> dict[str, Tensor]:
        try:
            return self._saved.tensors(self._dicts[epoch])
        except NotPlain as error:
            raise ValueError(f"the weights of epoch {epoch} in {self._path}: {error}") from error

    def __iter__(self) -> Any:
        return iter(self._dicts)

    def __len__(self) -> int:
        return len(self._dicts)


def state_dicts_in(content: Any) -> dict[int, dict[str, TensorEntry]]:
    """Map each epoch to the tensors of its state dict; empty if the file's content is not a series of state dicts.

    The list of state dicts is the file's content itself, or the value of one of `SERIES_KEYS`. A list of integers under
    one of `EPOCH_KEYS`, as long as the list of state dicts, gives the epochs. Without a list of epochs, epochs count
    from 0. A file with a dict from epoch to state dict is also accepted.
    """
    beside = content if isinstance(content, dict) else {}
    several = next((beside[key] for key in SERIES_KEYS if isinstance(beside.get(key), list | tuple | dict)), content)
    if isinstance(several, dict):
        found = {key: tensors_in(value) for key, value in several.items() if isinstance(key, int)}
    elif isinstance(several, list | tuple):
        epochs = next((beside[key] for key in EPOCH_KEYS if _are_epochs(beside.get(key), len(several))), None)
        found = dict(zip(epochs or range(len(several)), map(tensors_in, several), strict=True))
    else:
        return {}
    return found if len(found) > 1 and all(found.values()) else {}


def tensors_in(value: Any) -> dict[str, TensorEntry]:
    """Return the named tensors at the top level of a dict; an empty dict for any other object."""
    items = value.items() if isinstance(value, dict) else ()
    return {name: x for name, x in items if isinstance(name, str) and isinstance(x, TensorEntry)}


def _are_epochs(value: Any, count: int) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == count
    return is_list and all(isinstance(x, int) for x in value) and len({*value}) == count
