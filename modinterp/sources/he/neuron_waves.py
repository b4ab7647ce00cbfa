"""Compute amplitudes and phases of the waves in each neuron's input and output weights, in a one-hot network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.models import MLPConfig, Network
from modinterp.runs import NotRecorded

TURN = 2 * torch.pi


def check_shape(m: CyclicMeasurements) -> MLPConfig:
    """Return the configuration of a network of the form f(x, y) = sum of xi sigma(theta[x] + theta[y]).

    Raises:
        NoSuchPart: the network does not have the form that the audit of waves needs.
    """
    config = m.config
    is_sum = isinstance(config, MLPConfig) and config.joined == "sum" and config.n_layers == 1
    if not isinstance(config, MLPConfig) or not is_sum or config.mlp_biases or config.unembed_bias or config.n_ctx != 2:
        raise NoSuchPart(
            f"{m.name} is not a network of one hidden layer without biases that reads the sum of two tokens"
        )
    return config


def angles(p: int) -> Float[Tensor, "freq residue"]:
    """Return the angles 2 pi k j / p for k = 1, ..., (p - 1) / 2. [rad]"""
    k, j = torch.arange(1, (p - 1) // 2 + 1), torch.arange(p)
    return TURN / p * (torch.outer(k, j) % p).double()


def spectrum(rows: Float[Tensor, "row residue"]) -> Complex[Tensor, "row freq"]:
    """Return the complex amplitude A_k of every frequency, where row[j] = sum over k of abs(A_k) cos(w_k j + arg A_k)
    plus a constant.
    """
    p = rows.shape[1]
    return torch.fft.fft(rows.double(), dim=1)[:, 1 : (p - 1) // 2 + 1] * (2 / p)


def wrapped(angle: Tensor) -> Tensor:
    """Return the angles shifted by whole turns into [-pi, pi). [rad]"""
    return (angle + torch.pi) % TURN - torch.pi


@dataclass(frozen=True)
class NeuronWaves:
    """The amplitudes and phases of the waves in all neurons' weights of one network.

    Attributes:
        theta, xi: input and output weights of each neuron, `[neuron, residue]`.
        power: degree of the network's nonlinearity: 2 for the square, 1 for the ReLU.
    """

    theta: Float[Tensor, "neuron residue"]
    xi: Float[Tensor, "neuron residue"]
    power: int

    @classmethod
    def of(cls, network: Network) -> NeuronWaves:
        """Return the waves in the neurons' weights of a network whose shape `check_shape` has accepted."""
        theta = network.W_E.detach().double() @ network.blocks[0].mlp.W_in.detach().double()
        return cls(theta.T.cpu(), network.W_U.detach().double().cpu(), 2 if network.cfg.act_fn == "square" else 1)

    @property
    def p(self) -> int:
        """The modulus."""
        return self.theta.shape[1]

    @cached_property
    def read(self) -> Complex[Tensor, "neuron freq"]:
        """Return the spectrum of the input weights theta of every neuron."""
        return spectrum(self.theta)

    @cached_property
    def written(self) -> Complex[Tensor, "neuron freq"]:
        """Return the spectrum of the output weights xi of every neuron."""
        return spectrum(self.xi)

    @cached_property
    def winner(self) -> Int[Tensor, " neuron"]:
        """Index, from 0, of each neuron's winning frequency, which has the largest amplitude in its input weights."""
        return self.read.abs().argmax(dim=1)

    def at_winner(self, x: Tensor) -> Tensor:
        """Return, for each neuron, the entry of its row at its winning frequency."""
        return x.gather(1, self.winner.unsqueeze(1)).squeeze(1)

    @cached_property
    def alpha(self) -> Float[Tensor, " neuron"]:
        """Amplitude of each neuron's input weights at the neuron's winning frequency."""
        return self.at_winner(self.read.abs())

    @cached_property
    def beta(self) -> Float[Tensor, " neuron"]:
        """Amplitude of each neuron's output weights at the neuron's winning frequency."""
        return self.at_winner(self.written.abs())

    @cached_property
    def phi(self) -> Float[Tensor, " neuron"]:
        """Phase of each neuron's input weights at the winning frequency. [rad]"""
        return self.at_winner(self.read.angle())

    @cached_property
    def misalignments(self) -> Float[Tensor, "neuron freq"]:
        """Return the misalignments D = 2 phi - psi of every neuron at every frequency, in [-pi, pi). [rad]"""
        return wrapped(2 * self.read.angle() - self.written.angle())

    @cached_property
    def D(self) -> Float[Tensor, " neuron"]:
        """Return the misalignment 2 phi - psi of each neuron at its winning frequency. [rad]"""
        return self.at_winner(self.misalignments)

    @cached_property
    def share_read(self) -> Float[Tensor, " neuron"]:
        """Return the share of the energy of theta, without its constant, at each neuron's winning frequency."""
        energy = self.read.abs().square()
        return self.at_winner(energy) / energy.sum(dim=1)

    @cached_property
    def share_written(self) -> Float[Tensor, " neuron"]:
        """Return the share of the energy of xi at the frequency that is strongest in theta."""
        energy = self.written.abs().square()
        return self.at_winner(energy) / energy.sum(dim=1)

    @cached_property
    def same_frequency(self) -> float:
        """Return the share of the neurons whose strongest frequency is the same in theta and xi."""
        return float((self.written.abs().argmax(dim=1) == self.winner).double().mean())

    @property
    def counts(self) -> Int[Tensor, " freq"]:
        """Return the number of neurons whose winning frequency is k, for each k."""
        return self.winner.bincount(minlength=self.read.shape[1])

    @property
    def strength(self) -> Float[Tensor, " neuron"]:
        """Return each neuron's strength: alpha to the power of the nonlinearity's degree, times beta."""
        return self.alpha**self.power * self.beta

    @property
    def inverse_participation(self) -> float:
        """Return the mean over neurons and layers of sum alpha^4 / (sum alpha^2)^2 over frequencies; 1 for a single
        frequency.
        """
        ratios = [a.abs().pow(4).sum(dim=1) / a.abs().square().sum(dim=1).square() for a in (self.read, self.written)]
        return float(torch.cat(ratios).mean())

    @property
    def mean_sine(self) -> float:
        """Return the mean of abs(sin D) over neurons: 0 if all neurons are aligned, 2 / pi for independent phases."""
        return float(self.D.sin().abs().mean())

    @property
    def resultant(self) -> float:
        """Return the absolute value of the mean of exp(iD) over neurons: 1 if all misalignments D are equal."""
        return float(torch.polar(torch.ones_like(self.D), self.D).mean().abs())


