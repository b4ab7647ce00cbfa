"""What claims and figures ask of a run on two digits, each analysis done once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations import Spectra, logits_on_grid
from modinterp.analyses import embeddings, primality
from modinterp.analyses.circles import effective_rank
from modinterp.analyses.fourier import component_norms, frequency_norms
from modinterp.analyses.frequencies import active_frequencies, key_frequencies, significant_frequencies
from modinterp.analyses.generalisation import LearningTimes, by_output, learning_times
from modinterp.analyses.neuron_spectra import logged_norms, peak_ratios
from modinterp.analyses.phases import LEARNED
from modinterp.analyses.progress import gini
from modinterp.claims.band import at_least
from modinterp.claims.evidence import Captured, kept
from modinterp.models import Network
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import PrimeRemainders

CODED, PRINTED = "miiii/p113-half-0", "miiii/p113-0"  # trained on half as in the source's code, on 30% as in its text
LAMBDA0, NO_DROPOUT = "miiii/p113-lambda0-0", "miiii/p113-no-dropout-0"
BASIS, MASKED = "miiii/basis-0", "miiii/masked-0"
NANDA = tuple(f"miiii/nanda-{seed}" for seed in range(5))
ONE_OF_EACH = (CODED, "miiii/nanda-[0-4]")  # what a claim that compares the two tasks cannot do without
NANDA_LAMBDA0 = tuple(f"miiii/nanda-lambda0-{seed}" for seed in range(5))
SMALL = ("miiii/p23-0", "miiii/p37-0", "miiii/p53-0")
CORNER = 37  # rows and columns of the grid that the source draws
FIRST = (2, 3, 5, 7)  # primes that the source says are learned first
LEARNED_BECAUSE = "it is said of a network that has learned"
GENERALISED = {"mean test accuracy": at_least(0.9, LEARNED_BECAUSE)}


class DigitsEvidence(Captured):
    """The analyses of one run on pairs, T_miiii or T_nanda; each is made when it is first asked for and then kept.

    Attributes:
        primes: number of classes of every question.
    """

    def __init__(self, run: TrainedRun):
        if run.task.grid is None or len(run.task.grid) != 2:
            raise ValueError(f"{run.name} was trained on {run.task.name}, which has no two digits")
        super().__init__(run)
        self.primes = run.task.heads

    @cached_property
    def positions(self) -> embeddings.PositionLikeness:
        """How alike the embeddings of the positions are."""
        return embeddings.position_likeness(self.run.model.pos_embed.W_pos)

    @cached_property
    def singular(self) -> embeddings.SingularValues:
        """Singular values and vectors of the embedding."""
        return embeddings.singular_values(self.W_E)

    @cached_property
    def vectors(self) -> embeddings.Periodicity:
        """Of the top left singular vectors, those up to half the sum of the values."""
        return embeddings.periodicity(self.singular.vectors[:, : self.singular.needed(0.5)])

    @property
    def effective_rank(self) -> float:
        """Participation ratio of the embedding's variances."""
        return effective_rank(self.W_E)

    @cached_property
    def norms(self) -> Float[Tensor, " freq"]:
        """Of the embedding at every frequency."""
        return frequency_norms(component_norms(self.W_E)).cpu()

    def active(self, deviations: float = 1) -> tuple[int, ...]:
        """Frequencies of the embedding above the mean by so many standard deviations."""
        return active_frequencies(self.norms, deviations)

    @property
    def significant(self) -> tuple[int, ...]:
        """Frequencies of the embedding with more than a quarter of the largest norm."""
        return significant_frequencies(self.W_E)

    @property
    def gini(self) -> float:
        """Of the norms of the embedding's frequencies."""
        return gini(self.norms)

    @cached_property
    def key_count(self) -> int:
        """Key frequencies of the map from neurons to logits; of one question alone."""
        return len(key_frequencies(self.run.model.W_L).freqs)

    def predicted_by(self, network: Network) -> Int[Tensor, "input output"]:
        """Answers of a network to every question, for all inputs."""
        parts = logits_on_grid(network, self.task).flatten(0, 1).cpu().split(list(self.primes), dim=-1)
        return torch.stack([part.argmax(dim=-1) for part in parts], dim=-1)

    @cached_property
    def predicted(self) -> Int[Tensor, "input output"]:
        """Its own answers."""
        return self.predicted_by(self.run.model)

    @cached_property
    def right(self) -> Bool[Tensor, "input output"]:
        """Whether each of its own answers is right."""
        return self.predicted == self.labels

    @property
    def held_out(self) -> Tensor | slice:
        """Rows not trained on; all of a foreign checkpoint, of which they are not known."""
        return slice(None) if self.run.spec is None else self.run.split.test

    @cached_property
    def accuracies(self) -> tuple[float, ...]:
        """Of every question on the inputs that were held out; from the history, where the weights did not come along."""
        if not self.run.has_weights:
            return tuple(self.last("test_accuracy").tolist())
        return tuple(self.right[self.held_out].double().mean(dim=0).tolist())

    @property
    def accuracy(self) -> float:
        """Mean over the questions."""
        return sum(self.accuracies) / len(self.accuracies)

    @property
    def solved(self) -> int:
        """Questions that are answered as well as counts as learned, on the inputs that were held out."""
        return sum(share >= LEARNED for share in self.accuracies)

    @cached_property
    def swapped(self) -> tuple[float, ...]:
        """Accuracy of every question over all inputs with the two positions exchanged."""
        changed = self.predicted_by(embeddings.with_positions_swapped(self.run.model))
        return tuple((changed == self.labels).double().mean(dim=0).tolist())

    @cached_property
    def order_matters(self) -> tuple[bool, ...]:
        """Of every question, whether its answers change when the digits change places."""
        grids = self.labels.unflatten(0, (self.p, self.p))
        return tuple((grids != grids.transpose(0, 1)).flatten(0, 1).any(dim=0).tolist())

    @cached_property
    def times(self) -> LearningTimes:
        """When each question was learned."""
        return learning_times(self.run.history, self.task.output_names)

    def generalised(self, among: Sequence[int]) -> dict[int, float]:
        """Prime to the epoch at which its question generalised, for those of the primes that are asked."""
        return {q: t for q, t in zip(self.primes, self.times.generalised, strict=True) if q in among}

    @property
    def others(self) -> tuple[int, ...]:
        """Primes that are asked, but for the first four."""
        return tuple(q for q in self.primes if q not in FIRST)

    def last(self, column: str) -> Float[Tensor, " output"]:
        """A measure of every question at the end of training; see `by_output`."""
        return by_output(self.run.history, self.task.output_names, column)[-1]

    @cached_property
    def primality(self) -> primality.PrimalityTest:
        """Of the numbers from p on, all of them, those trained on included.

        Raises:
            ValueError: the task has no remainders.
        """
        if not isinstance(self.task, PrimeRemainders):
            raise ValueError(f"{self.task.name} has no remainders to test for primes with")
        return primality.primality_test(self.predicted, self.task.numbers(), self.p)

    @property
    def log(self) -> Spectra:
        """What was logged of it while it trained.

        Raises:
            NotRecorded: nothing was.
        """
        if self.run.spectra is None:
            raise NotRecorded(f"no spectra of {self.run.name} were logged")
        return self.run.spectra

    @cached_property
    def logged_norms(self) -> Float[Tensor, "step freq"]:
        """Of the logged neurons at every frequency, over training."""
        return logged_norms(self.log)

    def active_over_training(self, deviations: float) -> list[int]:
        """How many frequencies of the logged neurons lie above the mean by so many standard deviations, entry by entry."""
        return [len(active_frequencies(norms, deviations)) for norms in self.logged_norms]

    @property
    def post(self) -> Float[Tensor, "a b neuron"]:
        """Neurons at the last position."""
        return self.grid["blocks.0.mlp.hook_post"]

    @property
    def pattern(self) -> Float[Tensor, "a b head key"]:
        """Attention of the last position."""
        return self.grid["blocks.0.attn.hook_pattern"]

    @cached_property
    def peaks(self) -> Float[Tensor, " neuron"]:
        """Largest over mean magnitude of each neuron's transform; NaN for one that never fires."""
        return peak_ratios(self.post)

    @property
    def peak_neuron(self) -> int:
        """The neuron with the largest of them."""
        return int(self.peaks.nan_to_num(0).argmax())

    @property
    def corners(self) -> Float[Tensor, "head a b"]:
        """Attention to the first digit over the corner of the grid that the source draws, by head."""
        return self.pattern[:CORNER, :CORNER, :, 0].permute(2, 0, 1)


def digits_evidence(run: TrainedRun) -> DigitsEvidence:
    """The evidence of a run, kept with the run."""
    return kept(DigitsEvidence, run)
