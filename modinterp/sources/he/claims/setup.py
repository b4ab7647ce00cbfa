"""Claims on the set-up: the networks' shape, the replay of the authors' runs, and whether training on all pairs solves
the task.
"""

from __future__ import annotations

import math

from modinterp.claims.band import Band, at_least, at_most, between, equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.he.neuron_waves import check_shape
from modinterp.sources.he.runs import RECIPES, named

FULL = tuple(name for name in RECIPES if not name.startswith("grok"))
PARAMETERS, ASYMMETRY, ONE_LAYER = "parameters", "largest |f(x, y) - f(y, x)|", "one hidden layer of summed tokens"
FIRST_READ, FIRST_WRITTEN = "first entries of W_in", "first entries of W_out"
READ, WRITTEN = (0.0401790, 0.0310120, 0.0187813), (0.0027519, -0.0209460, 0.0026015)
STD_LOSSES = {200: (3.113867, 1e-5), 1000: (2.859504, 1e-3), 5000: (0.047774, 0.05 * 0.047774)}
QUAD_LOSSES = {1000: (3.135065, 1e-5), 10_000: (0.05271, 0.2 * 0.05271)}
STD_FINAL = 4.816e-7
SEED = "seed"
OVER_CHANCE = "loss over that of guessing"
TRAINED_ACCURACY, TRAINED_LOSS = "accuracy over all pairs at the end", "loss over all pairs at the end"


def _arch(m: CyclicMeasurements) -> dict[str, Value]:
    check_shape(m)
    return {
        PARAMETERS: sum(math.prod(shape) for shape in m.config.shapes().values()),
        ASYMMETRY: float((m.logits - m.logits.transpose(0, 1)).abs().max()),
        ONE_LAYER: True,
    }


def _loss_at(m: CyclicMeasurements, epoch: int) -> float:
    row = m.history[m.history["epoch"] == epoch] if len(m.history) else m.history
    if not len(row):
        raise NotRecorded(f"the loss of {m.name} at epoch {epoch:,} is not known")
    return float(row["train_loss"].iloc[0])


def _loss_name(epoch: int) -> str:
    return f"loss at {epoch:,}"


def _replay(m: CyclicMeasurements) -> dict[str, Value]:
    check_shape(m)
    weights = m.run.at_start().network.state_dict()
    W_in, W_out = weights["blocks.0.mlp.W_in"].T[0, :3], weights["unembed.W_U"].T[0, :3]
    drawn = ((W_in, READ), (W_out, WRITTEN))
    off = {name: max(abs(float(w) - value) for w, value in zip(found, values, strict=True))
           for name, (found, values) in zip((FIRST_READ, FIRST_WRITTEN), drawn, strict=True)}  # fmt: skip
    return {SEED: -1 if m.spec is None else m.spec.seed, **off, **_losses(m)}


def _losses(m: CyclicMeasurements) -> dict[str, Value]:
    is_square = check_shape(m).act_fn == "square"
    final: dict[str, Value] = (
        {} if is_square else {"loss at 10,000 over the authors' at 9,999": _loss_at(m, 10_000) / STD_FINAL}
    )
    return {_loss_name(epoch): _loss_at(m, epoch) for epoch in (QUAD_LOSSES if is_square else STD_LOSSES)} | final


def _solved(m: CyclicMeasurements) -> dict[str, Value]:
    check_shape(m)
    if not len(m.history):
        raise NotRecorded(f"how {m.name} was trained is not known")
    loss = float(m.history["train_loss"].iloc[-1])
    return {
        TRAINED_ACCURACY: float(m.history["train_accuracy"].iloc[-1]),
        TRAINED_LOSS: loss,
        OVER_CHANCE: loss / math.log(m.p),
    }


def _bands(losses: dict[int, tuple[float, float]]) -> dict[str, Band]:
    return {
        _loss_name(epoch): near(value, off, "the authors' own log contains this loss")
        for epoch, (value, off) in losses.items()
    }


