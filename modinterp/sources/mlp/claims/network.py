"""Claims on the training set-up of the MLP: data, loss and final performance."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from modinterp.analyses.fourier.ablations import accuracy_on
from modinterp.analyses.fourier.transforms import fourier_basis, inverse_2d, sine_first, transform_2d
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.mlp.runs import MAIN, RUNS, SEEDS
from modinterp.training.loss import OutputLayout, losses

_FIRST_TRAIN_PAIRS = [[37, 1], [23, 9], [2, 43], [7, 34], [42, 101]]
_FIRST_TEST_PAIRS = [[55, 55], [69, 109], [13, 17], [103, 54], [78, 112]]


def _architecture(m: CyclicMeasurements) -> dict[str, Value]:
    shapes = {name: tuple(w.shape) for name, w in m.model.named_parameters()}
    return {
        "weights": sum(math.prod(shape) for shape in shapes.values()),
        "names and shapes as stated": shapes == RUNS[MAIN].model.shapes(),
        "ReLU": m.model.cfg.act_fn == "relu",
    }


def _data() -> dict[str, Value]:
    task = RUNS[MAIN].task
    split, inputs = task.split(0.3, 0, "torch"), task.inputs()
    return {
        "train pairs": len(split.train),
        "test pairs": len(split.test),
        "first pairs as printed": (
            inputs[split.train[:5]].tolist() == _FIRST_TRAIN_PAIRS
            and inputs[split.test[:5]].tolist() == _FIRST_TEST_PAIRS
        ),
    }


def _loss() -> dict[str, Value]:
    generator = torch.Generator().manual_seed(0)
    logits, labels = 20 * torch.randn(1000, 113, generator=generator), torch.randint(113, (1000,), generator=generator)
    in_float64 = losses(logits.unsqueeze(1), labels.unsqueeze(1), OutputLayout.of((113,)))[:, 0]
    of_torch = F.cross_entropy(logits.double(), labels, reduction="none")
    in_float32 = F.cross_entropy(logits, labels, reduction="none")
    return {
        "largest difference to torch's, in float64": float((in_float64 - of_torch).abs().max()),
        "losses that float32 rounds to 0": int(((in_float32 == 0) & (in_float64 > 0)).sum()),
    }


def _basis() -> dict[str, Value]:
    basis = fourier_basis(113)[sine_first(113)]
    x = 2 * torch.pi / 113 * torch.arange(113, dtype=torch.float64)
    rows = torch.stack([torch.ones_like(x), x.sin(), x.cos(), (2 * x).sin(), (2 * x).cos()])
    return {
        "largest entry of F F^T - 1": float((basis @ basis.T - torch.eye(113, dtype=torch.float64)).abs().max()),
        "difference to the named rows": float((basis[:5] - F.normalize(rows, dim=1)).abs().max()),
    }


def _transform(m: CyclicMeasurements) -> dict[str, Value]:
    post = m.post
    spectrum = transform_2d(post)
    return {
        "relative change of the sum of squares": abs(float(spectrum.square().sum() / post.square().sum()) - 1),
        "largest difference after the inverse": float((inverse_2d(spectrum) - post).abs().max() / post.abs().max()),
    }


CLAIMS = (
    Claim(
        id="mlp.arch",
        where="the model",
        statement=(
            "The network has one hidden layer, no attention and no biases. The logits of the network are "
            "ReLU((W_E[a] + W_E[b]) W_in) W_U."
        ),
        source_says="137,856 weights",
        measure=_architecture,
        expected={"weights": equals(137_856), "names and shapes as stated": equals(1), "ReLU": equals(1)},
        needs=(MAIN,),
        scope="any network",
    ),
    Claim(
        id="mlp.dataset_shapes",
        where="the task",
        statement=(
            "All 12,769 pairs are split by torch's random permutation of seed 0; the source prints the "
            "first five pairs of each part."
        ),
        source_says="3,830 training pairs and 8,939 test pairs; the first pair is (37, 1)",
        measure=_data,
        expected={"train pairs": equals(3830), "test pairs": equals(8939), "first pairs as printed": equals(1)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="mlp.loss_fn",
        where="the task",
        statement="The training loss is the cross-entropy of a log-softmax in float64.",
        source_says="the source states this as a definition",
        measure=_loss,
        expected={
            "largest difference to torch's, in float64": at_most(1e-12),
            "losses that float32 rounds to 0": at_least(1),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="mlp.test_acc",
        where="sanity check",
        statement="The network is right on all held-out pairs.",
        source_says="1.0",
        measure=each(lambda m: {"test accuracy": accuracy_on(m.logits, m.labels, m.test)}),
        expected={"test accuracy": at_least(0.999, "in the notebook the accuracy is 1.0")},
        needs=SEEDS,
        scope="any seed",
    ),
    Claim(
        id="mlp.final_losses",
        where="the training notebook",
        statement=(
            "The network memorises, its test loss rises far above the loss of guessing, and the network "
            "groks within a few thousand epochs."
        ),
        source_says=(
            "final train loss 1.0e-6 and test loss 1.9e-5; the highest test loss is 10.5, and it falls below "
            "1e-2 near epoch 3,400"
        ),
        measure=lambda m: {"highest test loss before it groks": m.grokking.highest_test_loss},
        expected={
            "final_train_loss": at_most(1e-5, "the train loss may be 10 times the 1.0e-6 of the author's checkpoint"),
            "final_test_loss": at_most(1e-3, "the test loss of the author's checkpoint is 1.9e-5; other seeds vary"),
            "grokked": between(1_000, 10_000, "in the author's log the network groks near epoch 3,400"),
            "highest test loss before it groks": at_least(
                6, "in the author's log the highest test loss is 10.5; the loss of guessing is 4.73"
            ),
        },
        needs=(MAIN,),
        figure="curves",
        control="also true of random labels",
    ),
    Claim(
        id="mlp.fourier_basis",
        where="Fourier basis",
        statement=(
            "The source uses an orthonormal basis over the residues: constant, sin 1, cos 1, sin 2, cos 2 "
            "and so on, the sine before the cosine."
        ),
        source_says="Const, Sin 1, Cos 1, Sin 2, Cos 2",
        measure=_basis,
        expected={"largest entry of F F^T - 1": at_most(1e-5), "difference to the named rows": at_most(1e-5)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="mlp.fft2d",
        where="Fourier basis",
        statement=(
            "The Fourier transform over both inputs is a change of basis: it keeps the sum of squares and can be "
            "inverted."
        ),
        source_says="a theorem",
        measure=_transform,
        expected={
            "relative change of the sum of squares": at_most(1e-5),
            "largest difference after the inverse": at_most(1e-5),
        },
        needs=(MAIN,),
        scope="any network",
    ),
)
