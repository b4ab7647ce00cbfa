"""Progress measures: what goes on inside a network while its test loss stands still."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import logits_on_grid
from modinterp.analyses.ablations import accuracy_on, excluded_logits, loss_on, loss_without_each, restricted_logits
from modinterp.analyses.cosine_sums import cosine_coefficients
from modinterp.analyses.fourier import component_norms
from modinterp.models import Network
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic, Split, Task
from modinterp.tasks.modular import SIGNS


def gini(x: Float[Tensor, " n"]) -> float:
    """Gini coefficient of non-negative numbers: 0 when all are equal, 1 - 1/n when all but one vanish.

    G = 1 - 2 sum_i (x_(i) / sum x) (n - i + 1/2) / n over the sorted numbers. NaN where all are zero.

    Source: Hurley and Rickard 2009; Nanda et al. 2023, section 5.1 (definition D7).

    >>> gini(torch.tensor([0.0, 0.0, 0.0, 1.0]))
    0.75
    """
    ordered = x.double().sort().values
    if (ordered < 0).any():
        raise ValueError("the Gini coefficient is that of non-negative numbers")
    n, total = len(ordered), ordered.sum()
    rank = torch.arange(1, n + 1, dtype=torch.float64, device=x.device)
    return float(1 - 2 * (ordered / total * (n - rank + 0.5) / n).sum())


def fourier_gini(x: Float[Tensor, "residue *rest"]) -> float:
    """Gini coefficient of the norms of the Fourier components of a matrix's rows, the constant left out.

    Source: Nanda et al. 2023, figure 7 bottom left.
    """
    return gini(component_norms(x)[1:])


def progress_at(network: Network, task: Task, split: Split, freqs: Sequence[int]) -> dict[str, float]:
    """All progress measures of one network.

    Losses in nats. Those of the restricted and the excluded logits are taken over all pairs, over the pairs trained on
    and over the others; the paper's code means `restricted_loss_all` and `excluded_loss_train`. Waves are those of
    a + b, or of a - b for a network that subtracts. `excluded_loss_k` and
    `excluded_accuracy_k` (trained on) leave out frequency k alone; `cos_k` is the coefficient of cos(w_k(a + b - c))
    in the logits.

    Args:
        freqs: the key frequencies of the finished network, the same at every epoch.
    Source: Nanda et al. 2023, section 5.1, figures 7, 13, 14 and 15.
    """
    labels = task.labels()
    logits = logits_on_grid(network, task).double()
    subsets = {"all": None, "train": split.train, "test": split.test}
    sign = SIGNS[task.op] if isinstance(task, ModularArithmetic) else 1
    restricted, excluded = restricted_logits(logits, freqs, sign=sign), excluded_logits(logits, freqs, sign=sign)
    single = {k: excluded_logits(logits, [k], sign=sign) for k in freqs}
    return {
        "train_loss": loss_on(logits, labels, split.train),
        "test_loss": loss_on(logits, labels, split.test),
        "train_accuracy": accuracy_on(logits, labels, split.train),
        "test_accuracy": accuracy_on(logits, labels, split.test),
        **{f"restricted_loss_{name}": loss_on(restricted, labels, rows) for name, rows in subsets.items()},
        "restricted_accuracy": accuracy_on(restricted, labels),
        **{f"excluded_loss_{name}": loss_on(excluded, labels, rows) for name, rows in subsets.items()},
        **{f"excluded_loss_{k}": loss_on(some, labels, split.train) for k, some in single.items()},
        **{f"excluded_accuracy_{k}": accuracy_on(some, labels, split.train) for k, some in single.items()},
        "gini_W_E": fourier_gini(network.W_E[: task.heads[0]].detach()),
        "gini_W_L": fourier_gini(network.W_L.T),
        "sum_of_squares_W_E": float(network.W_E.detach().double().square().sum()),
        "sum_of_squared_weights": sum(float(w.detach().double().square().sum()) for w in network.parameters()),
        **{f"cos_{k}": float(c) for k, c in zip(freqs, cosine_coefficients(logits, freqs, sign), strict=True)},
    }


def progress_measures(run: TrainedRun, freqs: Sequence[int], epochs: Iterable[int] | None = None) -> pd.DataFrame:
    """`progress_at` for the run's snapshots, one row an epoch.

    Args:
        freqs: the key frequencies of the finished network.
        epochs: which snapshots; all by default.
    """
    chosen = run.snapshots if epochs is None else epochs
    return pd.DataFrame([{"epoch": e} | progress_at(run.at(e), run.task, run.split, freqs) for e in chosen])


def largest_single_exclusion(run: TrainedRun, epochs: Iterable[int] | None = None) -> pd.DataFrame:
    """A progress measure that knows no key frequencies: the loss without that one frequency which is missed the most.

    Args:
        epochs: which snapshots; all by default.
    Returns:
        a row an epoch: `excluded_loss_train`, the largest over all frequencies of the excluded loss [nats], and `freq`.
    Source: Nanda et al. 2023, appendix C.2, footnote 3.
    """
    labels, rows = run.task.labels(), []
    for epoch in run.snapshots if epochs is None else epochs:
        each = loss_without_each(logits_on_grid(run.at(epoch), run.task), labels, "sums", rows=run.split.train)
        rows.append({"epoch": epoch, "excluded_loss_train": float(each.max()), "freq": int(each.argmax()) + 1})
    return pd.DataFrame(rows)
