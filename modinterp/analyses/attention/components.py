"""Ablate whole components: loss and accuracy with attention, MLP, skips or neurons replaced (D8 and D9)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, cast

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import ActivationCache
from modinterp.analyses.attention.heads import linear_pattern, linear_sigmoid, lookup_tables
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.ablations import accuracy_on, each_loss_on
from modinterp.analyses.fourier.neurons import NeuronFits, polynomial_neurons, sum_wave_neurons
from modinterp.analyses.fourier.readout import key_directions
from modinterp.analyses.meanings import Holds
from modinterp.analyses.printing import printable
from modinterp.models import Network

# names of TransformerLens hooks
_ATTN_OUT, _MID, _POST = "blocks.0.hook_attn_out", "blocks.0.hook_resid_mid", "blocks.0.hook_resid_post"
_MLP_OUT = "blocks.0.hook_mlp_out"
_PATTERN = "blocks.0.attn.hook_pattern"


@dataclass(frozen=True)
class Ablation:
    """Loss and accuracy of a network under an intervention.

    Attributes:
        loss: mean cross-entropy over all pairs (a, b). [nats]
        test_loss: mean cross-entropy over the held-out pairs; NaN if these are unknown. [nats]
        accuracy: share of all pairs answered correctly, in [0, 1].
        loss_ratio, test_loss_ratio: the two losses divided by the losses of the network without intervention.
    """

    loss: float
    test_loss: float
    accuracy: float
    loss_ratio: float
    test_loss_ratio: float


@printable
@dataclass(frozen=True)
class Ablations:
    """Loss and accuracy of one network under several interventions.

    Attributes:
        rows: map from the name of an intervention to its outcome; `original` is the network without intervention.
    """

    rows: Mapping[str, Ablation]
    FORMERLY: ClassVar[Mapping[str, str]] = {  # in what was recorded before; the answer may be a - b
        "neurons as waves of a + b": "neurons as waves of the answer"
    }

    def __getitem__(self, name: str) -> Ablation:
        return self.rows[name]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each intervention."""
        return pd.DataFrame([{"intervention": name} | vars(row) for name, row in self.rows.items()])


@checked
def component_interventions(
    grid: Annotated[ActivationCache, Holds((_PATTERN, _ATTN_OUT, _MID, _MLP_OUT))],
) -> dict[str, dict[str, Tensor]]:
    """Return interventions on attention and skips of a one-layer transformer: the new value at each hook, by name.

    Attention to the last position itself is zeroed with and without renormalising the pattern.

    Args:
        grid: activations on all inputs, from `modinterp.activations.activations`.
    Source: Nanda et al. 2023, appendices A.1 and C.1.3.
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
        "attention output mean": {_ATTN_OUT: attn_out.mean(dim=(0, 1)).expand_as(attn_out)},
        "skip around attention zero": {_MID: attn_out},
        "skip around MLP zero": {_POST: mlp_out},
        "skip around MLP mean": {_POST: mlp_out + mid.mean(dim=(0, 1))},
    }


@checked
def neuron_interventions(
    post: Float[Tensor, "a b neuron"],
    fits: NeuronFits,
    W_L: Float[Tensor, "neuron output"],
    freqs: Sequence[int],
    sign: int = 1,
) -> dict[str, Float[Tensor, "a b neuron"]]:
    """Return interventions on the neurons of the last layer, which W_L reads: the new activations, by name.

    Args:
        post: activations after the nonlinearity.
        fits: fits of the neurons, from `modinterp.analyses.fourier.neurons.neuron_fits`.
        freqs: key frequencies. [cycles per p]
        sign: 1 for waves of a + b, -1 for waves of a - b.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.4.
    """
    post = post.double()
    Q = key_directions(W_L.to(post), freqs)
    onto = post @ Q @ Q.T
    return {
        "neurons as polynomials": polynomial_neurons(post, fits),
        "neurons as waves of the answer": sum_wave_neurons(post, freqs, sign),
        "neurons onto W_L directions": onto,
        "neurons off W_L directions": post - onto,
    }


@checked
def ablation(
    logits: Float[Tensor, "a b output"],
    labels: Int[Tensor, "input 1"],
    test: Int[Tensor, " row"] | None = None,
    original: Ablation | None = None,
) -> Ablation:
    """Return the loss and accuracy of a network's logits under an intervention, and their ratios to the original
    losses.

    Args:
        logits: logits under the intervention.
        labels: `Task.labels()`.
        test: held-out rows of `Task.inputs()`; without these rows the test losses are NaN.
        original: outcome without intervention, whose losses are the denominators of the ratios; None if `logits` are
            the original logits.
    """
    losses = each_loss_on(logits, labels)
    on_all, on_test = float(losses.mean()), math.nan if test is None else float(losses[test.to(losses.device)].mean())
    before_on_all, before_on_test = (on_all, on_test) if original is None else (original.loss, original.test_loss)
    accuracy = accuracy_on(logits, labels)
    return Ablation(on_all, on_test, accuracy, _ratio(on_all, before_on_all), _ratio(on_test, before_on_test))


def _ratio(loss: float, original: float) -> float:
    """Return a loss divided by the original loss; NaN if the original loss is 0, which meets no tolerance."""
    return loss / original if original else math.nan
