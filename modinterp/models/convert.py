"""Convert an external checkpoint into a network of this library, and find the task that fits its weight shapes.

A `ForwardPass` holds the settings of a forward pass that weights do not show. `modinterp.models.layouts` lists the
known layouts of weights.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import TypeVar

from modinterp.models.base_config import Weights
from modinterp.models.base_network import Network
from modinterp.models.config import Config, TransformerConfig
from modinterp.models.from_weights import hooked
from modinterp.models.layouts import GIVE_THE_MODULE, in_our_layout, name_list
from modinterp.models.mlp_config import MLPConfig
from modinterp.tasks import Group, ModularArithmetic, Task

T = TypeVar("T", Group, ModularArithmetic)

_LAYER = re.compile(r"blocks\.([0-9]{1,6})\.")


@dataclass(frozen=True)
class ForwardPass:
    """Settings of a forward pass that a file of weights does not hold, and that the user states.

    Attributes:
        act_fn: the nonlinearity of the neurons, a key of `ACTIVATIONS`.
        attention_rate, causal: share of softmax in the attention, and whether attention is causal; see
            `TransformerConfig`.
        joined: how an MLP combines the two embeddings; see `MLPConfig`. If `joined` is None, the shapes of
            the weights choose "sum" or "concatenated"; shapes cannot show whether a bias counts twice.
        normalization_type: the normalisation, see `TransformerConfig`. Give `normalization_type` for a file without
            normalisation weights, for example because they are folded; otherwise the weights show it.
    """

    act_fn: str = "relu"
    attention_rate: float = 1.0
    causal: bool = True
    joined: str | None = None
    normalization_type: str | None = None

    @classmethod
    def of(cls, config: Config) -> ForwardPass:
        """Return the forward-pass settings of a configuration.

        >>> ForwardPass.of(MLPConfig(d_vocab=5, d_vocab_out=5, d_model=4, d_mlp=8, act_fn="gelu")).act_fn
        'gelu'
        """
        return cls(**{field.name: getattr(config, field.name) for field in fields(cls) if hasattr(config, field.name)})


AS_USUAL = ForwardPass()


def _shape(weights: Weights, name: str, ndim: int) -> tuple[int, ...]:
    if name not in weights:
        raise ValueError(f"the weight {name} is missing; found {name_list(sorted(weights))}")
    if weights[name].ndim != ndim:
        raise ValueError(f"{name} should have {ndim} axes, but its shape is {tuple(weights[name].shape)}")
    return tuple(weights[name].shape)


def _number_of_layers(weights: Weights) -> int:
    layers = {int(m[1]) for m in map(_LAYER.match, weights) if m}
    if layers != set(range(len(layers))):
        raise ValueError(f"layers should be numbered from 0 without a gap, but are {name_list(sorted(layers))}")
    return len(layers)


def _transformer_config(weights: Weights, n_ctx: int, assumed: ForwardPass) -> TransformerConfig:
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
        act_fn=assumed.act_fn,
        positional="pos_embed.W_pos" in weights,
        attn_biases=any(re.search(r"attn\.b_", n) for n in weights),
        mlp_biases=not weights.keys().isdisjoint(("blocks.0.mlp.b_in", "blocks.0.mlp.b_out")),
        unembed_bias="unembed.b_U" in weights,
        attention_rate=assumed.attention_rate,
        causal=assumed.causal,
        normalization_type=_normalisation(weights) or assumed.normalization_type,
    )


def _normalisation(weights: Weights) -> str | None:
    """Return the kind of normalisation whose weights exist; None without such weights."""
    kinds = {"ln_final.b": "LN", "ln_final.w": "RMS"}
    return next((kind for name, kind in kinds.items() if name in weights), None)


def _mlp_config(weights: Weights, n_ctx: int, assumed: ForwardPass) -> MLPConfig:
    d_vocab, d_model = _shape(weights, "embed.W_E", 2)
    rows, d_mlp = _shape(weights, "blocks.0.mlp.W_in", 2)
    return MLPConfig(
        d_vocab=d_vocab,
        d_vocab_out=_shape(weights, "unembed.W_U", 2)[1],
        n_ctx=n_ctx,
        d_model=d_model,
        d_mlp=d_mlp,
        act_fn=assumed.act_fn,
        n_layers=_number_of_layers(weights),
        joined=assumed.joined or ("sum" if rows == d_model else "concatenated"),
        mlp_biases="blocks.0.mlp.b_in" in weights,
        unembed_bias="unembed.b_U" in weights,
    )


def fitting(weights: Weights, config: Config, task: Task) -> Network:
    """Return the hooked network for weights whose names and shapes fit a configuration and the task.

    Args:
        weights: named weights in float32 or lower precision, with or without the unlabelled outputs of the
            configuration.
    Raises:
        ValueError: a weight is missing, unexpected or of the wrong shape, or the config contradicts the task.
    """
    shapes = {name: tuple(w.shape) for name, w in weights.items()}
    if shapes.get("unembed.W_U", ())[-1:] == (config.d_vocab_out,):
        config = config.labelled()
    wanted = config.shapes()
    missing, extra = sorted(set(wanted) - set(shapes)), sorted(set(shapes) - set(wanted))
    if missing or extra:
        parts = (("missing weights", missing), ("weights without a place", extra))
        raise ValueError("; ".join(f"{what}: {name_list(names)}" for what, names in parts if names))
    for name, shape in wanted.items():
        if shapes[name] != shape:
            raise ValueError(f"{name} should have the shape {list(shape)}, but has {list(shapes[name])}")
    config.check(task, "the weights have")
    return hooked(config, {name: w.float() for name, w in weights.items()})


def _has_attention(weights: Weights) -> bool:
    """Return True if weights in our layout belong to a transformer, and False for a pair MLP.

    Raises:
        ValueError: the weights belong to neither kind of network.
    """
    if any(name.startswith("blocks.0.attn.") for name in weights):
        return True
    if "blocks.0.mlp.W_in" in weights:
        return False
    names = name_list(sorted(weights)) or "nothing"
    expected = "blocks.0.attn.W_O and its like, W_E, W_in, W_U, or embed.weight and linear layers"
    raise ValueError(f"the weights fit no known layout: expected {expected}; found {names}; {GIVE_THE_MODULE}")


def _positions(weights: Weights) -> int | None:
    """Return the number of tokens that a network with these weights reads; None if any number is possible."""
    if "pos_embed.W_pos" in weights:
        return _shape(weights, "pos_embed.W_pos", 2)[0]
    if _has_attention(weights):
        return None
    (_, d_model), (rows, _) = _shape(weights, "embed.W_E", 2), _shape(weights, "blocks.0.mlp.W_in", 2)
    if not d_model or rows % d_model:
        raise ValueError(
            f"blocks.0.mlp.W_in has {rows} rows, which is not a multiple of the width {d_model} of the embeddings"
        )
    return max(2, rows // d_model)


def sizes_of(weights: Weights) -> tuple[int, int, int]:
    """Return the numbers of tokens, outputs and positions of a network, from its weights in any known layout.

    Raises:
        ValueError: the layout is unknown, or no weight shows the number of positions.
    """
    weights = in_our_layout(weights, with_norms=True)
    positions = _positions(weights)
    if positions is None:
        raise ValueError("no weight shows how many tokens the network reads; give its task with the argument task")
    return _shape(weights, "embed.W_E", 2)[0], _shape(weights, "unembed.W_U", 2)[1], positions


def modular_task(
    weights: Weights, op: str, p: int | None = None, equals: bool | None = None, vocabularies: int | None = None
) -> ModularArithmetic:
    """Return the modular task of a network over pairs of numbers, inferred from the shapes of its weights.

    The positions, or else the sizes of the vocabularies, show whether a third token, "=", stands at the end of the
    input. The modulus p, or the number of outputs, shows whether each number has a vocabulary of its own.

    Args:
        weights: named weights in any of the layouts of `modinterp.models.layouts`.
        op: the operation, a key of `modinterp.tasks.modular.OPERATIONS`; the shapes of weights do not show the
            operation.
        p, equals, vocabularies: the modulus, whether a token "=" exists, and the number of vocabularies (1 or 2), if
            they are known.
    Raises:
        ValueError: the layout is unknown; the network does not read pairs; an argument contradicts the shapes, or is
            missing and does not follow from the shapes.
    """
    weights = in_our_layout(weights)
    has_attention, positions = _has_attention(weights), _positions(weights)
    d_vocab, outputs = _shape(weights, "embed.W_E", 2)[0], _shape(weights, "unembed.W_U", 2)[1]
    if positions is not None and positions > 3:
        raise ValueError(
            f"the network reads {positions} tokens, but a network over pairs (a, b) reads 2, or 3 with =; "
            "name its operation with op, such as max, sort or digits, or give its task"
        )
    if positions is not None and equals not in (None, positions == 3):
        raise ValueError(f"the network reads {positions} tokens, which contradicts equals={equals}")
    if has_attention and positions is None and equals is None and p is None and outputs == d_vocab:
        raise ValueError(
            f"give the modulus p: {d_vocab} tokens and equally many outputs may or may not include the token ="
        )
    known = equals if positions is None else positions == 3
    endings = (False, True) if known is None else (known,)
    found = [
        (tokens // v, v, e)
        for v, e in product((1, 2) if vocabularies is None else (vocabularies,), endings)
        if (tokens := d_vocab - e) % v == 0 and tokens // v > 1
    ]
    fitting_outputs = [(q, v, e) for q, v, e in found if outputs in (q, d_vocab)]
    matching = [x for x in fitting_outputs if p in (None, x[0])]
    if matching:
        best = min(matching, key=lambda x: (x[0] != outputs, x[1], x[2]))
        return ModularArithmetic(best[0], op, best[2], best[1])
    words = f"{d_vocab} tokens{' with one for =' * (known is True)}"
    if p is not None and fitting_outputs:
        means = " or ".join(str(q) for q, *_ in fitting_outputs)
        raise ValueError(f"{words} mean p = {means}, not {p}; give p = {means}, or leave p out")
    raise ValueError(
        f"{words} and {outputs} outputs do not fit a network over pairs of residues mod p, which has p "
        f"tokens, or p for each number, and equally many outputs (embedding {d_vocab} x "
        f"{weights['embed.W_E'].shape[1]}); for another task name its operation with op, such as max, sort "
        "or digits, or give its task"
    )


def with_tokens_of(weights: Weights, task: T, equals: bool | None = None, vocabularies: int | None = None) -> T:
    """Return a task over pairs, with the token "=" and the number of vocabularies that the weight shapes require.

    The arguments and errors of `with_tokens_of` are those of `modular_task`.
    """
    pairs = modular_task(weights, "add", task.output_sizes[0], equals, vocabularies)
    return replace(task, equals=pairs.equals, vocabularies=pairs.vocabularies)


def from_state_dict(weights: Weights, task: Task, assumed: ForwardPass = AS_USUAL) -> Network:
    """Build a hooked network from the weights of a checkpoint in any of the layouts of `modinterp.models.layouts`.

    Args:
        weights: map from names to tensors. HookedTransformer's `mask` and `IGNORE` buffers are ignored. Output columns
            beyond the task's outputs are left out, such as the column of "=" in the code of Nanda et al. 2023.
        task: the task of the network, which gives the numbers of positions and classes.
        assumed: settings of the forward pass that no weight shows.
    Raises:
        ValueError: the layout is unknown, a weight is missing, unexpected or of the wrong shape, or the shapes
            contradict the task.
    """
    weights = in_our_layout(weights, with_norms=task.grid is None)
    has_attention, classes = _has_attention(weights), sum(task.output_sizes)
    if _shape(weights, "unembed.W_U", 2)[1] == task.d_vocab > classes:
        columns = {n: weights[n][..., :classes] for n in ("unembed.W_U", "unembed.b_U") if n in weights}
        weights = weights | columns
    if not has_attention:
        return fitting(weights, _mlp_config(weights, task.n_ctx, assumed), task)
    n_ctx = _shape(weights, "pos_embed.W_pos", 2)[0] if "pos_embed.W_pos" in weights else task.n_ctx
    if "pos_embed.W_pos" in weights and not weights["pos_embed.W_pos"].any():  # HookedTransformer has them always
        weights = {name: w for name, w in weights.items() if name != "pos_embed.W_pos"}
    return fitting(weights, _transformer_config(weights, n_ctx, assumed), task)