def phase_test(winner: Int[Tensor, " neuron"], phi: Float[Tensor, " neuron"], harmonic: int) -> float:
    """Return the mean over frequencies of N abs(mean of exp(i harmonic phi))^2 over the N neurons of a frequency.

    The value is 1 for independent uniform phases, and 0 for evenly spread phases.
    """
    turned = torch.polar(torch.ones_like(phi), harmonic * phi)
    groups = [turned[winner == k] for k in winner.unique()]
    return float(torch.stack([len(g) * g.mean().abs().square() for g in groups]).mean())


def waves_of(m: CyclicMeasurements) -> NeuronWaves:
    """Return the amplitudes and phases of the waves in the trained network's weights.

    Raises:
        NoSuchPart: the network is not a one-hot network with summed tokens.
    """
    check_shape(m)
    return NeuronWaves.of(m.model)


def waves_at(m: CyclicMeasurements, epoch: int) -> NeuronWaves:
    """Return the waves in the weights at the snapshot of an epoch; the last epoch is the trained network, the first
    follows from the seed.

    Raises:
        NoSuchPart: the network is not a one-hot network with summed tokens.
        NotRecorded: the run has no snapshot of this epoch.
    """
    check_shape(m)
    return NeuronWaves.of(network_at(m, epoch))


def network_at(m: CyclicMeasurements, epoch: int) -> Network:
    """Return the network at the snapshot of an epoch; the last epoch is the trained network, the first follows from the
    seed.

    Raises:
        NotRecorded: the run has no snapshot of this epoch.
    """
    if epoch == 0:
        return m.run.at_start().network
    if len(m.history) and epoch == int(m.history["epoch"].iloc[-1]):
        return m.model
    if epoch not in m.snapshots:
        raise NotRecorded(f"no snapshot of epoch {epoch:,} came with {m.name}")
    return m.at(epoch)
