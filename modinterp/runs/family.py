"""Named runs that differ in their seed alone."""

from __future__ import annotations

from collections.abc import Iterable

from modinterp.models import Config
from modinterp.tasks import Task
from modinterp.training import Recipe, RunSpec


def family(
    stem: str, task: Task, model: Config, recipe: Recipe, seeds: Iterable[int] = (0,), unstated: tuple[str, ...] = ()
) -> dict[str, RunSpec]:
    """The specs of the runs `STEM-SEED`, by name.

    Args:
        stem: what all their names begin with, such as `SOURCE/mainline`.
        unstated: fields of the spec that the source leaves open and that are our choice; see `RunSpec.unstated`.
    """
    return {f"{stem}-{seed}": RunSpec(task, model, recipe, seed, unstated) for seed in seeds}


def until(test_loss: float, settle: int) -> dict[str, float | int]:
    """Fields of a recipe whose training ends `settle` epochs after its test loss [nats] was first that low."""
    return {"stop_at": test_loss, "settle": settle}
