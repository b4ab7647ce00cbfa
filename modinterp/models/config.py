"""The numbers that fix a network's shape and how its weights begin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from modinterp.tasks import Task

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "none": lambda x: x,
}

INITS = {
    "1/sqrt(d_model)": "every matrix 1/sqrt(d_model), W_out too, W_U 1/sqrt(d_vocab): the code of Nanda et al. 2023",
    "left-facing": "as 1/sqrt(d_model), drawn in the order and orientation of the code of Nanda et al. 2023: W_E "
    "[d_model, d_vocab], W_pos, W_K, W_Q, W_V [head, d_head, d_model], W_O [d_model, head d_head], W_in, W_out, W_U",
    "he": "sqrt(2 / fan in), where all heads and all tasks count as inputs: the code of Syrkis & Søgaard 2024",
}

Weights = dict[str, Tensor]
CONFIGS: dict[str, type] = {}  # the classes of configurations, by name


class _Config:
    """What all configurations share: whether a task fits, and attributes that TransformerLens asks a config for."""

    normalization_type = None
    n_key_value_heads = None
    device = None  # where TransformerLens makes tensors for results: torch's default
    unlabelled_outputs = 0

    d_vocab: int
    d_vocab_out: int
    n_ctx: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        CONFIGS[cls.__name__] = cls

    def check(self, task: Task, subject: str = "the network has") -> None:
        """Raises ValueError where vocabulary, outputs or context are not those of the task.

        Args:
            subject: whose sizes they are, with its verb, for the error.
        """
        sizes = {"d_vocab": task.d_vocab, "d_vocab_out": sum(task.output_sizes), "n_ctx": task.n_ctx}
        for name, needed in sizes.items():
            if needed != (own := getattr(self, name)):
                no_equals = getattr(task, "equals", False) and (name, own) == ("d_vocab", needed - 1)
                hint = "; if the network reads no '=', its task has equals=False" * no_equals
                raise ValueError(f"{task.name} needs {name} {needed}, but {subject} {own}{hint}")


def _check(act_fn: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    if act_fn not in ACTIVATIONS:
        raise ValueError(f"unknown activation {act_fn!r}; known are {', '.join(ACTIVATIONS)}")


@dataclass(frozen=True)
class TransformerConfig(_Config):
    """A decoder without LayerNorm, in HookedTransformer's vocabulary.

    Attributes:
        d_mlp: neurons per layer; None for a network of attention alone.
        act_fn: the nonlinearity of the neurons, a key of `ACTIVATIONS`.
        positional: whether a learned embedding of the position is added to that of the token.
        attn_biases, mlp_biases, unembed_bias: which biases exist. Nanda et al. 2023 have those of the MLP alone.
        init: how the weights begin, a key of `INITS`.
        n_tasks: number of classifiers side by side in W_U; it decides how large W_U begins under "he".
        unlabelled_outputs: columns of W_U beyond `d_vocab_out` that are trained in the softmax and are the answer to no
            input, such as the one of "=" in the released code of Nanda et al. 2023. `labelled` leaves them out.
    """

    d_vocab: int
    d_vocab_out: int
    n_ctx: int
    n_layers: int = 1
    d_model: int = 128
    n_heads: int = 4
    d_head: int = 32
    d_mlp: int | None = 512
    act_fn: str = "relu"
    positional: bool = True
    attn_biases: bool = False
    mlp_biases: bool = True
    unembed_bias: bool = False
    init: str = "1/sqrt(d_model)"
    n_tasks: int = 1
    unlabelled_outputs: int = 0

    def __post_init__(self) -> None:
        unlabelled = self.unlabelled_outputs
        if not isinstance(unlabelled, int) or unlabelled < 0 or (unlabelled and self.n_tasks > 1):
            raise ValueError(f"unlabelled_outputs must be a number of columns beside one task's, got {unlabelled!r}")
        if self.init not in INITS:
            raise ValueError(f"unknown initialisation {self.init!r}; known are {', '.join(INITS)}")
        names = ("d_vocab", "d_vocab_out", "n_ctx", "n_layers", "d_model", "n_heads", "d_head", "d_mlp")
        _check(self.act_fn, **{name: size for name in names if (size := getattr(self, name)) is not None})

    @classmethod
    def of(cls, task: Task, **sizes: int | str | bool | None) -> TransformerConfig:
        """The configuration whose vocabulary, outputs and context fit the task; every other field may be given."""
        sizes = {"n_tasks": len(task.output_sizes)} | sizes
        return cls(task.d_vocab, sum(task.output_sizes), task.n_ctx, **sizes)  # type: ignore[arg-type]

    @property
    def attn_only(self) -> bool:
        """Whether the network has attention and no MLP."""
        return self.d_mlp is None

    @property
    def summary(self) -> str:
        """The shape in a few words, such as a table has room for.

        >>> TransformerConfig(d_vocab=114, d_vocab_out=113, n_ctx=3).summary
        '1 layer, d 128, 4 x 32, mlp 512'
        """
        kinds = [f"{self.n_layers} layer{'s' * (self.n_layers > 1)}", f"d {self.d_model}"]
        kinds.append(f"{self.n_heads} x {self.d_head}")
        kinds.append(f"mlp {self.d_mlp}" if self.d_mlp else "no mlp")
        return ", ".join(kinds)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every weight, in HookedTransformer's names and orientations."""
        m, h, d = self.d_model, self.n_heads, self.d_head
        shapes: dict[str, tuple[int, ...]] = {"embed.W_E": (self.d_vocab, m)}
        if self.positional:
            shapes["pos_embed.W_pos"] = (self.n_ctx, m)
        for layer in range(self.n_layers):
            block = f"blocks.{layer}."
            shapes |= {f"{block}attn.W_{x}": (h, m, d) for x in "QKV"} | {f"{block}attn.W_O": (h, d, m)}
            if self.attn_biases:
                shapes |= {f"{block}attn.b_{x}": (h, d) for x in "QKV"} | {f"{block}attn.b_O": (m,)}
            if self.d_mlp is not None:
                shapes |= {f"{block}mlp.W_in": (m, self.d_mlp), f"{block}mlp.W_out": (self.d_mlp, m)}
                if self.mlp_biases:
                    shapes |= {f"{block}mlp.b_in": (self.d_mlp,), f"{block}mlp.b_out": (m,)}
        outputs = self.d_vocab_out + self.unlabelled_outputs
        shapes["unembed.W_U"] = (m, outputs)
        if self.unembed_bias:
            shapes["unembed.b_U"] = (outputs,)
        return shapes

    def labelled(self) -> TransformerConfig:
        """The configuration of the network that is taken apart: without the outputs that are the answer to no input."""
        return replace(self, unlabelled_outputs=0) if self.unlabelled_outputs else self

    def scales(self) -> dict[str, float]:
        """Standard deviation of every weight matrix before the first step; biases begin at 0. See `INITS`."""
        if self.init == "he":
            return {name: math.sqrt(2 / self._fan_in(name, shape)) for name, shape in self.shapes().items()}
        scales = dict.fromkeys(self.shapes(), 1 / math.sqrt(self.d_model))
        return scales | {"unembed.W_U": 1 / math.sqrt(self.d_vocab)}

    def _fan_in(self, name: str, shape: tuple[int, ...]) -> int:
        """The fan-in of `he_normal` in the code of Syrkis & Søgaard 2024: rows of the matrices of all heads, or tasks.

        In W_O that is the number of inputs of a unit, in W_Q, W_K, W_V and W_U several times that number. With the rows
        of one matrix alone the loss of 29 tasks would begin at 2.4, where the source has 1.
        """
        return math.prod(shape[:-1]) * (self.n_tasks if name == "unembed.W_U" else 1)


