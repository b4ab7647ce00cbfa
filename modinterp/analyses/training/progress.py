"""Compute progress measures of a network at every snapshot: restricted and excluded losses, sparsity, weight norm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from jaxtyping import Int
from torch import Tensor

from modinterp.activations import logits_on_grid
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.ablations import (
    accuracy_on,
    excluded_logits,
    loss_on,
    loss_without_each,
    restricted_logits,
    without_each_on,
)
from modinterp.analyses.fourier.cosine_sums import cosine_coefficients
from modinterp.analyses.fourier.sparsity import fourier_gini
from modinterp.analyses.fourier.transforms import sums
from modinterp.models import Network
from modinterp.tasks import ModularArithmetic, Split, Task, cyclic
from modinterp.training import accuracy, cross_entropy


@checked
def progress_at(network: Network, task: Task, split: Split, freqs: Sequence[int]) -> dict[str, float]:
    """Return all progress measures of one network, by name.

    Losses are in nats. Losses of the restricted and the excluded logits are measured over all pairs, over the training
    pairs, and over the held-out pairs. The paper's code uses `restricted_loss_all` and `excluded_loss_train`. Waves are
    functions of a + b, of a - b for a network that subtracts, and of the sum of discrete logarithms for a * b.
    `excluded_loss_k` and `excluded_accuracy_k`, over the training pairs, leave out only frequency k; `cos_k` is the
    coefficient of cos(w_k(a + b - c)) in the logits.

    Args:
        task: the task of the network.
        split: the training inputs and the test inputs.
        freqs: the key frequencies of the finished network, the same at every epoch.
    Raises:
        ValueError: the answers of the operation mod p are not waves of a + b or a - b.
    Source: Nanda et al. 2023, section 5.1, figures 7, 13, 14 and 15.
    """
    found = cyclic(task)
    if isinstance(task, ModularArithmetic) and found is None:
        raise ValueError(f"task must be an addition or a subtraction, got {task.name}")
    labels, logits = task.labels(), logits_on_grid(network, task).double()
    W_E, W_L, sign = network.W_E[: task.output_sizes[0]].detach(), network.W_L, 1
    if found is not None:
        size, order = task.output_sizes[0], found.order.to(logits.device)
        labels, logits, sign = sums(found.n, found.sign).reshape(-1, 1), found.arranged(logits, True), found.sign
        W_E, W_L = W_E[order], W_L[:, order]
        split = Split(found.rows(split.train, size), found.rows(split.test, size))
    subsets = {"all": None, "train": split.train, "test": split.test}
    restricted, excluded = restricted_logits(logits, freqs, sign=sign), excluded_logits(logits, freqs, sign=sign)
    answers = labels[split.train, 0].to(logits.device)
    single = dict(zip(freqs, without_each_on(logits, freqs, split.train, sign), strict=True))
    return {
        "train_loss": loss_on(logits, labels, split.train),
        "test_loss": loss_on(logits, labels, split.test),
        "train_accuracy": accuracy_on(logits, labels, split.train),
        "test_accuracy": accuracy_on(logits, labels, split.test),
        **{f"restricted_loss_{name}": loss_on(restricted, labels, rows) for name, rows in subsets.items()},
        "restricted_accuracy": accuracy_on(restricted, labels),
        **{f"excluded_loss_{name}": loss_on(excluded, labels, rows) for name, rows in subsets.items()},
        **{f"excluded_loss_{k}": cross_entropy(some, answers).item() for k, some in single.items()},
        **{f"excluded_accuracy_{k}": accuracy(some, answers) for k, some in single.items()},
        "gini_W_E": fourier_gini(W_E),
        "gini_W_L": fourier_gini(W_L.T),
        "sum_of_squares_W_E": float(network.W_E.detach().double().square().sum()),
        "sum_of_squared_weights": sum(float(w.detach().double().square().sum()) for w in network.parameters()),
        **{f"cos_{k}": float(c) for k, c in zip(freqs, cosine_coefficients(logits, freqs, sign), strict=True)},
    }


@checked
def progress_measures(
    networks: Iterable[tuple[int, Network]], task: Task, split: Split, freqs: Sequence[int]
) -> pd.DataFrame:
    """Return a table of progress measures (see `progress_at`) over one training, with one row per snapshot.

    Args:
        networks: pairs of epoch and network for each snapshot, in order; only one network is in memory at a time.
        task: the task of the networks.
        split: the training inputs and the test inputs.
        freqs: the key frequencies of the finished network.
    """
    return pd.DataFrame([{"epoch": epoch} | progress_at(network, task, split, freqs) for epoch, network in networks])


@checked
def distance_of_weights(network: Network, other: Network) -> float:
    """Return the distance between the weights of two networks of one shape, divided by the norm of the other's weights.

    The distance is 0 for equal weights, and about 1.4 for two independent networks of equal norm.

    Raises:
        ValueError: the networks have different shapes.
    """
    theirs = dict(other.named_parameters())
    ours = dict(network.named_parameters())
    if {name: w.shape for name, w in ours.items()} != {name: w.shape for name, w in theirs.items()}:
        raise ValueError("other must be a network of the same shape as the first, got a network of another shape")
    squared = sum(
        float((w.detach().double() - theirs[name].detach().double()).square().sum()) for name, w in ours.items()
    )
    return (squared / sum(float(w.detach().double().square().sum()) for w in theirs.values())) ** 0.5


@checked
def largest_single_exclusion(
    networks: Iterable[tuple[int, Network]], task: Task, train: Int[Tensor, " row"]
) -> pd.DataFrame:
    """Return the largest excluded loss of a single frequency over training, a measure that needs no key frequencies.

    Args:
        networks: pairs of epoch and network for each snapshot, in order; only one network is in memory at a time.
        task: the task of the networks.
        train: rows of `Task.inputs()` used for training.
    Returns:
        one row for each snapshot: `epoch`; `excluded_loss_train`, the largest loss without a single frequency [nats];
            `freq`, this frequency [cycles per p].
    Source: Nanda et al. 2023, appendix C.2, footnote 3.
    """
    labels, rows, found = task.labels(), [], cyclic(task)
    if found is not None:
        labels, train = sums(found.n, found.sign).reshape(-1, 1), found.rows(train, task.output_sizes[0])
    for epoch, network in networks:
        logits = logits_on_grid(network, task)
        in_order, sign = (logits, 1) if found is None else (found.arranged(logits, True), found.sign)
        losses = loss_without_each(in_order, labels, "sums", sign, rows=train)
        rows.append({"epoch": epoch, "excluded_loss_train": float(losses.max()), "freq": int(losses.argmax()) + 1})
    return pd.DataFrame(rows)
