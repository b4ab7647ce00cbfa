"""What is trained, on what, with which loss, and how well it does."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from modinterp.analyses.ablations import accuracy_on
from modinterp.analyses.fourier import fourier_basis, inverse_2d, sine_first, transform_2d
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each
from modinterp.claims.evidence import evidence
from modinterp.models import MLPConfig
from modinterp.runs import TrainedRun
from modinterp.tasks import addition
from modinterp.training.loss import Heads, losses

SEEDS = tuple(f"mlp/kissane-{seed}" for seed in range(5))
RUN = SEEDS[:1]
TASK = addition(113, equals=False)
_TRAIN = [[37, 1], [23, 9], [2, 43], [7, 34], [42, 101]]
_TEST = [[55, 55], [69, 109], [13, 17], [103, 54], [78, 112]]


def _architecture(run: TrainedRun) -> dict[str, Value]:
    shapes = {name: tuple(w.shape) for name, w in run.model.named_parameters()}
    return {
        "weights": sum(math.prod(shape) for shape in shapes.values()),
        "names and shapes as stated": shapes == MLPConfig.of(TASK).shapes(),
        "ReLU": run.model.cfg.act_fn == "relu",
    }


def _data() -> dict[str, Value]:
    split, inputs = TASK.split(0.3, 0, "torch"), TASK.inputs()
    return {
        "train pairs": len(split.train),
        "test pairs": len(split.test),
        "first pairs as printed": inputs[split.train[:5]].tolist() == _TRAIN
        and inputs[split.test[:5]].tolist() == _TEST,
    }


def _loss() -> dict[str, Value]:
    generator = torch.Generator().manual_seed(0)
    logits, labels = 20 * torch.randn(1000, 113, generator=generator), torch.randint(113, (1000,), generator=generator)
    ours = losses(logits.unsqueeze(1), labels.unsqueeze(1), Heads.of((113,)))[:, 0]
    theirs = F.cross_entropy(logits.double(), labels, reduction="none")
    in_float32 = F.cross_entropy(logits, labels, reduction="none")
    return {
        "largest difference to torch's, in float64": float((ours - theirs).abs().max()),
        "losses that float32 rounds to 0": int(((in_float32 == 0) & (ours > 0)).sum()),
    }


def _test_accuracy(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    return {"test accuracy": accuracy_on(ev.logits, ev.labels, ev.test)}


def _losses(run: TrainedRun) -> dict[str, Value]:
    nan, history = float("nan"), run.history
    if not len(history):
        return dict.fromkeys(("train loss", "test loss", "grokking epoch", "highest test loss"), nan)
    grokking = evidence(run).grokking
    return {
        "train loss": float(history["train_loss"].iloc[-1]),
        "test loss": float(history["test_loss"].iloc[-1]),
        "grokking epoch": grokking.grokked,
        "highest test loss": grokking.highest_test_loss,
    }


def _basis() -> dict[str, Value]:
    basis = fourier_basis(113)[sine_first(113)]
    x = 2 * torch.pi / 113 * torch.arange(113, dtype=torch.float64)
    rows = torch.stack([torch.ones_like(x), x.sin(), x.cos(), (2 * x).sin(), (2 * x).cos()])
    return {
        "largest entry of F F^T - 1": float((basis @ basis.T - torch.eye(113, dtype=torch.float64)).abs().max()),
        "difference to the named rows": float((basis[:5] - F.normalize(rows, dim=1)).abs().max()),
    }


def _transform(run: TrainedRun) -> dict[str, Value]:
    post = evidence(run).post
    spectrum = transform_2d(post)
    return {
        "relative change of the sum of squares": abs(float(spectrum.square().sum() / post.square().sum()) - 1),
        "largest difference after the inverse": float((inverse_2d(spectrum) - post).abs().max() / post.abs().max()),
    }


CLAIMS = (
    Claim(
        "mlp.arch",
        "the model",
        "One hidden layer, no attention, no biases: logits are ReLU((W_E[a] + W_E[b]) W_in) W_U.",
        "137,856 weights",
        _architecture,
        {"weights": equals(137_856), "names and shapes as stated": equals(1), "ReLU": equals(1)},
        needs=RUN,
        scope="any network",
    ),
    Claim(
        "mlp.dataset_shapes",
        "the task",
        "All 12,769 pairs, split by torch's random permutation of seed 0; the first five of each part are printed.",
        "3,830 and 8,939 pairs, the first (37, 1)",
        _data,
        {"train pairs": equals(3830), "test pairs": equals(8939), "first pairs as printed": equals(1)},
        needs=(),
        scope="any network",
    ),
    Claim(
        "mlp.loss_fn",
        "the task",
        "The loss is the cross-entropy of a log-softmax in float64.",
        "a definition",
        _loss,
        {
            "largest difference to torch's, in float64": at_most(1e-12),
            "losses that float32 rounds to 0": at_least(1),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        "mlp.test_acc",
        "sanity check",
        "The network is right on all pairs that were held out.",
        "1.0",
        each(_test_accuracy),
        {"test accuracy": at_least(0.999, "1.0 in the notebook")},
        needs=SEEDS,
        scope="any seed",
    ),
    Claim(
        "mlp.final_losses",
        "the training notebook",
        "It memorises, its test loss rises far above chance, and it groks within a few thousand epochs.",
        "train 1.0e-6, test 1.9e-5; test loss highest at 10.5, below 1e-2 near epoch 3,400",
        _losses,
        {
            "train loss": at_most(1e-5, "1.0e-6 in the author's checkpoint, times 10"),
            "test loss": at_most(1e-3, "1.9e-5 in the author's checkpoint, other seeds vary"),
            "grokking epoch": between(1_000, 10_000, "near 3,400 in the author's log"),
            "highest test loss": at_least(6, "10.5 in the author's log; chance is 4.73"),
        },
        needs=RUN,
        figure="curves",
    ),
    Claim(
        "mlp.fourier_basis",
        "Fourier basis",
        "An orthonormal basis over the residues: constant, sin 1, cos 1, sin 2, cos 2 and so on, the sine first.",
        "Const, Sin 1, Cos 1, Sin 2, Cos 2",
        _basis,
        {"largest entry of F F^T - 1": at_most(1e-5), "difference to the named rows": at_most(1e-5)},
        needs=(),
        scope="any network",
    ),
    Claim(
        "mlp.fft2d",
        "Fourier basis",
        "The transform over both inputs is a change of basis: it keeps the sum of squares and can be undone.",
        "a theorem",
        _transform,
        {"relative change of the sum of squares": at_most(1e-5), "largest difference after the inverse": at_most(1e-5)},
        needs=RUN,
        scope="any network",
    ),
)
