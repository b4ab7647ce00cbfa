"""What is measured of anybody's network that was trained to add or to subtract, with nothing taken for granted.

Beside what is measured of every network over pairs there are null distributions, in which there is nothing to find; how
well the network, parts of its logits and a formula in their place answer; and, for attention without neurons, the
readout of the residual stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.attention import heads as attention
from modinterp.analyses.circles import symmetry
from modinterp.analyses.fourier import ablations, cosine_sums, frequencies, neurons, readout
from modinterp.analyses.network import nulls
from modinterp.measurements import PairMeasurements
from modinterp.models import Network, indexed, initial_weights, read_logits
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic
from modinterp.tasks.modular import SIGNS

GAP, KEY_ENERGY = "gap of the spectrum", "energy of the strongest"  # the statistics of `nulls.spectrum_nulls`
DRAWS_AT_START = 19


@dataclass(frozen=True)
class Score:
    """How well some logits answer.

    Attributes:
        accuracy: share of the pairs that are answered rightly.
        loss: mean cross-entropy. [nats]
    """

    accuracy: float
    loss: float


class StrangerMeasurements(PairMeasurements):
    """The measurements of one network that was trained on a + b or a - b mod p, whoever trained it.

    Where the sign of the operation or the lack of neurons makes a difference, a measurement of `PairMeasurements` is
    overridden; `summary` and the ablations of components are those of a + b.

    Args:
        run: of addition or subtraction modulo p.
        draws: how many matrices are drawn for each null of the spectrum.
    Raises:
        ValueError: the run was trained on something else.
    """

    def __init__(self, run: TrainedRun, draws: int = 199):
        task = run.task
        if not isinstance(task, ModularArithmetic) or task.op not in SIGNS:
            raise ValueError(f"{run.name} learned {task.name}, neither a + b nor a - b mod p")
        super().__init__(run)
        self.draws = draws

    @property
    def sign(self) -> int:
        """1 for a + b, -1 for a - b."""
        return SIGNS[self.task.op]

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return self.model.cfg.n_layers

    @property
    def has_attention(self) -> bool:
        """Whether the last layer has attention."""
        return hasattr(self.model.blocks[-1], "attn")

    @property
    def has_neurons(self) -> bool:
        """Whether the last layer has neurons."""
        return hasattr(self.model.blocks[-1], "mlp")

    def score(self, logits: Float[Tensor, "a b output"], rows: Int[Tensor, " row"] | None = None) -> Score:
        """Accuracy and loss of some logits over all pairs, or over some rows of the task's inputs."""
        return Score(ablations.accuracy_on(logits, self.labels, rows), ablations.loss_on(logits, self.labels, rows))

    @cached_property
    def own_score(self) -> Score:
        """Accuracy and loss of the network as it is, over all pairs."""
        return self.score(self.logits)

    @property
    def accuracy(self) -> float:
        """Share of all pairs that the network answers rightly."""
        return self.own_score.accuracy

    @property
    def accuracy_for_other_sign(self) -> float:
        """Share of the pairs that are answered with a - b where a + b was to be learned, or the other way round."""
        a, b = self.task.inputs()[:, 0], self.task.inputs()[:, 1]
        answers = self.logits.flatten(0, 1).argmax(dim=-1).cpu()
        return float((answers == (a - self.sign * b) % self.p).double().mean())

    @cached_property
    def losses_of_right_and_wrong(self) -> tuple[float, float]:
        """Mean loss over the pairs that are answered rightly, and over the others; NaN where there are none. [nats]"""
        logits, labels = self.logits.flatten(0, 1), self.labels[:, 0].to(self.logits.device)
        losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        is_right = logits.argmax(dim=-1) == labels
        return float(losses[is_right].mean()), float(losses[~is_right].mean())

    @property
    def readout_name(self) -> str:
        """Name of the matrix that the logits come from: W_L, or W_U in a network of attention alone."""
        return "W_L" if self.has_neurons else "W_U"

    @cached_property
    def readout_matrix(self) -> Float[Tensor, "feature output"]:
        """The matrix that the logits come from, in float64: W_L, or W_U in a network of attention alone."""
        return _readout_matrix(self.model).double()

    @property
    def features_name(self) -> str:
        """What the readout matrix acts on, in words."""
        return "neurons" if self.has_neurons else "the residual stream"

    @cached_property
    def features(self) -> Float[Tensor, "a b feature"]:
        """What the readout matrix acts on: neurons of the last layer, or the residual stream where there are none."""
        return self.post if self.has_neurons else self.activation(f"{self.last_block}.hook_resid_post")

    @cached_property
    def keys(self) -> frequencies.KeyFrequencies:
        """Key frequencies of the readout matrix, their norms, and how clear the gap is."""
        return frequencies.key_frequencies(self.readout_matrix)

    @cached_property
    def logit_freqs(self) -> tuple[int, ...]:
        """As many frequencies as there are key ones: those of the largest cosines of the answer in the logits."""
        sizes = cosine_sums.cosine_spectrum(self.logits, self.sign).abs()
        return tuple(sorted((sizes.topk(len(self.freqs)).indices + 1).tolist()))

    @cached_property
    def neurons_by_layer(self) -> dict[int, neurons.NeuronFits]:
        """Layer to its neurons as polynomials in the waves of one frequency; empty for attention alone."""
        if not self.has_neurons:
            return {}
        lower = range(self.n_layers - 1)
        fits = {layer: neurons.neuron_fits(self.activation(f"blocks.{layer}.mlp.hook_post")) for layer in lower}
        return fits | {self.n_layers - 1: self.neurons}

    @cached_property
    def neuron_null(self) -> float:
        """99th percentile of what one frequency explains of a neuron once the residues are renamed.

        NaN for attention alone.
        """
        if not self.has_neurons:
            return float("nan")
        percentile, _ = nulls.neuron_null(self.post)
        return percentile

    @cached_property
    def heads_by_layer(self) -> dict[int, attention.HeadFits]:
        """Layer to its heads' attention as waves of one frequency; empty for a network without attention."""
        if not self.has_attention:
            return {}
        upper = range(1, self.n_layers)
        fits = {layer: attention.head_fits(self.activation(f"blocks.{layer}.attn.hook_pattern")) for layer in upper}
        return {0: self.heads} | fits

    @cached_property
    def readoff(self) -> readout.ReadoffTable:
        """The features along the readout matrix's directions of the cos and sin of each key frequency."""
        return readout.readoff(self.features, self.readout_matrix, self.freqs, self.sign)

    @cached_property
    def low_rank(self) -> readout.LowRank:
        """The readout matrix against its part at the key frequencies."""
        return readout.low_rank(self.readout_matrix, self.freqs)

    @property
    def residual_norm(self) -> float | None:
        """Share of the readout matrix's norm outside its key directions.

        None where there are as many key directions as the matrix has rows or columns.
        """
        is_low_rank = 2 * len(self.freqs) < min(self.readout_matrix.shape)
        return self.low_rank.residual_norm if is_low_rank else None

    @cached_property
    def logit_fit(self) -> cosine_sums.LogitFit:
        """The logits as a sum of cosines of w(a + b - c), or of w(a - b - c), one a key frequency."""
        return cosine_sums.logit_fit(self.logits, self.freqs, self.sign)

    @cached_property
    def periodic_share_of_logits(self) -> float:
        """Share of the logits' variance over pairs in waves and products of as many frequencies, whichever these are.

        The waves may have any phase and stand for any answer: what is periodic counts, whether it adds or not.
        """
        spectrum = self.spectrum.clone()
        spectrum[0, 0] = 0
        total = spectrum.square().sum()
        energies = neurons.frequency_energies(spectrum).sum(dim=1)
        return float(energies.topk(len(self.freqs)).values.sum() / total) if total > 0 else float("nan")

    @cached_property
    def score_of_formula(self) -> Score:
        """Accuracy and loss of the sum of cosines of `logit_fit` in place of the logits."""
        return self.score(self.logit_fit.logits(self.p))

    @cached_property
    def score_of_keys_alone(self) -> Score:
        """Accuracy and restricted loss: nothing left of the logits but their waves of the answer at key frequencies."""
        return self.score(ablations.restricted_logits(self.logits, self.freqs, sign=self.sign))

    @cached_property
    def logits_without_keys(self) -> Float[Tensor, "a b output"]:
        """The logits without their waves of the answer at the key frequencies."""
        return ablations.excluded_logits(self.logits, self.freqs, sign=self.sign)

    @cached_property
    def score_without_keys(self) -> Score:
        """Accuracy and excluded loss over all pairs, the key frequencies taken out of the logits."""
        return self.score(self.logits_without_keys)

    @cached_property
    def score_of_feature_waves(self) -> Score:
        """Accuracy and loss with nothing left of the features but means and waves of the answer at key frequencies."""
        change = neurons.sum_wave_neurons(self.features, self.freqs, self.sign) - self.features
        return self.score(self.logits + change @ self.readout_matrix)

    @cached_property
    def loss_without_each_wave(self) -> Float[Tensor, " freq"]:
        """Loss over all pairs with the waves of the answer at one frequency taken out of the logits. [nats]"""
        return ablations.loss_without_each(self.logits, self.labels, "sums", self.sign)

    @cached_property
    def loss_without_each(self) -> dict[ablations.Terms, Float[Tensor, " freq"]]:
        """Loss with one frequency taken out of the logits, as products of waves and as waves of the answer. [nats]"""
        products = ablations.loss_without_each(self.logits, self.labels, "products", self.sign)
        return {"products": products, "sums": self.loss_without_each_wave}

    def test_losses_counted_as(self, terms: ablations.Terms) -> tuple[float, float, float]:
        """Test loss of the network, without its key frequencies, and without all others. [nats]

        NaN for a foreign checkpoint, whose test pairs are not known.
        """
        if self.test is None:
            return float("nan"), float("nan"), float("nan")
        without_keys = ablations.excluded_logits(self.logits, self.freqs, terms, self.sign)
        keys_alone = ablations.restricted_logits(self.logits, self.freqs, terms, self.sign)
        return (
            self.score(self.logits, self.test).loss,
            self.score(without_keys, self.test).loss,
            self.score(keys_alone, self.test).loss,
        )

    @cached_property
    def spectrum_nulls(self) -> nulls.Nulls:
        """How clear the key frequencies are, against matrices in which there is nothing to find."""
        at_start = (_readout_matrix(network) for network in nulls.networks_at_start(self.model.cfg, self.draws))
        with _one_thread():
            return nulls.spectrum_nulls(self.readout_matrix, len(self.freqs), at_start, self.draws)

    @property
    def key_energy(self) -> float:
        """Share of the readout matrix's energy in the key frequencies, the constant left out."""
        return {null.statistic: null.observed for null in self.spectrum_nulls.rows}[KEY_ENERGY]

    @cached_property
    def logit_nulls(self) -> nulls.Nulls:
        """How much of the logits the cosines explain, against logits in which there is nothing to find."""
        with _one_thread():
            return nulls.logit_nulls(self.logits, len(self.freqs), self._logits_at_start(), self.sign)

    def _logits_at_start(self) -> list[Float[Tensor, "a b output"]]:
        """Logits of untrained networks, by the forward pass of training: several times as fast as the hooked one."""
        config, inputs = self.model.cfg, self.task.inputs()
        index = indexed(config, inputs, inputs[:, -1].unique())
        with torch.no_grad():
            logits = (read_logits(config, initial_weights(config, seed), index) for seed in range(DRAWS_AT_START))
            return [each[:, -1].unflatten(0, self.task.grid) for each in logits]

    @cached_property
    def symmetricity(self) -> symmetry.Symmetricity:
        """Whether both inputs act alike: gradient symmetricity of Zhong et al. 2023."""
        return symmetry.gradient_symmetricity(self.model, self.task)

    @cached_property
    def irrelevance(self) -> symmetry.Irrelevance:
        """Whether the correct logit feels how far a and b are apart: distance irrelevance of Zhong et al. 2023."""
        return symmetry.distance_irrelevance(self.logits, self.sign)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute on one thread: hundreds of small matrices are ten times as slow on two, on a busy CPU."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _readout_matrix(network: Network) -> Float[Tensor, "feature output"]:
    """W_L of a network, or its W_U where there are no neurons."""
    return network.W_L if hasattr(network.blocks[-1], "mlp") else network.W_U.detach()
