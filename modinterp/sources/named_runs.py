"""Find and load trained runs by name, in `checkpoints/`, on the Hub, or in an installed source."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from modinterp import runs
from modinterp.arguments import check
from modinterp.runs import TrainedRun, store
from modinterp.runs.hub import Root, is_address, local
from modinterp.runs.run import how_to_train
from modinterp.sources.registry import catalogue, sources
from modinterp.tasks import Task
from modinterp.terminal.suggestions import suggestion


def roots(name: str) -> list[Root]:
    """Return the places where a run of this name may lie: the published runs, and the folder of the run's source."""
    own = sources().get(name.partition("/")[0])
    places: list[Root] = [] if own is None else [own.folder / "checkpoints"]
    with suppress(store.NoCheckpoints):
        places.insert(0, store.published())
    return places


def is_there(name: str, root: Root | None = None) -> bool:
    """Return True if a trained run of this name lies in a folder, or in one of `roots`.

    Raises:
        ValueError: a repository on the Hub cannot be read.
    """
    return _place(name, roots(name) if root is None else [root]) is not None


def _place(name: str, places: Iterable[Root]) -> Root | None:
    """The first place that holds a trained run of this name; None if no place does."""
    records = f"*/{store.RECORD}"
    there = (place for place in places if is_address(place) or Path(place).is_dir())
    return next((place for place in there if (local(place, records) / name / store.RECORD).is_file()), None)


def how_to_have_checkpoints(source: str) -> str:
    """Return a text with the next step for users without trained runs of a source, as in an installed package."""
    try:
        lacking = f"none of the trained runs of {source} is in {store.published()}: {store.HOW_TO_NAME}"
    except store.NoCheckpoints as error:
        lacking = str(error)
    own = sources().get(source)
    trained = source if own is None else own.main_run.partition("/")[0]  # which may be another source's
    return (
        f"{lacking}; or `python -m modinterp.runs train '{trained}/*' --out trained` trains them, and --runs trained "
        "measures them"
    )


def load(name: str | Path, task: Task | None = None, root: str | Path | None = None, **options: Any) -> TrainedRun:
    """Load a trained run of a source, a run of your own, or a checkpoint.

    >>> load("SOURCE/RUN")                                     # doctest: +SKIP
    >>> load("mine/first", root="trained")                     # doctest: +SKIP
    >>> load("model.safetensors", modinterp.tasks.addition(113))   # doctest: +SKIP

    Args:
        name: a run such as `SOURCE/RUN`; the folder of a run; its address `hf://OWNER/REPO/SOURCE/RUN@REVISION` on the
            Hugging Face Hub; or a `.safetensors`, `.pt`, `.pth`, `.ckpt` or `.bin` file.
        task: for a file, the task on which its network was trained; not needed for a run.
        root: folder in which to look for a named run, or `hf://OWNER/REPO`; by default `checkpoints/`, then the
            checkpoints of installed sources.
        options: further arguments of `modinterp.runs.load`, such as `device`, `partial` and `attention_rate`.
    Raises:
        FileNotFoundError: no run or file of that name exists; the message says how to train a run that is not shipped.
        ValueError: the file is damaged, would run code, or does not fit the task.
    """
    check("name", name, str | Path)
    check("root", root, str | Path | None)
    text, path = str(name), Path(name)
    _check_folder(path)
    is_file = path.suffix in store.READ or (path / store.RECORD).is_file()
    if root is not None or is_file or is_address(text):
        return runs.load(name, task, root=root, **options)
    there = _place(text, roots(text))
    if there is None and text in catalogue():
        raise FileNotFoundError(f"no trained run in {_published(text)}; {how_to_train(text)}")
    if there is None and (hint := suggestion(text, [*_names(), *catalogue()])):
        raise FileNotFoundError(f"no trained run in {_published(text)}{hint}")
    return runs.load(name, task, root=there, **options)


def _check_folder(path: Path) -> None:
    """Raise ValueError if a folder holds a network saved by another library."""
    config = path / "config.json"
    if config.is_file() and b"model_type" in config.read_bytes()[: 2**16]:
        raise ValueError(
            f"{path} is a folder of transformers; load it with transformers' AutoModelForCausalLM.from_pretrained and "
            "give the module: mi.explain(module, ...)"
        )


def _published(name: str) -> str:
    """Where a run of this name would be published.

    Raises:
        NoCheckpoints: nothing says where.
    """
    try:
        return f"{store.published()}/{name}"
    except store.NoCheckpoints as error:
        raise store.NoCheckpoints(f"no trained run {name}: {error}; {how_to_train(name)}") from error


def _names() -> list[str]:
    """Names of the published runs; none where nothing says where they lie."""
    try:
        return store.run_names(local(store.published(), f"*/{store.RECORD}"))
    except (store.NoCheckpoints, ValueError):
        return []
