"""Claims on the training set-up of the pizza networks, and whether these networks learn the task."""

from __future__ import annotations

import math

import torch

from modinterp.activations.capture import patterns
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.sources.pizza.runs import CONSTANT, CONTROLS, MAIN, RUNS, SOFTMAX
from modinterp.tasks import addition

TRAIN_PAIRS, TEST_PAIRS = "training pairs", "test pairs"
EPOCHS, DECAY, STEP = "epochs", "weight decay", "learning rate"
FIRST_BETA, LOSS_DTYPE = "first beta", "the loss is taken in float64"
BETA, BETA_LINEAR = "second beta of transformers", "second beta of linear models"
WARMUP, WARMUP_LINEAR = "steps of warm-up of transformers", "steps of warm-up of linear models"


def _arch() -> dict[str, Value]:
    shapes = RUNS[MAIN].model.shapes()
    as_released = {
        "embed.W_E": (59, 128),
        "pos_embed.W_pos": (2, 128),
        "blocks.0.attn.W_Q": (4, 128, 32),
        "blocks.0.attn.W_K": (4, 128, 32),
        "blocks.0.attn.W_V": (4, 128, 32),
        "blocks.0.attn.W_O": (4, 32, 128),
        "blocks.0.mlp.W_in": (128, 512),
        "blocks.0.mlp.b_in": (512,),
        "blocks.0.mlp.W_out": (512, 128),
        "blocks.0.mlp.b_out": (128,),
        "unembed.W_U": (128, 59),
    }
    return {
        "weights of a network of width 128": sum(math.prod(shape) for shape in shapes.values()),
        "shapes as in the released code": shapes == as_released,
    }


def _attention_rate() -> dict[str, Value]:
    task, sums, ahead, ones = addition(13, equals=False), [], [], 0
    for rate in (0.0, 0.25, 0.5, 1.0):
        config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=8, attention_rate=rate, causal=False)
        found = patterns(hooked(config, initial_weights(config, 0)), task.inputs())
        sums.append(float((found.sum(dim=-1) - (2 - rate)).abs().max()))
        ahead.append(float(found[..., 0, 1].min()))
        ones += rate == 0 and bool((found == torch.ones_like(found)).all())
    return {
        "largest distance of a row of attention to 2 - rate": max(sums),
        "attention at rate 0 is 1 everywhere": ones,
        "least attention of the first position to the second": min(ahead),
    }


def _only(values: set[float]) -> float:
    """Return the common value of all runs; NaN if the values differ."""
    return values.pop() if len(values) == 1 else float("nan")


def _recipe() -> dict[str, Value]:
    runs = {name: spec for name, spec in RUNS.items() if name not in CONTROLS}
    linear = {name: spec for name, spec in runs.items() if isinstance(spec.model, MLPConfig)}
    others = {name: spec for name, spec in runs.items() if name not in linear}
    return {
        TRAIN_PAIRS: _only({len(spec.split.train) for spec in runs.values()}),
        TEST_PAIRS: _only({len(spec.split.test) for spec in runs.values()}),
        EPOCHS: _only({spec.recipe.epochs for spec in runs.values()}),
        DECAY: _only({spec.recipe.weight_decay for spec in runs.values()}),
        STEP: _only({spec.recipe.lr for spec in runs.values()}),
        FIRST_BETA: _only({spec.recipe.betas[0] for spec in runs.values()}),
        LOSS_DTYPE: all(spec.recipe.loss_dtype == "float64" for spec in runs.values()),
        BETA: _only({spec.recipe.betas[1] for spec in others.values()}),
        BETA_LINEAR: _only({spec.recipe.betas[1] for spec in linear.values()}),
        WARMUP: _only({spec.recipe.warmup for spec in others.values()}),
        WARMUP_LINEAR: _only({spec.recipe.warmup for spec in linear.values()}),
    }


CLAIMS = (
    Claim(
        id="pizza.setup.arch",
        where="section 2",
        statement="The networks are transformers of one layer and width 128 on a + b mod 59, without =, LayerNorm or "
        "tied weights.",
        source_says="212,608 weights",
        measure=_arch,
        expected={
            "weights of a network of width 128": equals(
                212_608, "the released networks have 2 * 59 * 128 + 2 * 128 + 4 * 128^2 + 2 * 128 * 512 + 640 weights"
            ),
            "shapes as in the released code": equals(1, "the released networks have weights of the same shapes"),
        },
        scope="any network",
    ),
    Claim(
        id="pizza.setup.attention_rate",
        where="sections 2.2 and 4",
        statement="The attention rate interpolates from constant attention (rate 0) to softmax attention (rate 1).",
        source_says="in the released code, attention is rate times softmax plus 1 - rate, for every query and key, "
        "without a mask",
        measure=_attention_rate,
        expected={
            "largest distance of a row of attention to 2 - rate": at_most(
                1e-6, "with two positions a row of attention adds up to rate + 2 (1 - rate)"
            ),
            "attention at rate 0 is 1 everywhere": equals(1, "at rate 0 the attention should be exactly 1"),
            "least attention of the first position to the second": at_least(
                1e-9, "the code applies no mask, so the first position attends to the second"
            ),
        },
        scope="any network",
    ),
    Claim(
        id="pizza.setup.recipe",
        where="appendix",
        statement=(
            "AdamW trains the networks on 80% of the pairs in full batches, for 20,000 epochs with a weight decay of 2."
        ),
        source_says="training uses 2,784 of 3,481 pairs (configurations of the released networks)",
        measure=_recipe,
        expected={
            TRAIN_PAIRS: equals(2784, "training uses 80% of 59^2 pairs"),
            TEST_PAIRS: equals(697, "the remaining 59^2 - 2,784 pairs are held out"),
            EPOCHS: equals(20_000, "the number must be the value in the released configurations"),
            DECAY: equals(2, "the number must be the value in the released configurations"),
            STEP: equals(1e-3, "the number must be the value in the released configurations"),
            FIRST_BETA: equals(0.9, "the number must be the value in the released code"),
            LOSS_DTYPE: equals(1, "the number must be the value in the released code"),
            BETA: equals(0.98, "the number must be the value in the released code"),
            BETA_LINEAR: equals(0.999, "the released notebook uses torch's default for this setting"),
            WARMUP: equals(10, "the number must be the value in the released code"),
            WARMUP_LINEAR: equals(0, "the number must be the value in the released notebook"),
        },
        scope="any network",
    ),
    Claim(
        id="pizza.setup.solved",
        where="section 2.2",
        statement="Networks learn to answer every pair, both with constant and with softmax attention.",
        source_says="released networks have accuracy 1 and losses of 1.4e-7 and 1.6e-7; 2,373 of 2,381 runs solve "
        "the task",
        measure=each(lambda m: {"loss over all pairs [nats]": m.ablated("original").loss}),
        expected={
            "accuracy": at_least(0.999, "in the released table 99.7% of the runs solve the task"),
            "loss over all pairs [nats]": at_most(
                1e-5, "our own tolerance is a hundred times the loss of the released networks"
            ),
        },
        needs=(*CONSTANT, *SOFTMAX),
        scope="any seed",
        figure="curves",
    ),
)
