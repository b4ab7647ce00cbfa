"""Named runs that differ in their seed alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modinterp.models import Config
from modinterp.tasks import RandomLabels, Task
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


def of_random_labels(name: str, spec: RunSpec, epochs: int) -> dict[str, RunSpec]:
    """A control: the network of `spec` on random labels, the same for (a, b) and (b, a), which it can only memorise.

    Args:
        epochs: in which it memorises them.
    """
    (n_answers,) = spec.task.output_sizes
    vocabularies, equals = getattr(spec.task, "vocabularies", 1), getattr(spec.task, "equals", False)
    task = RandomLabels(n_answers, vocabularies=vocabularies, equals=equals, mirrored=True)
    return {name: replace(spec, task=task, recipe=replace(spec.recipe, epochs=epochs), unstated=_OF_CONTROLS)}


def of_another_operation(
    name: str, spec: RunSpec, task: Task, fraction: float = 0.5, test_loss: float = 1e-3
) -> dict[str, RunSpec]:
    """A control: the network of `spec` on another task of the same shape, trained until it has solved that.

    Args:
        fraction: share of the inputs that it is trained on; from half of them it generalises soon.
        test_loss: at which it counts as solved. [nats]
    """
    recipe = replace(spec.recipe, fraction=fraction, **until(test_loss, 300))
    return {name: replace(spec, task=task, recipe=recipe, unstated=_OF_CONTROLS)}


_OF_CONTROLS = ("seed", "task", "recipe.epochs", "recipe.fraction", "recipe.stop_at", "recipe.settle")
