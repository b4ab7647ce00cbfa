"""Convert external layouts: weights of known names and orientations get the names and orientations of this library.

======================================================  ==========================================================
layout                                                  recognised by
======================================================  ==========================================================
ours, and HookedTransformer's of any version            `blocks.0.attn.W_O [head, d_head, d_model]`
left-facing, of the code of Nanda et al. 2023           `blocks.0.attn.W_O [d_model, head * d_head]`
our MLP                                                 `blocks.0.mlp.W_in` and no attention
left-facing MLP, of the code of Zhong et al. 2023       `blocks.0.W_in` and no attention
three-matrix MLP, of Kissane's notebook                 `W_E`, `W_in`, `W_U`
MLP of two embeddings, of Chughtai et al. 2023          `W_x`, `W_y`, `W`, `W_U`
MLP of summed one-hot tokens, ours or left-facing       `blocks.0.mlp.W_in`, `unembed.W_U`; or `W_in`, `W_out`
torch's own modules, such as those of Zhong et al.      `embed.weight`, or `embed1.weight` and `embed2.weight`, and
                                                        linear layers in order, `unembed.weight` the last
linear layers of one-hot pairs, as in Gromov 2023       two or more `.weight`, the first of 2 p columns
======================================================  ==========================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

import torch
from torch import Tensor

from modinterp.models.base_config import Weights

_BUFFERS = re.compile(r"(^|\.)(mask|IGNORE)$")
_OWN = re.compile(r"(embed\.W_E|pos_embed\.W_pos|unembed\.[Wb]_U|blocks\.\d+\.(attn|mlp)\.[Wb]_\w+)")
_NORMS = re.compile(r"(blocks\.\d+\.ln[12]|ln_final)\.[wb]")
_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
GIVE_THE_MODULE = "in a script, give the module itself: mi.explain(module, op=..., p=...)"
_UNREAD = {  # names of weights that are in no layout that is read, to why
    r"_original_component\.|\.attn\.[qkv]\.weight$": (
        "come from a TransformerBridge, and do not show how many heads the network has"
    ),
    r"(^|\.)h\.\d+\.attn\.c_attn\.": (
        "come from a GPT-2 of transformers, and do not show how many heads the network has"
    ),
    r"\.self_attn\.q_proj": "come from a model of transformers, and do not show how many heads the network has",
    r"(^|\.)in_proj_weight$": "come from nn.MultiheadAttention, and do not show how many heads the network has",
    r"\.W_gate$|gate_proj\.": "have gated neurons, which modinterp does not read from files",
    r"rotary_(sin|cos)$": "have rotary positions, which modinterp does not read from files",
    r"(^|\.)(ln\d?|ln_final|ln_f|norm\d?|layernorm\w*)(\.\w+)*\.(w|b|weight|bias)$": (
        "have a LayerNorm or RMSNorm, which modinterp does not read from files"
    ),
}
_SHOWN = 12
_THREE = {"W_E": "embed.W_E", "W_in": "blocks.0.mlp.W_in", "W_U": "unembed.W_U"}
_TWO_EMBEDDINGS = {"W_x", "W_y", "W", "W_U"}
_LAST = ("unembed", "output", "out", "head", "fc_out", "readout", "classifier")

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


def name_list(names: Iterable[object]) -> str:
    """Return the first dozen names on one line, for an error message."""
    shown = [str(n) if str(n).isprintable() and len(str(n)) < 100 else ascii(n)[:100] for n in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")


def in_our_layout(weights: Weights, with_norms: bool = False) -> Weights:
    """Convert weights of any known layout to the names and orientations of this library, in float32.

    The reader drops four things: a prefix shared by all names, buffers, copies of a weight under foreign names, and
    biases that are all zero.

    Args:
        with_norms: True to keep normalisation weights, under the names of HookedTransformer. Measurements over pairs
            assume that a network has no normalisation.
    Raises:
        ValueError: a weight is not a dense array of finite real numbers, or the layout is unknown.
    """
    weights = _without_copies(_without_prefix(_checked(weights)))
    for pattern, what in _UNREAD.items():
        if any(re.search(pattern, n) for n in weights if not (with_norms and _NORMS.fullmatch(n))):
            raise ValueError(f"the weights {what}; {GIVE_THE_MODULE}")
    try:
        weights = _renamed(weights)
        if "blocks.0.attn.W_O" in weights and weights["blocks.0.attn.W_O"].ndim == 2:
            heads = weights["blocks.0.attn.W_Q"].shape[0]
            turns = {name: _TURNED.get(name.rpartition(".")[2]) for name in weights}
            weights = {name: turn(w, heads) if (turn := turns[name]) else w for name, w in weights.items()}
    except (KeyError, IndexError, RuntimeError) as error:
        raise ValueError(f"the weights begin like a known layout, but do not fit it: {error}") from error
    return _without_zero_biases(weights)


def _checked(weights: Weights) -> Weights:
    """Return the weights in float32, without buffers.

    Raises:
        ValueError: a weight is not a dense array of finite real numbers.
    """
    weights = {name: w for name, w in weights.items() if not (isinstance(name, str) and _BUFFERS.search(name))}
    weights = {name: w for name, w in weights.items() if not _is_counter(name, w)}
    for name, w in weights.items():
        dense = isinstance(name, str) and isinstance(w, Tensor) and w.layout == torch.strided and not w.is_meta
        if not dense or w.is_quantized or not w.is_floating_point():
            raise ValueError(f"the weight {name_list([name])} is not a dense array of real numbers with a name")
    weights = {name: w.detach().float() for name, w in weights.items()}
    broken = [name for name, w in weights.items() if not w.isfinite().all()]
    if broken:
        raise ValueError(f"weights that are not finite: {name_list(broken)}")
    return weights


def _is_counter(name: object, w: object) -> bool:
    """Return True if a weight is a buffer of integers or truth values, such as a counter or a mask."""
    if not isinstance(name, str) or _OWN.fullmatch(name) or name.endswith((".weight", ".bias")):
        return False
    return isinstance(w, Tensor) and w.layout == torch.strided and w.dtype in _WHOLE and not w.is_quantized


def _without_prefix(weights: Weights) -> Weights:
    """Remove a prefix that all names share, such as `module.`, which wrappers of torch add."""
    firsts = {name.partition(".")[0] for name in weights}
    while len(weights) > 1 and len(firsts) == 1 and all("." in name for name in weights):
        weights = {name.partition(".")[2]: w for name, w in weights.items()}
        firsts = {name.partition(".")[0] for name in weights}
    return weights


def _without_copies(weights: Weights) -> Weights:
    """Remove copies of our weights under other names, such as `x_embed` for `embed.W_E`."""
    own = {name: w for name, w in weights.items() if _OWN.fullmatch(name)}
    return {
        name: w
        for name, w in weights.items()
        if name in own or not any(w.shape == x.shape and torch.equal(w, x) for x in own.values())
    }


def _without_zero_biases(weights: Weights) -> Weights:
    """Remove biases of attention (`b_Q, b_K, b_V, b_O`) or of the unembedding (`b_U`), if all of them are zero."""
    for kind in (r"attn\.b_[QKVO]$", r"unembed\.b_U$"):
        names = [n for n in weights if re.search(kind, n)]
        if not any(weights[n].any() for n in names):
            weights = {n: w for n, w in weights.items() if n not in names}
    return weights


def _renamed(weights: Weights) -> Weights:
    """Rename the weights of layouts without attention to our names; return other weights unchanged."""
    if set(weights) == set(_THREE):
        return {_THREE[name]: w for name, w in weights.items()}
    if set(weights) == _TWO_EMBEDDINGS:
        W_E = torch.cat([weights["W_x"], weights["W_y"]])
        return {"embed.W_E": W_E, "blocks.0.mlp.W_in": weights["W"], "unembed.W_U": weights["W_U"]}
    if set(weights) == {"W_in", "W_out"}:
        weights = {"blocks.0.mlp.W_in": weights["W_in"].T, "unembed.W_U": weights["W_out"].T}
    if set(weights) == {"blocks.0.mlp.W_in", "unembed.W_U"}:  # rows of W_in are the embeddings, which nothing mixes
        W_in, W_U = weights["blocks.0.mlp.W_in"].contiguous(), weights["unembed.W_U"].contiguous()
        return {"embed.W_E": W_in, "blocks.0.mlp.W_in": torch.eye(W_in.shape[1]), "unembed.W_U": W_U}
    if "blocks.0.W_in" in weights and not any(".attn." in name for name in weights):
        return {re.sub(r"^(blocks\.\d+)\.", r"\1.mlp.", name): _left_facing_mlp(name, w) for name, w in weights.items()}
    if weights and all(name.endswith((".weight", ".bias")) for name in weights):
        return _of_torch_modules(weights)
    return weights


def _left_facing_mlp(name: str, w: Tensor) -> Tensor:
    return w.T if name.endswith(("W_E", "W_in")) else w


def _of_torch_modules(weights: Weights) -> Weights:
    """Rename the weights of torch's embedding and linear modules to our names.

    Without an embedding module, the first linear layer reads one-hot pairs, and its columns are the embeddings.
    """
    modules = list(dict.fromkeys(name.rpartition(".")[0] for name in weights))
    embeddings = [m for m in modules if m.rpartition(".")[2].startswith("emb")]
    others = [m for m in modules if m not in embeddings]
    if len(embeddings) > 2 or len(others) < 2 or any(weights[f"{m}.weight"].ndim != 2 for m in modules):
        return weights
    *hidden, last = sorted(others, key=lambda m: m.rpartition(".")[2] in _LAST)  # a stable sort: else in file order
    _check_chain(weights, embeddings, hidden, last)
    if embeddings:
        tables = [_table(weights[f"{m}.weight"], weights[f"{hidden[0]}.weight"]) for m in sorted(embeddings)]
        ours = {"embed.W_E": torch.cat(tables)}
    else:
        first = weights[f"{hidden[0]}.weight"]
        ours = {"embed.W_E": first.T.contiguous(), "blocks.0.mlp.W_in": torch.eye(len(first))}
    for layer, m in enumerate(hidden):
        ours.setdefault(f"blocks.{layer}.mlp.W_in", weights[f"{m}.weight"].T.contiguous())
        if f"{m}.bias" in weights:
            ours[f"blocks.{layer}.mlp.b_in"] = weights[f"{m}.bias"]
    ours["unembed.W_U"] = weights[f"{last}.weight"].T.contiguous()
    return ours | ({"unembed.b_U": weights[f"{last}.bias"]} if f"{last}.bias" in weights else {})


def _table(embedding: Tensor, first: Tensor) -> Tensor:
    """Return the embedding vectors of the tokens; a linear layer of one-hot numbers holds them as columns."""
    rows, columns = embedding.shape
    is_linear = rows and columns and first.shape[1] % columns and not first.shape[1] % rows
    return embedding.T.contiguous() if is_linear else embedding


def _check_chain(weights: Weights, embeddings: list[str], hidden: list[str], last: str) -> None:
    """Raise ValueError if the sizes of consecutive layers do not fit, or a layer seems to be an embedding."""
    layers, names = [*hidden, last], name_list(weights)
    if not embeddings and (found := [m for m in layers if "emb" in m]):
        raise ValueError(
            f"it is not known whether {found[0]} is the embedding; the weights are named {names}; {GIVE_THE_MODULE}"
        )
    for before, after in pairwise(layers):
        rows, columns = weights[f"{before}.weight"].shape[0], weights[f"{after}.weight"].shape[1]
        if rows != columns:
            raise ValueError(f"{after} takes {columns} numbers, but {before} gives {rows}; {GIVE_THE_MODULE}")
