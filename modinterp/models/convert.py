"""Foreign layouts in: whatever names and orientations a checkpoint has, one of our networks comes out.

=============================================  ============================================
layout                                         recognised by
=============================================  ============================================
ours, and HookedTransformer's of any version   `blocks.0.attn.W_O [head, d_head, d_model]`
left-facing, of the grokking paper's own code  `blocks.0.attn.W_O [d_model, head * d_head]`
three-matrix MLP                               `W_E`, `W_in`, `W_U`
our MLP                                        `blocks.0.mlp.W_in` and no attention
=============================================  ============================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from modinterp.models.config import Config, MLPConfig, TransformerConfig, Weights
from modinterp.models.network import hooked
from modinterp.models.transformer import Network
from modinterp.tasks import ModularArithmetic, Task

_BUFFERS = re.compile(r"\.(mask|IGNORE)$")
_LAYER = re.compile(r"blocks\.([0-9]{1,6})\.")
_SHOWN = 12
_THREE = {"W_E": "embed.W_E", "W_in": "blocks.0.mlp.W_in", "W_U": "unembed.W_U"}

# Left-facing weights act from the left on column vectors, except that heads and W_pos are laid out as the code has it.
_TURNED: dict[str, Callable[[Tensor, int], Tensor]] = {
    "W_E": lambda w, _: w.transpose(0, 1),
    "W_Q": lambda w, _: w.transpose(1, 2),
    "W_K": lambda w, _: w.transpose(1, 2),
    "W_V": lambda w, _: w.transpose(1, 2),
    "W_O": lambda w, heads: w.transpose(0, 1).unflatten(0, (heads, -1)),
    "W_in": lambda w, _: w.transpose(0, 1),
    "W_out": lambda w, _: w.transpose(0, 1),
}


def _right_facing(weights: Weights) -> Weights:
    heads = weights["blocks.0.attn.W_Q"].shape[0]
    return {name: _TURNED.get(name.rpartition(".")[2], lambda w, _: w)(w, heads) for name, w in weights.items()}


def _without_zero_biases(weights: Weights) -> Weights:
    """The weights without biases of which all of one kind (`b_Q, b_K, b_V, b_O`, or `b_U`) are zero."""
    for kind in (r"attn\.b_[QKVO]$", r"unembed\.b_U$"):
        names = [n for n in weights if re.search(kind, n)]
        if not any(weights[n].any() for n in names):
            weights = {n: w for n, w in weights.items() if n not in names}
    return weights


def _name_list(names: Iterable[object]) -> str:
    """The first dozen names on one line, for an error."""
    shown = [str(n) if str(n).isprintable() and len(str(n)) < 100 else ascii(n)[:100] for n in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")


def _shape(weights: Weights, name: str, ndim: int) -> tuple[int, ...]:
    if name not in weights:
        raise ValueError(f"no weight {name}; found {_name_list(sorted(weights))}")
    if weights[name].ndim != ndim:
        raise ValueError(f"{name} should have {ndim} axes, but its shape is {tuple(weights[name].shape)}")
    return tuple(weights[name].shape)


def _number_of_layers(weights: Weights) -> int:
    layers = {int(m[1]) for m in map(_LAYER.match, weights) if m}
    if layers != set(range(len(layers))):
        raise ValueError(f"layers should be numbered from 0 without a gap, but are {_name_list(sorted(layers))}")
    return len(layers)


def _transformer_config(weights: Weights, n_ctx: int, act_fn: str) -> TransformerConfig:
    d_vocab, d_model = _shape(weights, "embed.W_E", 2)
    n_heads, _, d_head = _shape(weights, "blocks.0.attn.W_Q", 3)
    has_mlp = "blocks.0.mlp.W_in" in weights
    return TransformerConfig(
        d_vocab=d_vocab,
        d_vocab_out=_shape(weights, "unembed.W_U", 2)[1],
        n_ctx=n_ctx,
        n_layers=_number_of_layers(weights),
        d_model=d_model,
        n_heads=n_heads,
        d_head=d_head,
        d_mlp=_shape(weights, "blocks.0.mlp.W_in", 2)[1] if has_mlp else None,
        act_fn=act_fn,
        positional="pos_embed.W_pos" in weights,
        attn_biases=any(re.search(r"attn\.b_", n) for n in weights),
        mlp_biases="blocks.0.mlp.b_in" in weights,
        unembed_bias="unembed.b_U" in weights,
    )


def fitting(weights: Weights, config: Config, task: Task) -> Network:
    """The hooked network of weights whose names and shapes are those of a configuration that fits the task.

    Args:
        weights: in float32 or less, with the unlabelled outputs of the configuration or without them.
    Raises:
        ValueError: a weight is missing, left over or of another shape, or the config contradicts the task.
    """
    shapes = {name: tuple(w.shape) for name, w in weights.items()}
    if shapes.get("unembed.W_U", ())[-1:] == (config.d_vocab_out,):
        config = config.labelled()
    wanted = config.shapes()
    missing, extra = sorted(set(wanted) - set(shapes)), sorted(set(shapes) - set(wanted))
    if missing or extra:
        parts = (("missing weights", missing), ("weights without a place", extra))
        raise ValueError("; ".join(f"{what}: {_name_list(names)}" for what, names in parts if names))
    for name, shape in wanted.items():
        if shapes[name] != shape:
            raise ValueError(f"{name} should be {list(shape)}, but is {list(shapes[name])}")
    config.check(task, "the weights have")
    return hooked(config, {name: w.float() for name, w in weights.items()})


def _in_our_layout(weights: Weights) -> Weights:
    """Weights of any of the layouts in our names and orientations, in float32, without buffers and zero biases."""
    weights = {name: w for name, w in weights.items() if not (isinstance(name, str) and _BUFFERS.search(name))}
    for name, w in weights.items():
        dense = isinstance(name, str) and isinstance(w, Tensor) and w.layout == torch.strided and not w.is_meta
        if not dense or w.is_quantized or not w.is_floating_point():
            raise ValueError(f"weight {_name_list([name])} is no dense array of real numbers with a name")
    weights = {name: w.detach().float() for name, w in weights.items()}
    broken = [name for name, w in weights.items() if not w.isfinite().all()]
    if broken:
        raise ValueError(f"weights that are not finite: {_name_list(broken)}")
    if set(weights) == set(_THREE):
        weights = {_THREE[name]: w for name, w in weights.items()}
    weights = _without_zero_biases(weights)
    try:
        if "blocks.0.attn.W_O" in weights and weights["blocks.0.attn.W_O"].ndim == 2:
            weights = _right_facing(weights)
    except (KeyError, IndexError, RuntimeError) as error:
        raise ValueError(f"the weights begin like a known layout, but do not fit it: {error}") from error
    return weights


def _has_attention(weights: Weights) -> bool:
    """Whether the weights, in our layout, are a transformer's or those of a pair MLP.

    Raises:
        ValueError: they are neither.
    """
    if any(name.startswith("blocks.0.attn.") for name in weights):
        return True
    if "blocks.0.mlp.W_in" in weights:
        return False
    names = _name_list(sorted(weights)) or "nothing"
    expected = "blocks.0.attn.W_O and its like, or W_E, W_in, W_U"
    raise ValueError(f"the weights fit no known layout: expected {expected}; found {names}")


def modular_task(weights: Weights, op: str, p: int | None = None) -> ModularArithmetic:
    """The task of a network over pairs of residues, as far as the shapes of its weights decide it.

    Whether a third token, "=", stands at the end follows from the positions, else from the sizes of the vocabularies.

    Args:
        weights: in any of the layouts of this module.
        op: a key of `modinterp.tasks.modular.OPERATIONS`, which follows from no shape.
        p: the modulus, where it is known.
    Raises:
        ValueError: the layout is none of the four; p contradicts the shapes, or neither follows from them nor is given.
    """
    weights = _in_our_layout(weights)
    has_attention = _has_attention(weights)
    d_vocab, outputs = _shape(weights, "embed.W_E", 2)[0], _shape(weights, "unembed.W_U", 2)[1]
    if not has_attention:
        equals = False
    elif "pos_embed.W_pos" in weights:
        equals = _shape(weights, "pos_embed.W_pos", 2)[0] > 2
    elif p is None and outputs == d_vocab:
        raise ValueError(f"p must be given: {d_vocab} tokens and as many outputs may or may not have one for =")
    else:
        equals = d_vocab == (outputs if p is None else p) + 1
    if p is not None and p != d_vocab - equals:
        raise ValueError(f"{d_vocab} tokens{' with one for =' * equals} mean p {d_vocab - equals}, not {p}")
    return ModularArithmetic(d_vocab - equals, op, equals)


def from_state_dict(weights: Weights, task: Task, act_fn: str = "relu") -> Network:
    """A hooked network with the weights of a checkpoint in any of the four layouts of this module.

    Args:
        weights: names to tensors; HookedTransformer's `mask` and `IGNORE` buffers are ignored, and output columns
            beyond the task's (the one of "=" in the code of Nanda et al. 2023) are left out.
        task: what the network was trained on; says how many positions and classes there are.
        act_fn: the nonlinearity of the neurons, which is in no checkpoint; a key of `ACTIVATIONS`.
    Raises:
        ValueError: the layout is none of the four, a weight is missing, left over or of another shape, or the shapes
            contradict the task.
    """
    weights = _in_our_layout(weights)
    has_attention, classes = _has_attention(weights), sum(task.output_sizes)
    if _shape(weights, "unembed.W_U", 2)[1] == task.d_vocab > classes:
        columns = {n: weights[n][..., :classes] for n in ("unembed.W_U", "unembed.b_U") if n in weights}
        weights = weights | columns
    if has_attention:
        n_ctx = _shape(weights, "pos_embed.W_pos", 2)[0] if "pos_embed.W_pos" in weights else task.n_ctx
        if "pos_embed.W_pos" in weights and not weights["pos_embed.W_pos"].any():  # HookedTransformer has them always
            weights = {name: w for name, w in weights.items() if name != "pos_embed.W_pos"}
        config: Config = _transformer_config(weights, n_ctx, act_fn)
    else:
        d_vocab, d_model = _shape(weights, "embed.W_E", 2)
        d_mlp = _shape(weights, "blocks.0.mlp.W_in", 2)[1]
        config = MLPConfig(d_vocab, _shape(weights, "unembed.W_U", 2)[1], task.n_ctx, d_model, d_mlp, act_fn)
    return fitting(weights, config, task)
