"""What is measured of a network over pairs (a, b) that answers one question about them or several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations import Spectra, logits_on_grid
from modinterp.analyses.circles.circle import effective_rank
from modinterp.analyses.embeddings import positions, primality, singular_vectors
from modinterp.analyses.fourier import frequencies, neuron_spectra
from modinterp.analyses.fourier.sparsity import gini
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.analyses.training import generalisation
from modinterp.analyses.training.phases import LEARNED
from modinterp.measurements.network import NEURONS, PATTERN, NetworkMeasurements, NoSuchPart
from modinterp.models import Network
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import PrimeRemainders


class GridMeasurements(NetworkMeasurements):
    """The measurements of one run whose inputs are all pairs (a, b): embedding, answers, when each was learned."""

    def __init__(self, run: TrainedRun):
        if run.task.grid is None or len(run.task.grid) != 2:
            raise ValueError(f"{run.name} was trained on {run.task.name}, whose inputs are no grid of pairs")
        super().__init__(run)

    @property
    def W_E(self) -> Float[Tensor, "a d_model"]:
        """Embedding of the residues, without the row of "=", detached from the graph of gradients."""
        return self.model.W_E[: self.p].detach()

    @property
    def W_pos(self) -> Float[Tensor, "pos d_model"]:
        """Embeddings of the positions.

        Raises:
            NoSuchPart: the network has none.
        """
        if not hasattr(self.model, "pos_embed"):
            raise NoSuchPart(f"{self.name} has no embedding of positions")
        return self.model.pos_embed.W_pos

    @cached_property
    def position_likeness(self) -> positions.PositionLikeness:
        """Correlation and cosine of the embeddings of the first two positions."""
        return positions.position_likeness(self.W_pos)

    @cached_property
    def embedding_svd(self) -> singular_vectors.SingularValues:
        """Singular values and left singular vectors of the embedding of the residues."""
        return singular_vectors.singular_values(self.W_E)

    @cached_property
    def singular_vectors(self) -> singular_vectors.Periodicity:
        """Best wave of each top left singular vector of the embedding, of those up to half the sum of the values."""
        svd = self.embedding_svd
        return singular_vectors.periodicity(svd.vectors[:, : svd.count_to_reach(0.5)])

    @property
    def effective_rank(self) -> float:
        """Participation ratio of the embedding's variances along its principal directions."""
        return effective_rank(self.W_E)

    @cached_property
    def embedding_norms(self) -> Float[Tensor, " freq"]:
        """Norm of the embedding at every frequency; entry k - 1 belongs to frequency k."""
        return frequency_norms(component_norms(self.W_E)).cpu()

    def active_frequencies(self, deviations: float = 1) -> tuple[int, ...]:
        """Frequencies at which the embedding's norm exceeds its mean by so many standard deviations."""
        return frequencies.active_frequencies(self.embedding_norms, deviations)

    @property
    def significant_frequencies(self) -> tuple[int, ...]:
        """Frequencies at which the embedding has more than a quarter of its largest norm."""
        return frequencies.significant_frequencies(self.W_E)

    @property
    def embedding_gini(self) -> float:
        """Gini coefficient of the embedding's norms over frequencies, in [0, 1]: 0 for a flat spectrum."""
        return gini(self.embedding_norms)

    @property
    def W_L(self) -> Float[Tensor, "neuron output"]:
        """The map from the neurons of the last layer to the logits, W_out W_U.

        Raises:
            NoSuchPart: the network is attention alone.
        """
        if not hasattr(self.model.blocks[-1], "mlp"):
            raise NoSuchPart(f"{self.name} is attention alone, without neurons")
        return self.model.W_L

    @cached_property
    def n_key_frequencies(self) -> int:
        """How many key frequencies W_L has, for a network that is asked one question."""
        return len(frequencies.key_frequencies(self.W_L).freqs)

    def predicted_by(self, network: Network) -> Int[Tensor, "input output"]:
        """Answers of a network to every question of this run's task, on all inputs."""
        parts = logits_on_grid(network, self.task).flatten(0, 1).cpu().split(list(self.task.output_sizes), dim=-1)
        return torch.stack([part.argmax(dim=-1) for part in parts], dim=-1)

    @cached_property
    def predicted(self) -> Int[Tensor, "input output"]:
        """Answers of the run's network to every question, on all inputs."""
        return self.predicted_by(self.model)

    @cached_property
    def correct(self) -> Bool[Tensor, "input output"]:
        """Whether each answer of the run's network is right."""
        return self.predicted == self.labels

    @property
    def held_out(self) -> Tensor | slice:
        """Rows of the inputs that were not trained on; all, for a foreign checkpoint, of which they are not known."""
        return slice(None) if self.run.spec is None else self.split.test

    @cached_property
    def test_accuracies(self) -> tuple[float, ...]:
        """Accuracy of every question on the inputs that are `held_out`, for a foreign checkpoint thus on all inputs.

        The last in the history, where the weights are missing.
        """
        if not self.has_weights:
            return tuple(self.final("test_accuracy").tolist())
        return tuple(self.correct[self.held_out].double().mean(dim=0).tolist())

    @property
    def test_accuracy(self) -> float:
        """Accuracy on the inputs that are `held_out`, for a foreign checkpoint on all; mean over the questions."""
        return sum(self.test_accuracies) / len(self.test_accuracies)

    @property
    def n_generalised(self) -> int:
        """How many questions have an accuracy of at least 0.99 on the inputs that are `held_out`."""
        return sum(share >= LEARNED for share in self.test_accuracies)

    @cached_property
    def accuracies_with_positions_swapped(self) -> tuple[float, ...]:
        """Accuracy of every question over all inputs, with the embeddings of the two positions exchanged."""
        changed = self.predicted_by(positions.with_positions_swapped(self.model))
        return tuple((changed == self.labels).double().mean(dim=0).tolist())

    @cached_property
    def order_matters(self) -> tuple[bool, ...]:
        """Whether the right answer to each question can change when a and b change places."""
        grids = self.labels.unflatten(0, (self.p, self.p))
        return tuple((grids != grids.transpose(0, 1)).flatten(0, 1).any(dim=0).tolist())

    @cached_property
    def learning_times(self) -> generalisation.LearningTimes:
        """When each question was memorised and when it generalised. [epochs]

        Raises:
            NotRecorded: a foreign checkpoint, whose training is not known.
        """
        return generalisation.learning_times(self._recorded_history, self.task.output_names)

    def generalisation_epochs(self, among: Sequence[int]) -> dict[int, float]:
        """Number of classes of a question to the epoch at which it generalised; NaN for never.

        Args:
            among: numbers of classes, of which those are left out that no question has; primes, where remainders by
                primes are asked.
        Raises:
            NotRecorded: a foreign checkpoint, whose training is not known.
        """
        epochs = zip(self.task.output_sizes, self.learning_times.generalised, strict=True)
        return {size: epoch for size, epoch in epochs if size in among}

    def curve(self, column: str) -> Float[Tensor, "epoch output"]:
        """A measure of every question over training.

        Args:
            column: `train_accuracy`, `test_accuracy`, `train_loss` or `test_loss` [nats].
        Raises:
            NotRecorded: a foreign checkpoint, whose training is not known.
        """
        return generalisation.output_curves(self._recorded_history, self.task.output_names, column)

    def final(self, column: str) -> Float[Tensor, " output"]:
        """A measure of every question at the end of training; see `curve`."""
        return self.curve(column)[-1]

    @property
    def _recorded_history(self) -> pd.DataFrame:
        """One row per logged epoch, of which there is at least one."""
        if not len(self.history):
            raise NotRecorded(f"how {self.name} was trained is not known")
        return self.history

    @property
    def remainders(self) -> PrimeRemainders:
        """The task, where it asks for the remainders of a number by primes.

        Raises:
            NoSuchPart: it asks for something else.
        """
        if not isinstance(self.task, PrimeRemainders):
            raise NoSuchPart(f"{self.task.name} has no remainders by primes")
        return self.task

    @cached_property
    def primality(self) -> primality.PrimalityTest:
        """Precision and recall of calling a number from p on prime if no predicted remainder is 0.

        All numbers from p to p squared - 1 count, those trained on included.

        Raises:
            NoSuchPart: the task has no remainders.
        """
        return primality.primality_test(self.predicted, self.remainders.numbers(), self.p)

    @property
    def logged_spectra(self) -> Spectra:
        """Spectra of neurons and attention that were logged while the run trained.

        Raises:
            NotRecorded: none were.
        """
        if self.run.spectra is None:
            raise NotRecorded(f"no spectra of {self.name} were logged")
        return self.run.spectra

    @cached_property
    def logged_norms(self) -> Float[Tensor, "epoch freq"]:
        """Norm of the logged neurons at every frequency, at every epoch that was logged."""
        return neuron_spectra.logged_norms(self.logged_spectra)

    def active_over_training(self, deviations: float) -> list[int]:
        """How many frequencies exceed the mean norm by so many standard deviations, at every epoch that was logged."""
        return [len(frequencies.active_frequencies(norms, deviations)) for norms in self.logged_norms]

    @property
    def post(self) -> Float[Tensor, "a b neuron"]:
        """Neurons of the first layer at the last position, after their nonlinearity."""
        return self.activation(NEURONS)

    @property
    def pattern(self) -> Float[Tensor, "a b head key"]:
        """Attention of the last position to every position, in the first layer."""
        return self.activation(PATTERN)

    @cached_property
    def neuron_peaks(self) -> Float[Tensor, " neuron"]:
        """Largest over mean magnitude of each neuron's 2D transform; NaN for a neuron that never fires."""
        return neuron_spectra.peak_ratios(self.post)

    @cached_property
    def mixed_neuron_peaks(self) -> Float[Tensor, " neuron"]:
        """The same among products of waves of both residues alone."""
        return neuron_spectra.mixed_peak_ratios(self.post)

    @cached_property
    def attention_distances(self) -> Float[Tensor, " head"]:
        """Mean distance of the attention to the two residues."""
        return (self.pattern[..., 0] - self.pattern[..., 1]).abs().mean(dim=(0, 1))

    @cached_property
    def attention_sum_error(self) -> float:
        """Largest deviation of a row of attention from a sum of 1."""
        return float((self.pattern.sum(dim=-1) - 1).abs().max())

    @property
    def peak_neuron(self) -> int:
        """Index of the neuron whose 2D transform has the largest peak over its mean."""
        return int(self.neuron_peaks.nan_to_num(0).argmax())
