"""Define the training runs of Zhong et al. 2023: transformers by attention rate, width and depth, and linear models, on
a + b mod 59.

Networks, optimiser and numbers of epochs are those of the paper's released code. The released code draws split,
weights, rates and widths without a seed, so we chose them.
"""

from __future__ import annotations

from modinterp.models import MLPConfig, TransformerConfig
from modinterp.runs.family import family, of_another_operation, of_random_labels
from modinterp.tasks import ModularArithmetic, addition
from modinterp.training import Recipe, RunSpec

P = 59
RATES = (0, 0.125, 0.25, 0.375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.875, 1)
WIDTH_RATE = 0.625  # at which widths are compared
WIDTHS, RATES_OF_WIDTHS = (64, 256), (0.25, 0.5, WIDTH_RATE, 0.75, 1)

_TASK = addition(P, equals=False)
_RECIPE = Recipe(20_000, 0.8, "torch", weight_decay=2, log_every=100, snapshot_every=1000)
_LINEAR = Recipe(20_000, 0.8, "torch", weight_decay=2, betas=(0.9, 0.999), warmup=0, log_every=100, snapshot_every=1000)
_OURS = ("seed",)


def _transformer(rate: float, d_model: int = 128, n_layers: int = 1) -> TransformerConfig:
    """Return a transformer in which every position attends to all, 4 heads of a quarter of the width, 4 neurons a
    dimension.
    """
    return TransformerConfig.of(
        _TASK,
        n_layers=n_layers,
        d_model=d_model,
        d_head=d_model // 4,
        d_mlp=4 * d_model,
        init="W_in 1/sqrt(d_mlp)",
        attention_rate=float(rate),
        causal=False,
    )


def _linear(n_layers: int, joined: str = "sum", d_model: int = 256) -> MLPConfig:
    """Return a linear model: one or two layers of 256 neurons on the embeddings, with biases but for the unembedding."""
    return MLPConfig.of(
        _TASK, d_model=d_model, d_mlp=256, n_layers=n_layers, joined=joined, mlp_biases=True, init="linear"
    )


def _of_width(width: int, rate: float) -> dict[str, RunSpec]:
    stem = f"pizza/width-{width}" if rate == WIDTH_RATE else f"pizza/width-{width}-attention-{rate:g}"
    return family(stem, _TASK, _transformer(rate, width), _RECIPE, range(2), (*_OURS, "model.attention_rate"))


_BY_RATE = {
    rate: family(
        f"pizza/attention-{rate:g}", _TASK, _transformer(rate), _RECIPE, range(8 if rate in (0, 1) else 3), _OURS
    )
    for rate in RATES
}
_BY_WIDTH = {(width, rate): _of_width(width, rate) for width in WIDTHS for rate in RATES_OF_WIDTHS}
_LAYERS = family("pizza/layers-2", _TASK, _transformer(0, n_layers=2), _RECIPE, (0,), _OURS)
_BY_KIND = {
    "alpha": family("pizza/linear-alpha", _TASK, _linear(1), _LINEAR, (0,), _OURS),
    "beta": family("pizza/linear-beta", _TASK, _linear(2), _LINEAR, range(3), _OURS),
    "gamma": family("pizza/linear-gamma", _TASK, _linear(2, "sum after W_in"), _LINEAR, (0,), _OURS),
    "delta": family("pizza/linear-delta", _TASK, _linear(1, "concatenated", 128), _LINEAR, range(2), _OURS),
}

RUNS = {
    name: spec
    for runs in (*_BY_RATE.values(), *_BY_WIDTH.values(), _LAYERS, *_BY_KIND.values())
    for name, spec in runs.items()
}
OF_RATE = {rate: tuple(runs) for rate, runs in _BY_RATE.items()}
OF_WIDTH = {key: tuple(runs) for key, runs in _BY_WIDTH.items()}
CONSTANT, SOFTMAX = OF_RATE[0], OF_RATE[1]  # recipes of the source's Model A and Model B
ATTENTION = tuple(name for names in OF_RATE.values() for name in names)
LAYERS = tuple(_LAYERS)
BETA, DELTA = tuple(_BY_KIND["beta"]), tuple(_BY_KIND["delta"])
MAIN = CONSTANT[0]

CONTROLS = {"pizza/random-labels-0": "of random labels", "pizza/multiplication-0": "of another operation"}
RUNS |= of_random_labels("pizza/random-labels-0", RUNS[MAIN], epochs=2_000)
RUNS |= of_another_operation(
    "pizza/multiplication-0", RUNS[MAIN], ModularArithmetic(P, "mul", equals=False), fraction=0.8
)
