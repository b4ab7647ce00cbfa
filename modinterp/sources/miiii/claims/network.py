"""Claims on the network: one transformer block, from whose residual stream 29 tasks are read at the last position."""

from __future__ import annotations

import math

import torch

from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.models import initial_weights
from modinterp.sources.miiii.runs import CODED, RUNS


def _architecture() -> dict[str, Value]:
    """Shapes, activation, dropout and initial weights of the network, beside those that are stated."""
    spec = RUNS[CODED]
    shapes, weights = spec.model.shapes(), initial_weights(spec.model, spec.seed)
    d = shapes["embed.W_E"][1]
    stated = {"embed.W_E": (114, d), "pos_embed.W_pos": (3, d), "blocks.0.mlp.W_in": (d, 4 * d),
              "blocks.0.mlp.W_out": (4 * d, d), "blocks.0.attn.W_O": (4, d // 4, d), "unembed.W_U": (d, 1480),
              **{f"blocks.0.attn.W_{x}": (4, d, d // 4) for x in "QKV"}}  # fmt: skip
    fan_in = {name: math.prod(shape[:-1]) * (29 if name == "unembed.W_U" else 1) for name, shape in stated.items()}
    ratios = [float(weights[name].std()) / math.sqrt(2 / fan_in[name]) for name in stated]
    return {
        "names and shapes as stated, no biases": shapes == stated,
        "ReLU": spec.model.act_fn == "relu",
        "dropout in the residual stream": spec.recipe.residual_dropout,
        "lowest spread of a weight at the start over He's": min(ratios),
        "highest spread of a weight at the start over He's": max(ratios),
    }


def _shared() -> dict[str, Value]:
    """Return the numbers of shared embeddings, shared blocks, and outputs of all tasks."""
    shapes = RUNS[CODED].model.shapes()
    return {
        "embeddings": sum(name.endswith("W_E") for name in shapes),
        "blocks": len({name.split(".")[1] for name in shapes if name.startswith("blocks.")}),
        "outputs read from one residual stream": shapes["unembed.W_U"][1],
    }


def _heads() -> dict[str, Value]:
    """Return the difference of adding the heads' outputs and concatenating them before W_O, on random values."""
    generator = torch.Generator().manual_seed(0)
    z, W_O = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((20, 4, 16), (4, 16, 64)))
    added, joined = torch.einsum("bhd,hdm->bm", z, W_O), z.flatten(1) @ W_O.flatten(0, 1)
    return {"largest difference of sum and concatenation": float((added - joined).abs().max())}


CLAIMS = (
    Claim(
        id="miiii.arch",
        where="equations 7 to 11",
        statement=(
            "The network of T_miiii is one block without LayerNorm or biases, with He initialisation, 4 heads "
            "and 4 ReLU neurons for each dimension. The network of T_miiii has dropout on the residual stream, "
            "and its logits are read at the last position."
        ),
        source_says="the network has 256 dimensions and a dropout of 1/10",
        measure=_architecture,
        expected={
            "names and shapes as stated, no biases": equals(1),
            "ReLU": equals(1),
            "dropout in the residual stream": equals(0.1),
            "lowest spread of a weight at the start over He's": at_least(0.95),
            "highest spread of a weight at the start over He's": at_most(1.05),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.shared_layers",
        where="multi-task section",
        statement="The 29 remainder tasks share one embedding and one block; each task has its own unembedding.",
        source_says="the source states this as a definition",
        measure=_shared,
        expected={"embeddings": equals(1), "blocks": equals(1), "outputs read from one residual stream": equals(1480)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.heads_sum_equals_concat",
        where="transformer architecture",
        statement="Adding the outputs of the attention heads equals concatenating the heads' results before multiplying by "
        "W_O.",
        source_says="the source says that both give identical results",
        measure=_heads,
        expected={"largest difference of sum and concatenation": at_most(1e-5)},
        needs=(),
        scope="any network",
    ),
)
