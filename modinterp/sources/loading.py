"""Trained runs by name, wherever the source that they belong to keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modinterp import runs
from modinterp.runs import TrainedRun, store
from modinterp.runs.run import how_to_train
from modinterp.sources.registry import catalogue, sources
from modinterp.tasks import Task
from modinterp.terminal.suggestions import suggestion


def roots(name: str) -> list[Path]:
    """Folders in which a run of this name may lie: `checkpoints/`, and the own folder of the source that it is of."""
    own = sources().get(name.partition("/")[0])
    return [store.checkpoints(), *([own.folder / "checkpoints"] if own is not None else [])]


def load(name: str | Path, task: Task | None = None, root: str | Path | None = None, **options: Any) -> TrainedRun:
    """A trained run of a source, one of your own, or anybody's checkpoint.

    >>> load("SOURCE/RUN")                                     # doctest: +SKIP
    >>> load("mine/first", root="trained")                     # doctest: +SKIP
    >>> load("model.safetensors", modinterp.tasks.addition(113))   # doctest: +SKIP

    Args:
        name: a run such as `SOURCE/RUN`, the folder of a run, or a `.safetensors`, `.pt` or `.pth` file.
        task: for a file, what its network was trained on; a run knows.
        root: folder to look for a named run in; by default `checkpoints/`, then those that installed sources ship.
        options: more of `modinterp.runs.load`'s, such as `device`, `act_fn` and `partial`.
    Raises:
        FileNotFoundError: there is no such run or file; says how to train a run that is not shipped.
        ValueError: a damaged file, one that would run code, or one that does not fit the task.
    """
    text, path = str(name), Path(name)
    of_a_source = root is None and path.suffix not in store.READ and not (path / store.RECORD).is_file()
    if not of_a_source:
        return runs.load(name, task, root=root, **options)
    there = next((folder for folder in roots(text) if (folder / text / store.RECORD).is_file()), None)
    if there is None and text in catalogue():
        raise FileNotFoundError(f"no trained run in {store.checkpoints() / text}; {how_to_train(text)}")
    if there is None and (hint := suggestion(text, [*store.run_names(store.checkpoints()), *catalogue()])):
        raise FileNotFoundError(f"no trained run in {store.checkpoints() / text}{hint}")
    return runs.load(name, task, root=there, **options)
