"""Compare the MLP of a one-layer transformer with an affine map, by several measures.

Source: the blog post on the Clock algorithm, section 8, which contradicts Nanda et al. 2023 (claim
`clock.s8.mlp_affine`, X-A1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import pandas as pd
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import ActivationCache, logits_with
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.ablations import accuracy_on, loss_on
from modinterp.analyses.fourier.neurons import term_shares
from modinterp.analyses.fourier.transforms import sum_waves
from modinterp.analyses.meanings import Holds
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import affine_fit, fraction_explained, fraction_explained_by_column
from modinterp.models import Network
from modinterp.tasks import Task

MID, PRE, POST = "blocks.0.hook_resid_mid", "blocks.0.mlp.hook_pre", "blocks.0.mlp.hook_post"


@printable
@dataclass(frozen=True)
class Linearity:
    """Measures of how well an affine map could replace an MLP.

    Attributes:
        negative: share of the pre-activations below 0, over all inputs and neurons.
        line_explained: mean over neurons of the R squared of a neuron's output as a line in its own pre-activation.
        affine_explained: R squared of the neurons' outputs as the best affine map of the residual stream before them.
        affine_accuracy, affine_loss: accuracy and loss [nats] of the network with this affine map in place of the
            neurons.
        identity_accuracy, identity_loss: accuracy and loss [nats] of the network without the neurons' nonlinearity.
        products: share of the variance in products of a wave of a and a wave of b with one frequency, by activation.
        decodability: R squared of cos and sin of w(a + b) as an affine map of the residual stream before the MLP, by
            frequency. [cycles per p]
    """

    negative: float
    line_explained: float
    affine_explained: float
    affine_accuracy: float
    affine_loss: float
    identity_accuracy: float
    identity_loss: float
    products: Mapping[str, float]
    decodability: Mapping[int, float]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each measure of the battery."""
        rows: list[tuple[str, float]] = [
            ("pre-activations below 0", self.negative),
            ("mean R squared of a line that predicts a neuron from its pre-activation", self.line_explained),
            ("R squared of the neurons as an affine map of the residual stream", self.affine_explained),
            ("accuracy with that affine map in place of the neurons", self.affine_accuracy),
            ("loss with it [nats]", self.affine_loss),
            ("accuracy without the nonlinearity", self.identity_accuracy),
            ("loss without it [nats]", self.identity_loss),
            *((f"share of products in {place}", share) for place, share in self.products.items()),
            *(
                (f"R squared of cos, sin(w{k} (a + b)) from the residual stream before the MLP", r)
                for k, r in self.decodability.items()
            ),
        ]
        return pd.DataFrame(rows, columns=["quantity", "value"])


@checked
def linearity(
    grid: Annotated[ActivationCache, Holds((MID, PRE, POST, "logits"))],
    task: Task,
    labels: Int[Tensor, "input 1"],
    freqs: Sequence[int],
) -> Linearity:
    """Measure how much of a one-layer transformer's MLP an affine map could replace.

    Args:
        grid: activations on all inputs, from `modinterp.activations.activations`.
        labels: `Task.labels()`.
        freqs: frequencies whose waves of a + b are decoded from the residual stream before the MLP. [cycles per p]
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    mid, pre, post = grid[MID], grid[PRE], grid[POST]
    affine = affine_fit(mid, post)
    outcomes = {name: _outcome(grid, task, labels, value) for name, value in (("affine", affine), ("identity", pre))}
    places = {"residual stream before the MLP": mid, "pre-activations": pre, "neurons": post, "logits": grid["logits"]}
    return Linearity(
        negative=float((pre < 0).double().mean()),
        line_explained=float(line_explained(pre, post).nanmean()),
        affine_explained=fraction_explained_by_column(post, affine),
        affine_accuracy=outcomes["affine"][0],
        affine_loss=outcomes["affine"][1],
        identity_accuracy=outcomes["identity"][0],
        identity_loss=outcomes["identity"][1],
        products={place: term_shares(field).products for place, field in places.items()},
        decodability={freq: decodability(mid, freq) for freq in freqs},
    )


def _outcome(grid: ActivationCache, task: Task, labels: Tensor, post: Tensor) -> tuple[float, float]:
    """Return accuracy and loss [nats] of the network with other values in place of the neurons."""
    logits = logits_with(cast(Network, grid.model), task, {POST: post}, grid)
    return accuracy_on(logits, labels), loss_on(logits, labels)


@checked
def line_explained(pre: Float[Tensor, "a b neuron"], post: Float[Tensor, "a b neuron"]) -> Float[Tensor, " neuron"]:
    """R squared of each neuron's output as a line in its own pre-activation; NaN for a constant neuron."""
    x, y = (t.double().flatten(0, 1) for t in (pre, post))
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    return (x * y).sum(dim=0).square() / (x.square().sum(dim=0) * y.square().sum(dim=0))


@checked
def decodability(x: Float[Tensor, "a b d"], freq: int) -> float:
    """R squared of cos and sin of w(a + b) as the best affine map of activations x.

    Args:
        freq: frequency of the waves, from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: freq outside 1..p // 2.
    """
    waves = sum_waves(len(x), freq).to(x.device).movedim(0, -1)
    return fraction_explained(waves, affine_fit(x, waves))
