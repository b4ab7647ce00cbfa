"""What the catalogue says of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modinterp.models import Config
from modinterp.tasks import Task
from modinterp.training import Recipe, RunSpec


@dataclass(frozen=True)
class Entry:
    """A named run: what it is trained from, and the claims that are measured on it (names, `*` for any ending)."""

    spec: RunSpec
    serves: str


def family(
    stem: str,
    task: Task,
    model: Config,
    recipe: Recipe,
    serves: str,
    seeds: Iterable[int] = (0,),
    ours: tuple[str, ...] = (),
) -> dict[str, Entry]:
    """Runs that differ in their seed alone, `STEM-SEED`.

    Args:
        ours: the fields of the spec that the source leaves open and that are our choice; see `RunSpec.ours`.
    """
    return {f"{stem}-{seed}": Entry(RunSpec(task, model, recipe, seed, ours), serves) for seed in seeds}


def until(test_loss: float, settle: int) -> dict[str, float | int]:
    """A training that ends when it has generalised and settled, should its epochs not be over before."""
    return {"stop_at": test_loss, "settle": settle}