_SAME = at_most(1e-6, "our losses must equal all printed digits")
CLAIMS = (
    Claim(
        id="he.setup.arch",
        where="section 2",
        statement="A network of one hidden layer without biases reads the sum of two one-hot vectors.",
        source_says="the network has 23,552 parameters, 80,256 with an embedding, and 198,656 at p = 97",
        measure=each(_arch),
        expected={
            ASYMMETRY: at_most(1e-6, "the order of the two inputs cannot matter, since they are added"),
            PARAMETERS: between(
                23_552, 198_656, "the network has 2 p M weights, and 128 p + 128 M + p M with an embedding"
            ),
            ONE_LAYER: equals(1, "the network must have one hidden layer and no other layer"),
        },
        needs=(*(f"he/{recipe}-42" for recipe in RECIPES), "he/p97-42"),
        scope="any network",
    ),
    Claim(
        id="he.setup.replay",
        where="ours",
        statement="On any CPU, training with seed 42 reproduces the authors' run with ReLU and AdamW on all pairs.",
        source_says="the loss is 3.113867, 2.859504, .047774 and 4.816e-7 at epochs 200, 1,000, 4,999 and 9,999",
        measure=_replay,
        expected={
            FIRST_READ: _SAME,
            FIRST_WRITTEN: _SAME,
            **_bands(STD_LOSSES),
            "loss at 10,000 over the authors' at 9,999": between(
                1 / 1.5, 1.5, "training amplifies rounding errors, so the loss may differ by a factor of 1.5"
            ),
        },
        given={SEED: equals(42, "seed 42 is the seed of the authors' run")},
        needs=("he/std-42",),
        control="told apart",
    ),
    Claim(
        id="he.setup.replay_quad",
        where="ours",
        statement=(
            "On any CPU, training with seed 42 reproduces the authors' run with a quadratic activation and "
            "gradient descent on all pairs."
        ),
        source_says="the loss is 3.135065 and .05271 at epochs 1,000 and 9,999",
        measure=_replay,
        expected={FIRST_READ: _SAME, FIRST_WRITTEN: _SAME, **_bands(QUAD_LOSSES)},
        given={SEED: equals(42, "seed 42 is the seed of the authors' run")},
        needs=("he/quad-42",),
        contrast=("he/quad-4",),  # another seed, whose weights and losses differ
    ),
    Claim(
        id="he.setup.solved",
        where="section 3",
        statement="Every network trained on all pairs answers all pairs correctly.",
        source_says="all seven networks have an accuracy of 1.0",
        measure=each(_solved),
        expected={TRAINED_ACCURACY: equals(1, "the network should answer all pairs correctly")},
        reported=(TRAINED_LOSS, OVER_CHANCE),
        needs=(*named(*FULL), "he/p97-42"),
        scope="any seed",
        finding=mixed(
            "At the end of training, the network quad-12 and most networks named relu1 answer 527 or 528 of 529 "
            "pairs correctly. All other networks trained on all pairs answer every pair correctly."
        ),
        control="also true of random labels",
    ),
    Claim(
        id="he.setup.solved_std",
        where="section 3",
        statement="With ReLU and AdamW, the loss over all pairs falls to about 5e-7 during training.",
        source_says="the final loss is 5.2e-7",
        measure=each(_solved),
        expected={TRAINED_LOSS: at_most(1e-5, "the final loss of the authors' network is 5.2e-7")},
        needs=named("std"),
        scope="any seed",
    ),
    Claim(
        id="he.setup.solved_relu1",
        where="figure 13",
        statement="The network with ReLU whose neurons begin with one frequency each learns the task.",
        source_says="the accuracy is 1.0, though the loss is 3.1329; the loss of guessing is 3.1355",
        measure=each(_solved),
        expected={OVER_CHANCE: at_most(0.5, "a network that learned the task should be far better than guessing")},
        given={TRAINED_ACCURACY: at_least(0.999, "the source's network answers all pairs correctly")},
        needs=named("relu1"),
        scope="any seed",
        finding=refuted(
            (
                "At the end of training the loss of networks named relu1 is still .999 times the loss of "
                "guessing. The logits of right answers lead by tiny margins."
            ),
            "source",
        ),
    ),
)
