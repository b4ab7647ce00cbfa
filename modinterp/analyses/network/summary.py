"""Summarise a network that adds mod p in one row: sparsity, periodicity, and whether its last neurons suffice.

Source: Nanda et al. 2023, appendix C.2.3, tables 5 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import activations
from modinterp.analyses.attention.components import Ablation, ablation
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.ablations import excluded_logits, loss_on
from modinterp.analyses.fourier.cosine_sums import logit_fit
from modinterp.analyses.fourier.frequencies import KeyFrequencies, key_frequencies
from modinterp.analyses.fourier.readout import readoff
from modinterp.analyses.fourier.sparsity import fourier_gini
from modinterp.analyses.fourier.transforms import sums
from modinterp.models import Network
from modinterp.tasks import Task, cyclic


@dataclass(frozen=True)
class Summary:
    """The numbers of tables 5 and 6 of Nanda et al. 2023 for one network; its neurons are those of the last layer.

    Attributes:
        keys: frequencies that stand out of W_L.
        gini_W_E, gini_W_L: Gini coefficients of the Fourier components of W_E and W_L (definition D7).
        logit_fve: fraction of the logits' variance that one cosine of a + b - c for each key frequency explains
            (definition D4-logit).
        direction_fves: fraction of the neurons' variance along each direction of W_L at the key frequencies that one
            wave of a + b explains (definition D4-dir).
        excluded_loss: loss without the key frequencies, over the training pairs, or over all pairs if the split is
            unknown. [nats]
        original: loss and accuracy of the network over all pairs.
        without_skip: loss and accuracy over all pairs with the mean over all inputs in place of the last MLP's skip
            connection.
    """

    keys: KeyFrequencies
    gini_W_E: float
    gini_W_L: float
    logit_fve: float
    direction_fves: tuple[float, ...]
    excluded_loss: float
    original: Ablation
    without_skip: Ablation

    @property
    def mean_fve(self) -> float:
        """Mean fraction of variance explained along the directions of W_L."""
        return float(torch.tensor(self.direction_fves, dtype=torch.float64).mean())

    @property
    def sd_fve(self) -> float:
        """Sample standard deviation of the fraction of variance explained over the directions of W_L."""
        return float(torch.tensor(self.direction_fves, dtype=torch.float64).std())


@checked
def without_skip(
    logits: Float[Tensor, "a b output"], mid: Float[Tensor, "a b d_model"], W_U: Float[Tensor, "d_model output"]
) -> Float[Tensor, "a b output"]:
    """Return the logits with the last MLP's skip connection replaced by its mean over all inputs.

    After the last MLP the network is affine, so the logits change by the difference times W_U.

    Args:
        mid: residual stream before the last MLP, `hook_resid_mid`.
    Source: Nanda et al. 2023, table 6 (definition D9).
    """
    return logits + (mid.mean(dim=(0, 1)) - mid) @ W_U


@checked
def summary(network: Network, task: Task, train: Int[Tensor, " row"] | None = None) -> Summary:
    """Return the summary of a network that adds mod p, from its weights and its activations on all inputs.

    The network runs in its own precision, which does not affect the results noticeably. The numbers are computed in
    float64.

    Args:
        train: rows of `Task.inputs()` used for training; all rows by default.
    """
    last, p, labels = f"blocks.{len(network.blocks) - 1}", task.output_sizes[0], task.labels()
    grid = activations(network, task, (f"{last}.mlp.hook_post", f"{last}.hook_resid_mid"), precise=False)
    logits, post, mid = grid["logits"].double(), grid[f"{last}.mlp.hook_post"], grid[f"{last}.hook_resid_mid"].double()
    W_E, W_L, W_U, sign = network.W_E[:p].detach(), network.W_L, network.W_U.detach().double(), 1
    if (found := cyclic(task)) is not None and (found.is_renamed or found.sign < 0):
        order, sign, labels = found.order.to(logits.device), found.sign, sums(found.n, found.sign).reshape(-1, 1)
        logits, post, mid = found.arranged(logits, True), found.arranged(post), found.arranged(mid)
        W_E, W_L, W_U = W_E[order], W_L[:, order], W_U[:, order]
        train = None if train is None else found.rows(train, p)
    keys = key_frequencies(W_L)
    rows = readoff(post, W_L, keys.freqs, sign).rows
    original = ablation(logits, labels)
    skipless = without_skip(logits, mid, W_U)
    return Summary(
        keys=keys,
        gini_W_E=fourier_gini(W_E),
        gini_W_L=fourier_gini(W_L.T),
        logit_fve=logit_fit(logits, keys.freqs, sign).explained,
        direction_fves=tuple(row.explained for row in rows),
        excluded_loss=loss_on(excluded_logits(logits, keys.freqs, sign=sign), labels, train),
        original=original,
        without_skip=ablation(skipless, labels, original=original),
    )
