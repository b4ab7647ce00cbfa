"""Build specs of users' trainings from options or a file: operation, modulus, network and recipe."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from modinterp.files import no_file
from modinterp.models import MLPConfig, TransformerConfig
from modinterp.tasks import ModularArithmetic
from modinterp.tasks.modular import OPERATIONS
from modinterp.terminal.suggestions import suggestion
from modinterp.training import Recipe, RunSpec

ARCHITECTURES = ("transformer", "mlp")
PAPER = Recipe()  # of Nanda et al. 2023
FAST = {  # architecture to what its fast recipe changes; docs/howto/your_training.md has what was measured
    "transformer": {"epochs": 3000, "lr": 3e-3, "batches": "shuffled", "batch_size": 512, "stop_at": 0.01},
    "mlp": {"epochs": 3000, "lr": 5e-3, "batches": "shuffled", "batch_size": 512, "stop_at": 0.01},
}
RECIPES = ("fast", "paper")
SPECS = "SPECS"  # the name of the specs in a Python file
_RECIPE_FIELDS = tuple(f.name for f in fields(Recipe))
_WORDS = ("op", "p", "seed", "arch", "recipe", "d_model", "d_mlp")


def own_spec(
    op: str = "add",
    p: int = 113,
    seed: int = 0,
    arch: str = "transformer",
    recipe: str = "fast",
    d_model: int = 128,
    d_mlp: int = 512,
    **changes: Any,
) -> RunSpec:
    """Return the spec of a user's training, which `modinterp.train` can train.

    >>> own_spec(p=59, seed=1, arch="mlp", epochs=500).recipe.epochs
    500

    Args:
        op: a key of `modinterp.tasks.modular.OPERATIONS`.
        p: the modulus of the operation.
        seed: seed of the split, the initial weights and the batches.
        arch: `transformer`, a one-layer transformer that reads `a b =`, or `mlp`, one hidden layer on the sum of two
            embeddings.
        recipe: `paper`, the recipe of Nanda et al. 2023, or `fast`, which takes a minute or two; see `FAST`.
        d_model: width of the embedding.
        d_mlp: number of neurons of the MLP.
        changes: fields of `modinterp.training.Recipe` that replace fields of the recipe.
    Raises:
        ValueError: `op`, `arch` or `recipe` is unknown, or a value is out of range.
    """
    for word, value, known in (("op", op, OPERATIONS), ("arch", arch, ARCHITECTURES), ("recipe", recipe, RECIPES)):
        if value not in known:
            raise ValueError(f"unknown {word} {value!r}; known are {', '.join(known)}{suggestion(str(value), known)}")
    if unknown := sorted(set(changes) - set(_RECIPE_FIELDS)):
        names = (*_WORDS, *_RECIPE_FIELDS)
        raise ValueError(
            f"there is no setting {unknown[0]!r}{suggestion(unknown[0], names)}; known settings are {', '.join(names)}"
        )
    task = ModularArithmetic(p, op, equals=arch == "transformer")
    config = TransformerConfig if arch == "transformer" else MLPConfig
    settings = (FAST[arch] if recipe == "fast" else {}) | changes
    settings.setdefault("snapshot_every", 20 if recipe == "fast" else PAPER.snapshot_every)
    return RunSpec(task, config.of(task, d_model=d_model, d_mlp=d_mlp), replace(PAPER, **settings), seed)


def own_name(op: str, p: int, seed: int, arch: str, recipe: str) -> str:
    """Return the name of a user's run, built from the arguments of its spec.

    >>> own_name("add", 59, 1, "mlp", "fast")
    'mine/add-59-mlp-fast-1'
    """
    return f"mine/{op}-{p}-{arch}-{recipe}-{seed}"


def specs_in(file: Path) -> dict[str, RunSpec]:
    """Read the specs in a YAML or Python file, and return them by the names of their runs.

    A YAML file maps names to the arguments of `own_spec`. A Python file is executed, and defines a dict `SPECS` from
    names to specs.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file holds no specs, or an invalid spec, which the message names.
    """
    if not file.is_file():
        raise no_file(file)
    if file.suffix == ".py":
        specs = runpy.run_path(str(file)).get(SPECS)
        if not isinstance(specs, Mapping) or not specs or not all(isinstance(x, RunSpec) for x in specs.values()):
            raise ValueError(f"{file} has no dict {SPECS} from names of runs to specs, as `own_spec` makes them")
        return {str(name): spec for name, spec in specs.items()}
    if file.suffix not in (".yaml", ".yml"):
        raise ValueError(f"{file} is not a file of runs: such files end in .yaml or .py")
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not valid YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(content, dict) or not content or not all(isinstance(x, dict) for x in content.values()):
        raise ValueError(f"{file} should map names of runs to settings, such as `mine/first: {{op: add, p: 59}}`")
    found = {}
    for name, settings in content.items():
        try:
            found[str(name)] = own_spec(**{str(word): value for word, value in settings.items()})
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} in {file}: {error}") from error
    return found
