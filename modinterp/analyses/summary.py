"""A network that adds mod p in one row: how sparse, how periodic, and whether its neurons are all it needs.

Source: Nanda et al. 2023, appendix C.2.3, tables 5 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import activations
from modinterp.analyses.ablations import excluded_loss
from modinterp.analyses.components import Ablation, ablation
from modinterp.analyses.cosine_sums import logit_fit
from modinterp.analyses.frequencies import KeyFrequencies, key_frequencies
from modinterp.analyses.progress import fourier_gini
from modinterp.analyses.readout import readoff
from modinterp.models import Network
from modinterp.tasks import Task


@dataclass(frozen=True)
class Summary:
    """What tables 5 and 6 of the paper say of a network; of several layers the last one's neurons are meant.

    Attributes:
        keys: frequencies that stand out of W_L.
        gini_W_E, gini_W_L: Gini coefficients of the Fourier components (definition D7).
        logit_fve: share of the logits' variance that one cosine of a + b - c a key frequency explains (D4-logit).
        direction_fves: share of the neurons' variance along every direction of W_L at the key frequencies that one wave
            of a + b explains (D4-dir).
        excluded_loss: without the key frequencies, over the pairs trained on, or over all where they are not known.
            [nats]
        whole, without_skip: loss and accuracy over all pairs; `without_skip` with the mean in place of what goes around
            the last MLP.
    """

    keys: KeyFrequencies
    gini_W_E: float
    gini_W_L: float
    logit_fve: float
    direction_fves: tuple[float, ...]
    excluded_loss: float
    whole: Ablation
    without_skip: Ablation

    @property
    def mean_fve(self) -> float:
        """Of the directions."""
        return float(torch.tensor(self.direction_fves, dtype=torch.float64).mean())

    @property
    def sd_fve(self) -> float:
        """Standard deviation over the directions, of the sample."""
        return float(torch.tensor(self.direction_fves, dtype=torch.float64).std())


def without_skip(
    logits: Float[Tensor, "a b output"], mid: Float[Tensor, "a b d_model"], W_U: Float[Tensor, "d_model output"]
) -> Float[Tensor, "a b output"]:
    """Logits with the mean over all inputs in place of what goes around the last MLP.

    From there on the network is affine, so the logits change by what W_U makes of the difference.

    Args:
        mid: residual stream before the last MLP.
    Source: Nanda et al. 2023, table 6 (definition D9).
    """
    return logits + (mid.mean(dim=(0, 1)) - mid) @ W_U


def summary(network: Network, task: Task, train: Int[Tensor, " train"] | None = None) -> Summary:
    """Measure a network that adds mod p, from its weights and all its inputs.

    Args:
        train: rows of the inputs that were trained on.
    """
    last, p, labels = f"blocks.{len(network.blocks) - 1}", task.heads[0], task.labels()
    grid = activations(network, task, (f"{last}.mlp.hook_post", f"{last}.hook_resid_mid"))
    logits, W_L, keys = grid["logits"], network.W_L, key_frequencies(network.W_L)
    rows = readoff(grid[f"{last}.mlp.hook_post"], W_L, keys.freqs).rows
    whole = ablation(logits, labels)
    left = without_skip(logits, grid[f"{last}.hook_resid_mid"], network.W_U.detach().double())
    return Summary(
        keys,
        fourier_gini(network.W_E[:p].detach()),
        fourier_gini(W_L.T),
        logit_fit(logits, keys.freqs).explained,
        tuple(row.explained for row in rows),
        excluded_loss(logits, labels, keys.freqs, torch.arange(len(labels)) if train is None else train),
        whole,
        ablation(left, labels, original=whole),
    )
