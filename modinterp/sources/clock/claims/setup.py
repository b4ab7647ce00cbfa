"""Claims of the blog post's sections 2 to 4: the task, the network, and its training."""

from __future__ import annotations

import math

from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.clock.runs import SEEDS


def _task(m: CyclicMeasurements) -> dict[str, Value]:
    inputs = m.task.inputs()
    return {
        "pairs": len(inputs),
        "smallest operand": int(inputs[:, :2].min()),
        "largest operand": int(inputs[:, :2].max()),
        "token of =": int(inputs[:, 2].unique()),
        "answers that are not (a + b) mod p": int((m.labels[:, 0] != inputs[:, :2].sum(dim=1) % m.p).sum()),
        "pairs trained on": len(m.split.train),
    }


def _architecture(m: CyclicMeasurements) -> dict[str, Value]:
    logits, config = m.logits, m.model.cfg
    return {
        "layers": config.n_layers,
        "positional embeddings": bool(config.positional),
        "biases in the MLP": "blocks.0.mlp.b_in" in dict(m.model.named_parameters()),
        "largest difference between logits of (a, b) and of (b, a)": float(
            (logits - logits.transpose(0, 1)).abs().max()
        ),
    }


def _curves(m: CyclicMeasurements) -> dict[str, Value]:
    grokked, table = m.grokking.grokked, m.progress
    squares = table["sum_of_squares_W_E"]
    apart = table["epoch"][(squares / squares.iloc[-1] - 1).abs() > 0.02]
    settled = float(apart.iloc[-1]) if len(apart) else math.nan
    after = squares[table["epoch"] >= grokked] if grokked == grokked else squares.iloc[-1:]
    return {
        "epochs from grokking until W_E settles": settled - grokked,
        "share of the sum of squares of W_E that goes after grokking": 1 - float(squares.iloc[-1] / after.iloc[0]),
        "test loss of the last snapshot": float(table["test_loss"].iloc[-1]),
    }


CLAIMS = (
    Claim(
        id="clock.s2.task",
        where="section 2",
        statement=(
            "The network reads {a}+{b}= and answers (a + b) mod 113, trained on 30% of the pairs. Our networks "
            "have no output for the token =, since = is never an answer."
        ),
        source_says="in the source a and b run from 1 to P, token 113 is =, and there are 114 logits",
        measure=_task,
        expected={
            "pairs": equals(113 * 113),
            "smallest operand": equals(0),
            "largest operand": equals(112),
            "token of =": equals(113),
            "answers that are not (a + b) mod p": equals(0),
            "pairs trained on": equals(3830),
        },
        needs=SEEDS[:1],
        scope="any network",
    ),
    Claim(
        id="clock.s3.arch",
        where="section 3",
        statement=(
            "The network has one layer, no LayerNorm, no positional embeddings, and an MLP with biases. "
            "Without positional embeddings, the pairs (a, b) and (b, a) have equal logits."
        ),
        source_says="stated",
        measure=_architecture,
        expected={
            "layers": equals(1),
            "positional embeddings": equals(0),
            "biases in the MLP": equals(1),
            "largest difference between logits of (a, b) and of (b, a)": at_most(1e-4),
        },
        needs=SEEDS[:1],
        scope="any network",
    ),
    Claim(
        id="clock.s3.irrelevant",
        where="section 3",
        statement=(
            "Without positional embeddings the network groks and learns the same algorithm. The source "
            "cites a paper by Nanda et al., which has no ablation of positional embeddings."
        ),
        source_says="the source says that Nanda et al. confirmed positional embeddings to be irrelevant",
        measure=each(lambda m: {"delayed": m.grokking.delayed}),
        expected={
            "delayed": equals(1, "the network without positional embeddings must grok"),
            "logit_fve": at_least(
                0.9,
                "waves of a + b explain 95.3% of the logits in the paper's network, which has positional embeddings",
            ),
        },
        reported=("grokked",),
        needs=SEEDS,
        scope="any seed",
        finding=mixed(
            "all networks without positional embeddings grok, but in some networks waves of a + b explain less "
            "of the logits"
        ),
        changed=(
            Change(
                date="2026-11-28",
                was="refuted",
                what="the networks that are measured",
                before=(
                    "the claim measured three networks without positional embeddings and one with; in one "
                    "network, waves of a + b explain 88% of the logits; refuted"
                ),
                now=(
                    "the claim measures each network without positional embeddings; the networks of Nanda et "
                    "al. have positional embeddings"
                ),
                why="under the old rule one network of four decided a statement about all networks",
            ),
        ),
        figure="curves",
    ),
    Claim(
        id="clock.s4.curves",
        where="section 4",
        statement=(
            "The network groks within some thousand epochs, and W_E keeps shrinking for thousands of epochs more."
        ),
        source_says="test accuracy reaches 100% by about epoch 4,000; W_E shrinks until about epoch 6,000",
        measure=each(_curves),
        expected={
            "grokked": between(
                2_000,
                20_000,
                "the source's network groks at about epoch 4,000; seeds of the recipe of Nanda et al. "
                "differ by a factor of 3",
            ),
            "epochs from grokking until W_E settles": at_least(
                1, "in the source W_E stops shrinking about 2,000 epochs after grokking"
            ),
            "share of the sum of squares of W_E that goes after grokking": at_least(
                0.02, "W_E must shrink by more than the share within which its sum of squares counts as settled"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="curves",
        changed=(
            Change(
                date="2026-11-23",
                what="the tolerances: the amount by which W_E shrinks now has a tolerance too",
                before=(
                    "the claim tested only at which epochs the network groks and W_E settles; an untrained "
                    "network has neither epoch"
                ),
                now="the claim also tests by which share W_E shrinks: 0.35 to 0.42, and 0 before training",
                why="the claim needs a number that also exists before training, for comparison",
            ),
        ),
    ),
)
