"""Measure a network that answers several questions about each pair, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pandas as pd
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import Spectra
from modinterp.analyses.embeddings import position_embeddings, primality
from modinterp.analyses.fourier import frequencies, neuron_spectra
from modinterp.analyses.training import generalisation
from modinterp.analyses.training.phases import LEARNED
from modinterp.measurements.component import Component
from modinterp.measurements.network import NoSuchPart
from modinterp.runs import NotRecorded
from modinterp.tasks import PrimeRemainders


class Questions(Component[Any]):
    """Accuracy and learning times for each question, and logged spectra, of a network over pairs."""

    @property
    def n_generalised(self) -> int:
        """Number of questions with an accuracy of at least 0.99 on the `held_out` inputs."""
        return sum(share >= LEARNED for share in self.m.test_accuracies)

    @cached_property
    def accuracies_with_positions_swapped(self) -> tuple[float, ...]:
        """Accuracy of every question over all inputs, with the embeddings of the two positions exchanged."""
        changed = self.m.predicted_by(position_embeddings.with_positions_swapped(self.m.model))
        return tuple((changed == self.m.task.labels()).double().mean(dim=0).tolist())

    @cached_property
    def order_matters(self) -> tuple[bool, ...]:
        """True for each question whose right answer can change when a and b are exchanged."""
        grids = self.m.task.labels().unflatten(0, self.m.task.grid)
        return tuple((grids != grids.transpose(0, 1)).flatten(0, 1).any(dim=0).tolist())

    @cached_property
    def learning_times(self) -> generalisation.LearningTimes:
        """Epochs at which each question was memorised and generalised.

        Raises:
            NotRecorded: the network is a user's checkpoint, whose training is unknown.
        """
        return generalisation.learning_times(self._recorded_history, self.m.task.output_names)

    def generalisation_epochs(self, among: Sequence[int]) -> dict[int, float]:
        """Map the number of classes of each question to the epoch at which the question generalised; NaN for never.

        Args:
            among: numbers of classes to include, such as primes for remainders by primes. Numbers of classes that no
                question has are left out.
        Raises:
            NotRecorded: the network is a user's checkpoint, whose training is unknown.
        """
        epochs = zip(self.m.task.output_sizes, self.learning_times.generalised, strict=True)
        return {size: epoch for size, epoch in epochs if size in among}

    def curve(self, column: str) -> Float[Tensor, "epoch output"]:
        """Return one column of the training history, for every question.

        Args:
            column: name of the column: `train_accuracy`, `test_accuracy`, `train_loss` or `test_loss` [nats].
        Raises:
            NotRecorded: the network is a user's checkpoint, whose training is unknown.
        """
        return generalisation.output_curves(self._recorded_history, self.m.task.output_names, column)

    def final(self, column: str) -> Float[Tensor, " output"]:
        """Return the last value of one column of the training history, for every question; see `curve`."""
        return self.curve(column)[-1]

    @property
    def _recorded_history(self) -> pd.DataFrame:
        """The training history, with one row per logged epoch and at least one row."""
        if not len(self.m.history):
            raise NotRecorded(f"the training settings of {self.m.name} are not known")
        return self.m.history

    @property
    def remainders(self) -> PrimeRemainders:
        """Return the task, if its answers are remainders of a number by primes.

        Raises:
            NoSuchPart: the answers of the task are not remainders.
        """
        if not isinstance(self.m.task, PrimeRemainders):
            raise NoSuchPart(f"{self.m.task.name} has no remainders by primes")
        return self.m.task

    @cached_property
    def primality(self) -> primality.PrimalityTest:
        """Precision and recall of a primality test that calls a number prime if no predicted remainder is 0.

        The primality test is scored on all numbers from p to p squared - 1, including the training numbers.

        Raises:
            NoSuchPart: the task has no remainders.
        """
        return primality.primality_test(self.m.predicted, self.remainders.numbers(), self.m.p)

    @property
    def logged_spectra(self) -> Spectra:
        """Spectra of neurons and attention that were logged while the run trained.

        Raises:
            NotRecorded: no spectra were logged.
        """
        if self.m.run.spectra is None:
            raise NotRecorded(f"no spectra of {self.m.name} were logged")
        return self.m.run.spectra

    @cached_property
    def logged_norms(self) -> Float[Tensor, "epoch freq"]:
        """Norm of the neurons at every frequency, at every epoch for which spectra were logged."""
        return neuron_spectra.logged_norms(self.logged_spectra)

    def active_over_training(self, deviations: float) -> list[int]:
        """Return the number of frequencies above the mean norm by a number of standard deviations, at every epoch with
        logged spectra.
        """
        return [len(frequencies.active_frequencies(norms, deviations)) for norms in self.logged_norms]
