"""Build networks from cosines; evaluate a network with part of its neurons or another nonlinearity sigma."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.fourier.transforms import sums
from modinterp.interventions.effects import answers_moved
from modinterp.models import ACTIVATIONS
from modinterp.sources.he.neuron_waves import NeuronWaves, angles

Sigma = Callable[[Tensor], Tensor]
BLOCK = 1_024  # pairs at a time, so that little memory is taken


def pair_logits(
    theta: Float[Tensor, "neuron residue"], xi: Float[Tensor, "neuron residue"], sigma: Sigma
) -> Float[Tensor, "x y j"]:
    """Return the logits of all pairs: the sum over neurons of xi[j] sigma(theta[x] + theta[y]), in float64."""
    p = theta.shape[1]
    read, written, logits = theta.double().T, xi.double(), theta.new_empty(p, p, p, dtype=torch.float64)
    x, y = torch.triu_indices(p, p)  # the logits of (y, x) are those of (x, y)
    for a, b in zip(x.split(BLOCK), y.split(BLOCK), strict=True):
        logits[a, b] = logits[b, a] = sigma(read[a] + read[b]) @ written
    return logits


def accuracy(logits: Float[Tensor, "x y j"]) -> float:
    """Return the share of the pairs for which the logit of x + y is the largest."""
    return float(answers_moved(logits).double().mean())


def loss(logits: Float[Tensor, "x y j"]) -> float:
    """Return the mean cross-entropy over all pairs. [nats]"""
    return float(torch.nn.functional.cross_entropy(logits.flatten(0, 1).double(), sums(len(logits)).flatten()))


def sigma_of(waves: NeuronWaves) -> Sigma:
    """Return the nonlinearity sigma with which the network was trained."""
    return ACTIVATIONS["square" if waves.power == 2 else "relu"]


def own_logits(waves: NeuronWaves) -> Float[Tensor, "x y j"]:
    """Return the logits of the network itself, in float64."""
    return pair_logits(waves.theta, waves.xi, sigma_of(waves))


def cosines(waves: NeuronWaves, phi: Float[Tensor, " neuron"]) -> tuple[Tensor, Tensor]:
    """Replace each neuron by one cosine at its frequency, with mean amplitudes: input phase phi, output phase 2 phi."""
    turned = angles(waves.p)[waves.winner]
    return (
        waves.alpha.mean() * (turned + phi.unsqueeze(1)).cos(),
        waves.beta.mean() * (turned + 2 * phi.unsqueeze(1)).cos(),
    )


def own_cosines(waves: NeuronWaves) -> tuple[Tensor, Tensor]:
    """Return the cosines at each neuron's winning frequency in its input and output weights, with the neuron's
    amplitudes and phases.
    """
    turned, psi = angles(waves.p)[waves.winner], waves.at_winner(waves.written.angle())
    read, written = ((turned + phase.unsqueeze(1)).cos() for phase in (waves.phi, psi))
    return waves.alpha.unsqueeze(1) * read, waves.beta.unsqueeze(1) * written


def evenly_spread(p: int, per_frequency: int, arc: float = 2 * torch.pi, start: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return a network of cosines with amplitude 1: equally many neurons for every frequency, with evenly spread
    phases.

    Args:
        arc: part of the circle over which the phases are spread; the end of the arc is left out. [rad]
        start: phase of the first neuron of each frequency. [rad]
    """
    phi = start + arc / per_frequency * torch.arange(per_frequency).double()
    turned = angles(p).unsqueeze(1)
    read, written = (turned + phi.view(1, -1, 1)).cos(), (turned + 2 * phi.view(1, -1, 1)).cos()
    return read.flatten(0, 1), written.flatten(0, 1)
