"""Define the common part of all configurations: activation functions, and the check against a task."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.tasks import Task

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "none": lambda x: x,
    "square": lambda x: x * x,
    "tanh": torch.tanh,
    "abs": torch.abs,
    "cube": lambda x: x * x * x,
    "elu": F.elu,
    "leaky_relu": F.leaky_relu,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "sin": torch.sin,
    "softplus": F.softplus,
}
USUAL = ("relu", "gelu", "tanh", "square", "none")  # which are tried even where a network is right

MOST_UNITS, MOST_LAYERS, MOST_WEIGHTS = 2**24, 256, 2**28
SIZES = ("d_vocab", "d_vocab_out", "n_ctx", "d_model", "n_heads", "d_head", "d_mlp")
Weights = dict[str, Tensor]
CONFIGS: dict[str, type] = {}  # the classes of configurations, by name


class BaseConfig:
    """Base class of all configurations, with a check against a task and attributes that TransformerLens needs."""

    normalization_type = None
    n_key_value_heads = None
    device = None  # where TransformerLens makes tensors for results: torch's default
    unlabelled_outputs = 0
    uniform: tuple[str, ...] = ()  # names of the weights that begin uniformly distributed instead of normally

    d_vocab: int
    d_vocab_out: int
    n_ctx: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        CONFIGS[cls.__name__] = cls

    def check(self, task: Task, subject: str = "the network has") -> None:
        """Raise ValueError if vocabulary, outputs or context length do not fit the task.

        Args:
            subject: beginning of the error message: the name of the network, with a verb.
        """
        sizes = {"d_vocab": task.d_vocab, "d_vocab_out": sum(task.output_sizes), "n_ctx": task.n_ctx}
        for name, needed in sizes.items():
            if needed != (own := getattr(self, name)):
                no_equals = getattr(task, "equals", False) and (name, own) == ("d_vocab", needed - 1)
                hint = "; if the network reads no '=', give its task equals=False" * no_equals
                raise ValueError(f"{task.name} needs {name} {needed}, but {subject} {own}{hint}")


def check_config(config: Any, **limits: Limits | Collection[str]) -> None:
    """Raise ValueError for a field of a wrong type or outside its limits, and for too large a network."""
    sizes = {name: Limits(1, MOST_UNITS) for name in SIZES if hasattr(config, name)}
    check_fields(config, act_fn=ACTIVATIONS, **sizes, n_layers=Limits(1, MOST_LAYERS), **limits)
    if (weights := sum(math.prod(shape) for shape in config.shapes().values())) > MOST_WEIGHTS:
        raise ValueError(f"a network of {weights:,} weights is larger than modinterp allows ({MOST_WEIGHTS:,})")
