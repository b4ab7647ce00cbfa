"""Everything that is measured on one network, each thing once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses import ablations, attention, cosine_sums, frequencies, neurons, nulls, readout, symmetry
from modinterp.analyses.fourier import transform_2d
from modinterp.claims.evidence import Captured
from modinterp.models import Network, indexed, initial_weights, read_logits
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic
from modinterp.tasks.modular import SIGNS

AT_START_DRAWS = 19


@dataclass(frozen=True)
class Score:
    """How well some logits answer, over all pairs.

    Attributes:
        accuracy: share of the pairs.
        loss: mean cross-entropy. [nats]
    """

    accuracy: float
    loss: float


class Facts(Captured):
    """The measurements of one network over pairs; each attribute is measured when it is first asked for.

    Args:
        run: of addition or subtraction modulo p.
        draws: of each null of the spectrum.
    """

    def __init__(self, run: TrainedRun, draws: int = 199):
        task = run.task
        if not isinstance(task, ModularArithmetic) or task.op not in SIGNS:
            raise ValueError(f"{run.name} learned {task.name}, neither a + b nor a - b mod p")
        super().__init__(run)
        self.task, self.draws = task, draws
        self.sign, self.layers = SIGNS[task.op], run.model.cfg.n_layers
        self.has_attention = hasattr(run.model.blocks[-1], "attn")
        self.has_neurons = hasattr(run.model.blocks[-1], "mlp")

    def score(self, logits: Float[Tensor, "a b output"], rows: Int[Tensor, " row"] | None = None) -> Score:
        """Accuracy and loss over all pairs, or over some of them."""
        return Score(ablations.accuracy_on(logits, self.labels, rows), ablations.loss_on(logits, self.labels, rows))

    @cached_property
    def whole(self) -> Score:
        """Of the network as it is."""
        return self.score(self.logits)

    @property
    def of_the_other_sign(self) -> float:
        """Share of the pairs that are answered with a - b where a + b is asked for, or the other way round."""
        a, b = self.task.inputs()[:, 0], self.task.inputs()[:, 1]
        other = (a - self.sign * b) % self.p
        return float((self.logits.flatten(0, 1).argmax(dim=-1).cpu() == other).double().mean())

    @cached_property
    def losses_of_right_and_wrong(self) -> tuple[float, float]:
        """Mean loss over the pairs that are answered rightly, and over the others; NaN where there are none. [nats]"""
        flat, right = self.logits.flatten(0, 1), self.labels[:, 0].to(self.logits.device)
        losses = torch.nn.functional.cross_entropy(flat, right, reduction="none")
        hit = flat.argmax(dim=-1) == right
        return float(losses[hit].mean()), float(losses[~hit].mean())

    @property
    def read_from(self) -> str:
        """What the logits are read off: the neurons of the last layer, or the residual stream where there are none."""
        return "neurons" if self.has_neurons else "the residual stream"

    @property
    def read_name(self) -> str:
        """Name of the matrix that reads them."""
        return "W_L" if self.has_neurons else "W_U"

    @cached_property
    def read(self) -> Float[Tensor, "a b read"]:
        """What the logits are read off."""
        return self.grid[f"{self.last_block}.{'mlp.hook_post' if self.has_neurons else 'hook_resid_post'}"]

    @cached_property
    def W_read(self) -> Float[Tensor, "read output"]:
        """The matrix that reads the logits, in float64: W_L, or W_U in a network of attention alone."""
        return _read_matrix(self.model).double()

    @cached_property
    def keys(self) -> frequencies.KeyFrequencies:
        """Key frequencies of the matrix that reads the logits, their norms, and how clear the gap is."""
        return frequencies.key_frequencies(self.W_read)

    @property
    def freqs(self) -> tuple[int, ...]:
        """Key frequencies, in ascending order. [cycles per p]"""
        return self.keys.freqs

    @cached_property
    def logit_freqs(self) -> tuple[int, ...]:
        """As many frequencies, the strongest among the cosines of the answer in the logits."""
        found = cosine_sums.cosine_spectrum(self.logits, self.sign)
        return tuple(sorted((found.abs().topk(len(self.freqs)).indices + 1).tolist()))

    @cached_property
    def neuron_fits(self) -> dict[int, neurons.NeuronFits]:
        """By layer."""
        found = range(self.layers) if self.has_neurons else ()
        return {layer: neurons.neuron_fits(self.grid[f"blocks.{layer}.mlp.hook_post"]) for layer in found}

    @property
    def last_neurons(self) -> neurons.NeuronFits | None:
        """Fits of the neurons that the logits are read off; None where there are none."""
        return self.neuron_fits.get(self.layers - 1)

    @cached_property
    def neuron_null(self) -> float:
        """99th percentile of what one frequency explains of a neuron once the residues are renamed."""
        return nulls.neuron_null(self.read)[0] if self.has_neurons else float("nan")

    @cached_property
    def heads(self) -> dict[int, attention.HeadFits]:
        """By layer."""
        found = range(self.layers) if self.has_attention else ()
        return {layer: attention.head_fits(self.grid[f"blocks.{layer}.attn.hook_pattern"]) for layer in found}

    @cached_property
    def readoff(self) -> readout.ReadoffTable:
        """What is read along the directions of each key frequency's cos and sin."""
        return readout.readoff(self.read, self.W_read, self.freqs, self.sign)

    @cached_property
    def low_rank(self) -> readout.LowRank | None:
        """None where there are more key directions than rows to read."""
        fits = 2 * len(self.freqs) < min(self.W_read.shape)
        return readout.low_rank(self.W_read, self.freqs) if fits else None

    @cached_property
    def logit_fit(self) -> cosine_sums.LogitFit:
        """The logits as a sum of cosines, one a key frequency."""
        return cosine_sums.logit_fit(self.logits, self.freqs, self.sign)

    @cached_property
    def periodic_share_of_logits(self) -> float:
        """Share of the logits' variance over pairs in waves and products of as many frequencies, whichever these are.

        Of any phase and of any answer: what is periodic, whether it adds or not.
        """
        spectrum = transform_2d(self.logits)
        spectrum[0, 0] = 0
        total = spectrum.square().sum()
        energies = neurons.frequency_energies(spectrum).sum(dim=1)
        return float(energies.topk(len(self.freqs)).values.sum() / total) if total > 0 else float("nan")

    @cached_property
    def formula(self) -> Score:
        """Of that sum of cosines alone."""
        return self.score(self.logit_fit.logits(self.p))

    @cached_property
    def restricted(self) -> Score:
        """Of the logits with nothing left in but their waves of the answer at the key frequencies."""
        return self.score(ablations.restricted_logits(self.logits, self.freqs, sign=self.sign))

    @cached_property
    def excluded_logits(self) -> Float[Tensor, "a b output"]:
        """The logits without their waves of the answer at the key frequencies."""
        return ablations.excluded_logits(self.logits, self.freqs, sign=self.sign)

    @cached_property
    def excluded(self) -> Score:
        """Of the logits without the key frequencies."""
        return self.score(self.excluded_logits)

    @cached_property
    def read_as_waves(self) -> Score:
        """With nothing left of what is read but its mean and its waves of the answer at the key frequencies."""
        change = neurons.sum_wave_neurons(self.read, self.freqs, self.sign) - self.read
        return self.score(self.logits + change @ self.W_read)

    @cached_property
    def loss_without_each(self) -> Float[Tensor, " freq"]:
        """Loss over all pairs with the waves of one frequency taken out of the logits. [nats]"""
        return ablations.loss_without_each(self.logits, self.labels, "sums", self.sign)

    @cached_property
    def spectrum_nulls(self) -> nulls.Nulls:
        """How clear the key frequencies are, against matrices in which there is nothing to find."""
        started = (_read_matrix(n) for n in nulls.networks_at_start(self.model.cfg, self.draws))
        with _one_thread():
            return nulls.spectrum_nulls(self.W_read, len(self.freqs), started, self.draws)

    @cached_property
    def logit_nulls(self) -> nulls.Nulls:
        """How much of the logits the cosines explain, against logits in which there is nothing to find."""
        with _one_thread():
            return nulls.logit_nulls(self.logits, len(self.freqs), self._logits_at_start(), self.sign)

    def _logits_at_start(self) -> list[Float[Tensor, "a b output"]]:
        """By the training forward pass, several times as fast as the hooked one."""
        config, inputs = self.model.cfg, self.task.inputs()
        index = indexed(config, inputs, inputs[:, -1].unique())
        with torch.no_grad():
            drawn = (read_logits(config, initial_weights(config, seed), index) for seed in range(AT_START_DRAWS))
            return [logits[:, -1].unflatten(0, self.task.grid) for logits in drawn]

    @cached_property
    def symmetricity(self) -> symmetry.Symmetricity:
        """Whether both inputs act alike."""
        return symmetry.gradient_symmetricity(self.model, self.task)

    @cached_property
    def irrelevance(self) -> symmetry.Irrelevance:
        """Whether the correct logit feels how far a and b are apart."""
        return symmetry.distance_irrelevance(self.logits, self.sign)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Hundreds of small matrices: two threads wait for each other longer than they work, ten times so on a busy CPU."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _read_matrix(network: Network) -> Float[Tensor, "read output"]:
    """W_L, or W_U where there are no neurons."""
    return network.W_L if hasattr(network.blocks[-1], "mlp") else network.W_U.detach()
