"""Build specs of runs that differ only in their seed, and specs of control runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modinterp.models import Config
from modinterp.tasks import RandomLabels, Task
from modinterp.training import Recipe, RunSpec


def family(
    stem: str, task: Task, model: Config, recipe: Recipe, seeds: Iterable[int] = (0,), unstated: tuple[str, ...] = ()
) -> dict[str, RunSpec]:
    """Return a map from each name `STEM-SEED` to the spec of the run with that seed.

    Args:
        stem: common beginning of the names, such as `SOURCE/mainline`.
        unstated: fields of the spec that the source leaves open and that are our choice; see `RunSpec.unstated`.
    """
    return {f"{stem}-{seed}": RunSpec(task, model, recipe, seed, unstated) for seed in seeds}


def until(test_loss: float, settle: int) -> dict[str, float | int]:
    """Return recipe fields that end a training `settle` epochs after the test loss [nats] first reaches `test_loss`."""
    return {"stop_at": test_loss, "settle": settle}


def of_random_labels(name: str, spec: RunSpec, epochs: int) -> dict[str, RunSpec]:
    """Return the spec of a control run: the network of `spec`, trained on random symmetric labels that it can only
    memorise.

    Symmetric labels are equal for (a, b) and (b, a).

    Args:
        epochs: number of training epochs, enough to memorise the labels.
    """
    (n_answers,) = spec.task.output_sizes
    vocabularies, equals = getattr(spec.task, "vocabularies", 1), getattr(spec.task, "equals", False)
    task = RandomLabels(n_answers, vocabularies=vocabularies, equals=equals, mirrored=True)
    return {name: replace(spec, task=task, recipe=replace(spec.recipe, epochs=epochs), unstated=_OF_CONTROLS)}


def of_another_operation(
    name: str, spec: RunSpec, task: Task, fraction: float = 0.5, test_loss: float = 1e-3
) -> dict[str, RunSpec]:
    """Return the spec of a control run: the network of `spec`, trained until it solves another task of the same shape.

    Args:
        fraction: share of the inputs used for training; with one half, networks generalise soon.
        test_loss: test loss at which the task counts as solved. [nats]
    """
    recipe = replace(spec.recipe, fraction=fraction, **until(test_loss, 300))
    return {name: replace(spec, task=task, recipe=recipe, unstated=_OF_CONTROLS)}


_OF_CONTROLS = ("seed", "task", "recipe.epochs", "recipe.fraction", "recipe.stop_at", "recipe.settle")
