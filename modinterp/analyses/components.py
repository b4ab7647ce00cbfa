"""What happens when a whole component of the network is taken out (definition D8 and D9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import ActivationCache
from modinterp.analyses.ablations import accuracy_on, loss_on
from modinterp.analyses.attention import linear_pattern, linear_sigmoid, lookup_tables
from modinterp.analyses.neurons import NeuronFits, polynomial_neurons, sum_wave_neurons
from modinterp.analyses.readout import key_directions
from modinterp.analyses.shown import shown
from modinterp.models import Network

_ATTN_OUT, _MID, _POST = "blocks.0.hook_attn_out", "blocks.0.hook_resid_mid", "blocks.0.hook_resid_post"
_MLP_OUT = "blocks.0.hook_mlp_out"
_PATTERN = "blocks.0.attn.hook_pattern"


@dataclass(frozen=True)
class Ablation:
    """What is left of the network after an intervention.

    Attributes:
        loss, test_loss: over all pairs, and over those not trained on. [nats]
        accuracy: over all pairs.
        loss_ratio, test_loss_ratio: to the untouched network's.
    """

    loss: float
    test_loss: float
    accuracy: float
    loss_ratio: float
    test_loss_ratio: float


@shown
@dataclass(frozen=True)
class Ablations:
    """Interventions by name; `original` is none."""

    rows: Mapping[str, Ablation]

    def __getitem__(self, name: str) -> Ablation:
        return self.rows[name]

    def table(self) -> pd.DataFrame:
        """One row an intervention."""
        return pd.DataFrame([{"intervention": name} | vars(row) for name, row in self.rows.items()])


def component_interventions(grid: ActivationCache) -> dict[str, dict[str, Tensor]]:
    """Values to put in place of activations of a one-layer transformer, by the name of the intervention.

    Source: Nanda et al. 2023, appendices A.1 and C.1.3; the self-attention is taken out with and without
    renormalising.
    """
    pattern, model = grid[_PATTERN].double(), cast(Network, grid.model)
    tables = lookup_tables(model, len(pattern))
    without_self = pattern.clone()
    without_self[..., -1] = 0
    attn_out, mid, mlp_out = grid[_ATTN_OUT], grid[_MID], grid[_MLP_OUT]
    return {
        "attention to self zero": {_PATTERN: without_self},
        "attention to self zero, renormalised": {_PATTERN: without_self / without_self.sum(dim=-1, keepdim=True)},
        "sigmoid made linear": {_PATTERN: linear_pattern(tables, linear_sigmoid(tables, pattern))},
        "attention output zero": {_ATTN_OUT: torch.zeros_like(attn_out)},
        "skip around attention zero": {_MID: attn_out},
        "skip around MLP zero": {_POST: mlp_out},
        "skip around MLP mean": {_POST: mlp_out + mid.mean(dim=(0, 1))},
    }


def neuron_interventions(
    grid: ActivationCache, fits: NeuronFits, W_L: Float[Tensor, "neuron output"], freqs: Sequence[int]
) -> dict[str, dict[str, Tensor]]:
    """Values to put in place of the last layer's neurons, which W_L reads, by the name of the intervention.

    Source: Nanda et al. 2023, section 4.4.
    """
    hook = f"blocks.{len(cast(Network, grid.model).blocks) - 1}.mlp.hook_post"
    post = grid[hook].double()
    Q = key_directions(W_L.to(post), freqs)
    onto = post @ Q @ Q.T
    return {
        "neurons as polynomials": {hook: polynomial_neurons(post, fits)},
        "neurons as waves of a + b": {hook: sum_wave_neurons(post, freqs)},
        "neurons onto W_L directions": {hook: onto},
        "neurons off W_L directions": {hook: post - onto},
    }


def ablation(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    test: Int[Tensor, " test"] | None = None,
    original: Ablation | None = None,
) -> Ablation:
    """Loss and accuracy of changed logits.

    Args:
        test: rows of the inputs that were not trained on; without them test losses are NaN.
        original: the untouched network's, which ratios are taken to; None for the untouched network itself.
    """
    on_all, on_test = loss_on(logits, labels), float("nan") if test is None else loss_on(logits, labels, test)
    before_on_all, before_on_test = (on_all, on_test) if original is None else (original.loss, original.test_loss)
    right = accuracy_on(logits, labels)
    return Ablation(on_all, on_test, right, on_all / before_on_all, on_test / before_on_test)
