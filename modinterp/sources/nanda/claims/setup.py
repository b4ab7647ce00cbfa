"""Claims of sections 1 and 3 and figures 1 and 2: the task, the network, the algorithm, and the course of training."""

from __future__ import annotations

import math
from statistics import median

import torch

from modinterp.activations import logits_on_grid
from modinterp.analyses.fourier.ablations import accuracy_on, loss_without_each
from modinterp.analyses.fourier.cosine_sums import ideal_logits
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.models import TransformerConfig
from modinterp.sources.nanda.claims.trainings import (
    MEDIAN_GROKKING_EPOCH,
)
from modinterp.sources.nanda.runs import MAIN, SEEDS
from modinterp.tasks import addition

N_WEIGHTS = "trainable weights"
LARGEST_EXCLUDED = "largest excluded loss of a frequency"

NO_DECAY = tuple(f"nanda/no-decay-{seed}" for seed in range(3))


def _ideal_accuracy() -> dict[str, Value]:
    cases = [(p, freqs) for p in (2, 5, 53, 113) for freqs in ([1], [p // 2], list(range(1, p // 2 + 1))) if p // 2]
    cases += [(113, [14, 35, 41, 42, 52])]
    return {
        "lowest accuracy over primes and sets of frequencies": min(
            accuracy_on(ideal_logits(p, freqs), addition(p).labels()) for p, freqs in cases
        )
    }


def _identities() -> dict[str, Value]:
    p = 113
    x = torch.arange(p, dtype=torch.float64)
    w = 2 * math.pi * torch.arange(1, p // 2 + 1, dtype=torch.float64)[:, None, None] / p
    a, b = w * x[:, None], w * x
    cos_sum, sin_sum = a.cos() * b.cos() - a.sin() * b.sin(), a.sin() * b.cos() + a.cos() * b.sin()
    residuals = [((a + b).cos() - cos_sum).abs().max(), ((a + b).sin() - sin_sum).abs().max()]
    for c in x:
        read_off = cos_sum * (w * c).cos() + sin_sum * (w * c).sin()
        residuals.append(((a + b - w * c).cos() - read_off).abs().max())
    printed = a.cos() * a.cos() - a.sin() * b.sin()
    return {
        "largest residual of the identities": float(torch.stack(residuals).max()),
        "residual as printed": float(((a + b).cos() - printed).abs().max()),
    }


def _architecture(m: CyclicMeasurements) -> dict[str, Value]:
    shapes = {name: tuple(w.shape) for name, w in m.model.named_parameters()}
    stated = TransformerConfig(d_vocab=114, d_vocab_out=113, n_ctx=3).shapes()
    with_equals = stated | {"unembed.W_U": (128, 114)}
    return {
        N_WEIGHTS: sum(math.prod(shape) for shape in shapes.values()),
        "names and shapes as stated": shapes in (stated, with_equals),
        "ReLU": m.model.cfg.act_fn == "relu",
    }


def _accuracy_curves(*runs: CyclicMeasurements) -> dict[str, Value]:
    memorised = [m.grokking.memorised for m in runs]
    histories = [m.history.set_index("epoch") for m in runs]
    return {
        "train accuracy by epoch 1,500": [float(h["train_accuracy"][h.index <= 1500].max()) for h in histories],
        "test accuracy when memorised": [
            float(h["test_accuracy"].get(epoch, math.nan)) for h, epoch in zip(histories, memorised, strict=True)
        ],
        "test accuracy by epoch 30,000": [float(h["test_accuracy"][h.index <= 30_000].max()) for h in histories],
        MEDIAN_GROKKING_EPOCH: median(m.grokking.grokked for m in runs),
    }


def largest_excluded(m: CyclicMeasurements) -> float:
    """Return the largest excluded loss of a single frequency, which also exists for a network without key frequencies.
    [nats]

    Source: Nanda et al. 2023, appendix C.2, footnote 3.
    """
    logits = logits_on_grid(m.model, m.task)
    return float(loss_without_each(logits, m.task.labels(), "sums", rows=m.split.train).max())


MEMORISES_ONLY = {
    "highest_test_accuracy": at_most(0.5, "the network without weight decay must not generalise"),
    "final_train_accuracy": at_least(0.999, "the network without weight decay must memorise"),
    "last_epoch": at_least(40_000, "training must be as long as for the network that groks"),
}


CLAIMS = (
    Claim(
        id="nanda.fig1.algorithm",
        where="section 3.1, figure 1",
        statement=(
            "The network's algorithm rotates by w_k a, then by w_k b, and reads off cos(w_k(a + b - c)) for "
            "every c. The algorithm finds a + b mod p: the sum of cos(w_k(a + b - c)) over any set of "
            "frequencies is largest at the right answer c."
        ),
        source_says="accuracy 1",
        measure=lambda *_: _ideal_accuracy(),
        expected={
            "lowest accuracy over primes and sets of frequencies": equals(
                1, "a theorem for prime p: each single wave has its only maximum at the right answer"
            )
        },
        scope="any network",
        figure="algorithm",
    ),
    Claim(
        id="nanda.eq.identities",
        where="section 3.1, equation 1; section 4.2",
        statement=(
            "cos and sin of a sum of angles are sums of products, and so is cos(w(a + b - c)). In section 3.1 of "
            "the paper, cos a cos a is a misprint of cos a cos b."
        ),
        source_says="residual 0",
        measure=lambda *_: _identities(),
        expected={
            "largest residual of the identities": at_most(1e-12, "the error must be rounding in float64"),
            "residual as printed": at_least(0.5, "the misprinted identity must fail the same check"),
        },
        scope="any network",
    ),
    Claim(
        id="nanda.setup.arch",
        where="section 3, appendix A",
        statement=(
            "The network has one layer with 4 heads of dimension 32, 512 ReLU neurons and a residual stream"
            " of dimension 128. The network has learned positional embeddings, no LayerNorm, and biases "
            "only in the MLP."
        ),
        source_says="226,688 weights with 113 outputs, 226,816 with 114",
        measure=_architecture,
        expected={
            N_WEIGHTS: between(
                226_688,
                226_816,
                "the network has 226,688 weights with 113 outputs, and 226,816 with a further output for =",
            ),
            "names and shapes as stated": equals(
                1, "the parameters are W_E, W_pos, W_Q, W_K, W_V, W_O, W_in, b_in, W_out, b_out and W_U, and no others"
            ),
            "ReLU": equals(1),
        },
        needs=(MAIN,),
        scope="any network",
    ),
    Claim(
        id="nanda.setup.data",
        where="section 3",
        statement=(
            "The network is trained on 30% of the 113^2 pairs; all others are held out. The network is trained "
            "by AdamW with learning rate 1e-3 and weight decay 1, for 40,000 epochs."
        ),
        source_says="3,830 training pairs and 8,939 held-out pairs",
        measure=lambda m: {
            "train pairs": len(m.split.train),
            "test pairs": len(m.split.test),
            "learning rate": m.recipe.lr,
            "weight decay": m.recipe.weight_decay,
            "epochs of the recipe": m.recipe.epochs,
        },
        expected={
            "train pairs": equals(3830, "the paper trains on 0.3 x 12,769 pairs, rounded down"),
            "test pairs": equals(8939),
            "learning rate": equals(1e-3),
            "weight decay": equals(1),
            "epochs of the recipe": equals(40_000),
        },
        needs=(MAIN,),
        scope="any network",
    ),
    Claim(
        id="nanda.fig2.left.accuracy",
        where="section 3, figure 2 left",
        statement=(
            "The accuracy on training pairs is perfect early in training. Test accuracy stays low for thousands "
            "of epochs and then jumps to 100% around epoch 10,000, in all five seeds."
        ),
        source_says="networks memorise by about epoch 1,400 and grok near epoch 10,000",
        measure=_accuracy_curves,
        printed={"grokked": 10_000},
        outside={"grokked": "figure 2 shows grokking near epoch 10,000"},
        expected={
            "train accuracy by epoch 1,500": at_least(0.999, "memorisation ends at epoch 1,400 in the paper"),
            "test accuracy when memorised": at_most(0.3, "test accuracy is low before grokking"),
            "test accuracy by epoch 30,000": at_least(0.999, "all five curves of test accuracy end at 1"),
            "grokked": between(3_000, 25_000, "the paper's networks grok near epoch 10,000; seeds differ"),
            MEDIAN_GROKKING_EPOCH: between(
                5_000, 15_000, "the epoch must lie between half and one and a half times the paper's 10,000"
            ),
        },
        behaviour=("train accuracy by epoch 1,500", "test accuracy when memorised", "test accuracy by epoch 30,000"),
        needs=SEEDS,
        scope="any seed",
        figure="curves",
    ),
    Claim(
        id="nanda.fig2.right.loss",
        where="section 3, figure 2 right",
        statement=(
            "Train loss falls fast. Test loss first rises far above the loss of guessing and then falls to "
            "nearly zero, in all five seeds."
        ),
        source_says="the final test loss is 2.4e-7 (section 4.2), and 2.0e-7 to 2.4e-7 in other seeds (table 4)",
        printed={"final_test_loss": 2.4e-7},
        expected={
            "highest_test_loss": at_least(
                10,
                "the highest test loss must be at least twice the loss of guessing (ln 113 = 4.73); an "
                "archived run of the authors reaches 26.6",
            ),
            "final_test_loss": at_most(
                1e-6, "the final test loss may be at most 4 times the largest loss of table 4, 2.4e-7"
            ),
            "final_train_loss": at_most(
                3e-7, "the test losses of table 4 are at most 2.3e-7, and train loss is lower than test loss"
            ),
            "grokking_ratio": at_least(
                3,
                "the paper's network groks at 7 times the epoch of memorisation (10,000 over 1,400); we accept "
                "half of this ratio",
            ),
        },
        needs=SEEDS,
        scope="any seed",
        finding=mixed(
            "Train and test losses rise and fall as the paper states. The final test losses are 2.0e-7 to "
            "2.4e-7 in the paper's five networks, but higher in some of our networks."
        ),
        figure="curves",
    ),
    Claim(
        id="nanda.s3.noreg_nogrok",
        where="section 3, section 5.3",
        statement="Without regularisation the network memorises and does not grok.",
        source_says="none printed",
        expected=MEMORISES_ONLY,
        needs=NO_DECAY,
        scope="any seed",
        changed=(
            Change(
                date="2026-11-23",
                was="refuted",
                what="the definition of the measured number",
                before=(
                    "two of three seeds had to stay without generalising, with an excluded loss of at most ten "
                    "times the train loss: no seed meets both conditions; refuted"
                ),
                now=(
                    "each seed must have a test accuracy of at most 0.5 (the measured test accuracies are 0.025 and 0.039)"
                ),
                why=(
                    "the statement is that the network does not grok; the excluded loss is the subject of figure 26, which "
                    "has a claim of its own"
                ),
            ),
        ),
    ),
)