@dataclass(frozen=True)
class MLPConfig(_Config):
    """One hidden layer on the sum of the two embeddings: logits = act((W_E[a] + W_E[b]) W_in) W_U.

    Source: Kissane's notebook on modular addition with a one-hidden-layer MLP.
    """

    d_vocab: int
    d_vocab_out: int
    n_ctx: int = 2
    d_model: int = 128
    d_mlp: int = 512
    act_fn: str = "relu"
    n_layers: int = 1

    def __post_init__(self) -> None:
        _check(self.act_fn, d_vocab=self.d_vocab, d_vocab_out=self.d_vocab_out, d_model=self.d_model, d_mlp=self.d_mlp)

    @classmethod
    def of(cls, task: Task, **sizes: int | str) -> MLPConfig:
        """The configuration whose vocabulary and outputs fit the task; every other field may be given."""
        return cls(task.d_vocab, sum(task.output_sizes), task.n_ctx, **sizes)  # type: ignore[arg-type]

    @property
    def n_heads(self) -> int:
        """0: the network has no attention; TransformerLens asks every config for it."""
        return 0

    @property
    def attn_only(self) -> bool:
        """Whether the network has no MLP: false; TransformerLens asks every config for it."""
        return False

    @property
    def summary(self) -> str:
        """The shape in a few words, such as a table has room for."""
        return f"pair mlp, d {self.d_model}, mlp {self.d_mlp}"

    def labelled(self) -> MLPConfig:
        """The same configuration: every output of a pair MLP is the answer to some input."""
        return self

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every weight, in HookedTransformer's names and orientations.

        >>> MLPConfig(d_vocab=5, d_vocab_out=5, d_model=4, d_mlp=8).shapes()
        {'embed.W_E': (5, 4), 'blocks.0.mlp.W_in': (4, 8), 'unembed.W_U': (8, 5)}
        """
        return {
            "embed.W_E": (self.d_vocab, self.d_model),
            "blocks.0.mlp.W_in": (self.d_model, self.d_mlp),
            "unembed.W_U": (self.d_mlp, self.d_vocab_out),
        }

    def scales(self) -> dict[str, float]:
        """Standard deviation of every weight before the first step: 1/sqrt(rows)."""
        return {name: 1 / math.sqrt(shape[0]) for name, shape in self.shapes().items()}


Config = TransformerConfig | MLPConfig
