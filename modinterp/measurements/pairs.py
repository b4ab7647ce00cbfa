"""Measure a network over pairs (a, b), for any operation: its embedding, answers, and components in a basis.

A block is one frequency of a Fourier basis, or one representation of a group. The basis of a network fits the operation
of its task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations import logits_on_grid, logits_with
from modinterp.activations.blocks import mean_over_pairs, row_blocks
from modinterp.analyses.attention import components
from modinterp.analyses.circles.circle import effective_rank
from modinterp.analyses.embeddings import position_embeddings, singular_vectors
from modinterp.analyses.fourier import frequencies, neuron_spectra
from modinterp.analyses.fourier.sparsity import gini
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.analyses.network import nulls
from modinterp.bases import KEY_ENERGY, basis_of
from modinterp.measurements.causal import Causal
from modinterp.measurements.narrow import product_with
from modinterp.measurements.network import NEURONS, PATTERN, NetworkMeasurements, NoSuchPart
from modinterp.measurements.questions import Questions
from modinterp.measurements.score import Each, Score, check_finite
from modinterp.measurements.swapped import Swapped, swap
from modinterp.measurements.turned import Turned
from modinterp.measurements.untrained import untrained_logits
from modinterp.models import Config, Network, Wrapped
from modinterp.runs import TrainedRun


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, because many small matrices are ten times slower on two threads of a busy CPU."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def without_row_means(logits: Float[Tensor, "*pair output"]) -> Float[Tensor, "*pair output"]:
    """Return the logits in float64 minus the mean over classes for each pair; this does not change the softmax."""
    logits = logits.double()
    return logits - logits.mean(dim=-1, keepdim=True)


class PairMeasurements(NetworkMeasurements):
    """The measurements of a network whose inputs are all pairs (a, b).

    Activations, labels and weights are in the order of `basis`; for a * b, this is the order of discrete logarithms.
    """

    parts = (Questions, Causal)

    def __init__(self, run: TrainedRun, as_published: bool = False, draws: int = 199):
        if run.task.grid is None or len(run.task.grid) != 2:
            raise ValueError(f"{run.name} was trained on {run.task.name}, whose inputs do not form a grid of pairs")
        super().__init__(run, as_published, draws)

    @cached_property
    def basis(self) -> Any:
        """The basis for the operation, with its order and sign: `Frequencies` or `Representations`."""
        return basis_of(self.task)

    @property
    def questions(self) -> Questions:
        """Measurements for each question, for a network that answers several questions about each pair."""
        return self.part(Questions)

    @property
    def causal(self) -> Causal:
        """Interventions on the embedding that rotate, remove or restore circles."""
        return self.part(Causal)

    def turn(self, steps: float = 0.5, of_b: float | None = None, frequencies: Sequence[int] = ()) -> Turned:
        """Rotate the circles of both numbers by some steps, and return the network's answers with controls.

        Use this to test whether the network adds angles: after a half turn of both numbers, the answer changes by one.

        Args:
            steps: rotation of the circles of a and b, in residues.
            of_b: rotation of the circles of b, in residues; by default equal to `steps`.
            frequencies: frequencies of the circles to rotate; by default `m.causal.circles`. [cycles per p]
        Raises:
            NoSuchPart: the task does not add angles.
            NotRecorded: the network does not expose its embedding.
        """
        return self.causal.turned(steps, steps if of_b is None else of_b, frequencies or None, controls=True)

    def swap(self, hook: str, blocks: Sequence[int | str] = (), heads: Sequence[int] = ()) -> Swapped:
        """Take a part of an activation at the last position from another pair, and return the answers with controls.

        Use `swap` to test if an activation carries the answer: the network should then give the other pair's answer.

        Args:
            hook: name of the hook of the activation, such as `blocks.0.hook_resid_mid` or `blocks.0.attn.hook_z`.
            blocks: frequencies or names of representations whose directions are exchanged; by default all directions.
            heads: indices of heads to exchange, if the activation has an axis of heads.
        Raises:
            ValueError: both blocks and heads are given, or one of them does not exist.
            NoSuchPart: the network has no such hook.
        """
        return swap(self, hook, blocks, heads)

    @property
    def words(self) -> dict[str, str]:
        """Words for the parts of this network in titles of quantities."""
        if not self.has_weights:
            return self.words_of_task
        return self.words_of_task | {"readout": self.readout_name, "features": self.features_name}

    @property
    def words_of_task(self) -> dict[str, str]:
        """Words for parts of the network that the task alone determines."""
        return {"block": self.basis.block, "blocks": self.basis.blocks_name, "answer": self.basis.answer}

    @property
    def operation(self) -> str:
        """Text of the operation, such as `a + b`; in a cyclic group, i and j are the positions of the two elements."""
        return self.basis.answer

    @property
    def p(self) -> int:
        """Number of elements in the basis; for a + b and a - b, the modulus."""
        return self.basis.n

    @cached_property
    def labels(self) -> Int[Tensor, "input output"]:
        """The right answer to every pair, in the order of the basis, with one column for each question of the task."""
        return self.basis.answers if self.basis.is_operation else self.task.labels()

    @cached_property
    def _arranged(self) -> dict[str, Tensor]:
        return {}

    def activation(self, name: str) -> Tensor:
        """Return the activation at one hook, at the last position over the pairs of the basis, `[a, b, ...]`.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        activation = super().activation(name)
        if self._keeps_order:
            return activation
        if name not in self._arranged:
            self._arranged[name] = self.basis.arranged(activation, is_logits=name == "logits")
        return self._arranged[name]

    @cached_property
    def _keeps_order(self) -> bool:
        """True if the basis has all numbers of the task in the task's order."""
        return bool((self.basis.order == torch.arange(self.basis.n)).all()) and self.basis.n == self.task.grid[0]

    def score(
        self, logits: Float[Tensor, "a b output"] | Callable[[slice], Tensor], rows: Int[Tensor, " row"] | None = None
    ) -> Score:
        """Return accuracy and loss of the given logits, over all pairs of the basis or over some of the task's inputs.

        Args:
            logits: logits of all pairs, or a function from a slice of a to logits, which saves memory.
            rows: indices of the task's inputs over which accuracy and loss are averaged; by default all pairs.
        Raises:
            ValueError: one of the logits is not finite.
        """
        of_rows = logits.__getitem__ if isinstance(logits, Tensor) else logits
        blocks = (of_rows(a).flatten(0, 1) for a in row_blocks((self.p, self.p, self.p)))
        found = Each.of(blocks, self.labels[:, 0])
        check_finite(found.loss)
        return found.score(slice(None) if rows is None else self.basis.rows(rows))

    @cached_property
    def original(self) -> components.Ablation:
        """Loss and accuracy of the unchanged network, over all pairs of the basis."""
        return components.ablation(self.logits, self.labels, self.test)

    def changed(self, logits: Float[Tensor, "a b output"]) -> components.Ablation:
        """Return the loss and accuracy of the given logits, and the ratio of each to that of the unchanged network."""
        if not logits.isfinite().all():  # as where nothing is left that attention could attend to
            return components.Ablation(*[float("nan")] * 5)
        return components.ablation(logits, self.labels, self.test, self.original)

    def logits_after(self, values: dict[str, Tensor]) -> Float[Tensor, "a b output"]:
        """Return the logits in the order of the basis, after the activations at some hooks are replaced.

        Args:
            values: map from hook name to the new activation over the task's inputs, in the task's order.
        """
        return self.basis.arranged(logits_with(self.model, self.task, values, self.grid), is_logits=True)

    # What the network exposes

    @property
    def n_layers(self) -> int:
        """Number of layers of the network."""
        return self.model.cfg.n_layers

    @property
    def has_embedding(self) -> bool:
        """True if the network exposes its embedding."""
        return "hook_embed" in self.model.hook_dict

    @property
    def has_attention(self) -> bool:
        """True if the network exposes the attention of its last layer."""
        return f"{self.last_block}.attn.hook_pattern" in self.model.hook_dict

    @property
    def has_neurons(self) -> bool:
        """True if the network exposes the neurons of its last layer."""
        return f"{self.last_block}.mlp.hook_post" in self.model.hook_dict

    @cached_property
    def is_output_only(self) -> bool:
        """True if the read-out matrix is unknown, so that frequencies or representations are measured in the logits.

        A network given as a function hides its neurons. In other networks, the last layer's neurons may produce less
        than half of the logits' variance, because earlier layers do the work. The logits' variance leaves out the mean
        of each pair and of each class. With `as_published`, `is_output_only` is always False.
        """
        if self.as_published:
            return False
        if isinstance(self.model, Wrapped) and self.model.readout is None:
            return True
        if not self.has_neurons:
            return False
        post, matrix = self.activation(f"{self.last_block}.mlp.hook_post"), self._matrix
        times = product_with(matrix.to(post))
        energies, sums = [0.0, 0.0], [matrix.new_zeros(matrix.shape[1]) for _ in range(2)]
        pairs, logits, post = self.basis.some_pairs, self.logits.flatten(0, 1), post.flatten(0, 1)
        seen = range(len(logits)) if pairs is None else pairs
        for rows in row_blocks((len(seen), logits.shape[1])):
            some = rows if pairs is None else pairs[rows].to(logits.device)
            for i, x in enumerate((logits[some], logits[some] - times(post[some]))):
                about = without_row_means(x)
                energies[i] += float(about.square().sum())
                sums[i] += about.sum(dim=0)
        whole, left = (e - float(s.square().sum()) / len(seen) for e, s in zip(energies, sums, strict=True))
        return left > 0.5 * whole

    @property
    def readout_name(self) -> str:
        """Name of the read-out matrix: W_L, W_U for a network without neurons, or the logits themselves."""
        if self.is_output_only:
            return "the logits"
        return "W_L" if self.has_neurons else "W_U"

    @property
    def features_name(self) -> str:
        """Name of the activations that the read-out matrix reads."""
        if self.is_output_only:
            return "the logits"
        return "neurons" if self.has_neurons else "the residual stream"

    @property
    def _matrix(self) -> Float[Tensor, "feature output"]:
        matrix = self.W_L if self.has_neurons or self.as_published else self.model.W_U.detach()[:, self._columns]
        return matrix.double()

    @property
    def _columns(self) -> Int[Tensor, " output"] | slice:
        return slice(None) if self._keeps_order else self.basis.order.to(self.model.device)

    @cached_property
    def _readout(self) -> tuple[Float[Tensor, "a b feature"], Float[Tensor, "feature output"]]:
        """Features, and the matrix from features to logits; for hidden features, an orthonormal basis of the logits."""
        if self.is_output_only:
            q, r = torch.linalg.qr(without_row_means(self.logits).flatten(0, 1))
            return q.unflatten(0, (self.p, self.p)), r
        name = "mlp.hook_post" if self.has_neurons else "hook_resid_post"
        return self.activation(f"{self.last_block}.{name}"), self._matrix

    @property
    def readout_matrix(self) -> Float[Tensor, "feature output"]:
        """The matrix from features to logits, in float64: W_L, or W_U in a network without an MLP."""
        return self._readout[1] if self.is_output_only else self._matrix

    @property
    def features(self) -> Float[Tensor, "a b feature"]:
        """The activations that the read-out matrix reads: neurons of the last layer, or else the residual stream."""
        return self._readout[0]

    @property
    def W_L(self) -> Float[Tensor, "neuron output"]:
        """The map from the neurons of the last layer to the logits, W_out W_U.

        Raises:
            NoSuchPart: the network has no MLP.
        """
        if not hasattr(self.model.blocks[-1], "mlp"):
            raise NoSuchPart(f"{self.name} has attention and no neurons")
        return self.model.W_L[:, self._columns]

    def weight(self, name: str) -> Tensor:
        """Return a stored weight by its name, such as `blocks.0.mlp.W_out`, detached from autograd.

        Raises:
            NoSuchPart: the network has no such weight.
        """
        weights = dict(self.model.named_parameters())
        if name not in weights:
            raise NoSuchPart(f"{self.name} has no {name}")
        return weights[name].detach()

    @property
    def post(self) -> Float[Tensor, "a b neuron"]:
        """Neurons of the last layer after their nonlinearity, over all pairs."""
        return self.activation(f"{self.last_block}.mlp.hook_post")

    @property
    def pattern(self) -> Float[Tensor, "a b head key"]:
        """Attention of the last position to every position, in the first layer."""
        return self.activation(PATTERN)

    # Blocks of the basis

    @property
    def keys(self) -> Any:
        """The key frequencies with their gap to other frequencies, or the key representations."""
        raise NoSuchPart(f"{self.name} has several tasks, and no key {self.basis.blocks_name}")

    @property
    def key_blocks(self) -> tuple[Any, ...]:
        """Tuple of the key frequencies, or of the key representations."""
        raise NoSuchPart(f"{self.name} has several tasks, and no key {self.basis.blocks_name}")

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the key frequencies or key representations."""
        return tuple(map(self.basis.name, self.key_blocks))

    @property
    def all_are_key(self) -> bool:
        """True if all frequencies or representations are key, so that no null distribution can distinguish key ones."""
        return len(self.key_blocks) == len(self.basis.all_blocks)

    def shares_of(self, matrix: Float[Tensor, "element feature"]) -> dict[str, float]:
        """Map each frequency or representation to its energy share of a centred matrix with one row per element."""
        found = self.basis.energy_shares(matrix).tolist()
        return {self.basis.name(one): share for one, share in zip(self.basis.all_blocks, found, strict=True)}

    @cached_property
    def score_of_keys_alone(self) -> Score:
        """Accuracy and restricted loss, for logits reduced to the answer's key frequencies and each class's mean."""
        return self._score_by_answer(self._keys_by_answer + mean_over_pairs(self.logits))

    def _score_by_answer(self, table: Float[Tensor, "answer output"]) -> Score:
        """Return accuracy and loss of logits that depend only on the right answer, given one row for each answer."""
        answers, labels = self._answers.flatten(), self.labels[:, 0].to(table.device)
        losses = -table.double().log_softmax(dim=-1)[answers, labels.clamp(min=0)]
        check_finite(losses)
        right = table.argmax(dim=-1)[answers] == labels
        return Score(float(right.double().mean()), float(losses.mean()))

    @cached_property
    def _keys_by_answer(self) -> Float[Tensor, "answer output"]:
        """The part of the logits in the key frequencies or representations, for each answer."""
        return self.basis.answer_table(self.logits, self.key_blocks)

    @property
    def _answers(self) -> Int[Tensor, "a b"]:
        """Index of the right answer of every pair, for lookups in tables by answer."""
        return self.basis.answers.view(self.p, self.p).to(self.logits.device)

    def logits_without_keys(self, a: slice) -> Float[Tensor, "some b output"]:
        """Return logits without the answer's key frequencies or representations, for a slice of a."""
        return self.logits[a].double() - self._keys_by_answer[self._answers[a]]

    @cached_property
    def score_without_keys(self) -> Score:
        """Accuracy and excluded loss over all pairs, for logits without key frequencies (or representations)."""
        return self.score(self.logits_without_keys)

    @cached_property
    def score_of_features_alone(self) -> Score:
        """Accuracy and loss if the features keep only their means and the key frequencies (or representations)."""
        features, matrix, answers = self.features, self.readout_matrix, self._answers
        kept = self.basis.answer_table(features, self.key_blocks) + mean_over_pairs(features)
        kept, times = kept.to(features), product_with(matrix.to(features))
        return self.score(lambda a: self.logits[a] + times(kept[answers[a]] - features[a]))

    @cached_property
    def loss_without_each_block(self) -> Float[Tensor, " block"]:
        """Loss over all pairs without each frequency (or representation) of the answer in the logits. [nats]"""
        return self.basis.losses_without_each(self.logits)

    @cached_property
    def formula(self) -> Float[Tensor, "a b output"]:
        """Logits of the formula: cosines of a + b - c over key frequencies, or characters of a b c^-1."""
        return self.basis.formula(self.logits, self.key_blocks)

    @cached_property
    def score_of_formula(self) -> Score:
        """Accuracy and loss when the formula replaces the logits."""
        return self._score_by_answer(self._formula_of_first[self._answers[0].argsort()])

    @property
    def _formula_of_first(self) -> Float[Tensor, "b output"]:
        """The formula's logits for the pairs (0, b), which cover all answers."""
        return self.formula[0]

    @cached_property
    def periodic_share_of_logits(self) -> float:
        """Share of the logits' variance in the strongest frequencies or representations, as many as are key."""
        return self.basis.periodic_share(self.logits, len(self.key_blocks))

    @cached_property
    def variance_shares(self) -> Float[Tensor, " block"]:
        """Share of the last layer's neuron variance in every frequency or representation of a, b and the answer."""
        return self.basis.variance_shares(self.post)

    @property
    def neurons_at_keys(self) -> float:
        """Share of the last layer's neuron variance in key frequencies or representations of a, b and the answer."""
        return float(self.variance_shares[[self.basis.all_blocks.index(one) for one in self.key_blocks]].sum())

    @cached_property
    def spectrum_nulls(self) -> nulls.Nulls:
        """Null distributions, from random matrices, for the key frequencies' share of the read-out matrix."""
        at_start = None
        if self._drawable is not None and not self.is_output_only:
            at_start = (matrix[:, self.basis.order] for matrix in nulls.readouts_at_start(self._drawable, self.draws))
        with one_thread():
            return self.basis.spectrum_nulls(self.readout_matrix, len(self.key_blocks), at_start, self.draws)

    @cached_property
    def key_energy(self) -> float:
        """Energy share of the strongest frequencies in the centred read-out matrix, as many as are key."""
        return self.basis.energy_of_strongest(self.readout_matrix, len(self.key_blocks))

    @property
    def p_value(self) -> float:
        """Largest p-value of the energy in the read-out's strongest frequencies, over the null distributions."""
        return self.spectrum_nulls.p_value(KEY_ENERGY)

    @cached_property
    def logit_nulls(self) -> nulls.Nulls:
        """Null distributions for the share of the logits' variance that frequencies or representations explain."""
        return self.basis.logit_nulls(self.logits, len(self.key_blocks), self._logits_at_start())

    @property
    def _drawable(self) -> Config | None:
        """Configuration for untrained networks of this shape; None for a user's module."""
        return None if isinstance(self.model, Wrapped) else self.model.cfg

    def _logits_at_start(self) -> Iterator[Float[Tensor, "*pair output"]] | None:
        """Yield logits of untrained networks; None for a user's module.

        The logits are those of all pairs in the task's order, or of the basis' `some_pairs`.
        """
        config, pairs, order = self._drawable, self.basis.some_pairs, self.basis.order
        if config is None:
            return None
        if pairs is None:
            return untrained_logits(config, self.task)
        return untrained_logits(config, self.task, order[pairs // self.p] * self.task.grid[1] + order[pairs % self.p])

    # Embedding

    @property
    def W_E(self) -> Float[Tensor, "a d_model"]:
        """Embedding of the first number a, in the order of the basis, detached from autograd."""
        W_E = self.model.W_E
        return (W_E[: self.p] if self._keeps_order else W_E[self._columns]).detach()

    @property
    def W_pos(self) -> Float[Tensor, "pos d_model"]:
        """Positional embeddings.

        Raises:
            NoSuchPart: the network has no positional embeddings.
        """
        if not hasattr(self.model, "pos_embed"):
            raise NoSuchPart(f"{self.name} has no position embeddings")
        return self.model.pos_embed.W_pos

    @cached_property
    def position_likeness(self) -> position_embeddings.PositionLikeness:
        """Correlation and cosine of the first two positional embeddings."""
        return position_embeddings.position_likeness(self.W_pos)

    @cached_property
    def embedding_svd(self) -> singular_vectors.SingularValues:
        """Singular values and left singular vectors of the embedding."""
        return singular_vectors.singular_values(self.W_E)

    @cached_property
    def singular_vectors(self) -> singular_vectors.Periodicity:
        """Best wave of each top left singular vector of W_E; these reach half the sum of the singular values."""
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
        """Return the frequencies at which the embedding's norm exceeds its mean by a number of standard deviations."""
        return frequencies.active_frequencies(self.embedding_norms, deviations)

    @property
    def significant_frequencies(self) -> tuple[int, ...]:
        """Frequencies at which the embedding's norm exceeds a quarter of its largest norm."""
        return frequencies.significant_frequencies(self.W_E)

    @property
    def embedding_gini(self) -> float:
        """Gini coefficient of the embedding's norms over frequencies, in [0, 1]: 0 for a flat spectrum."""
        return gini(self.embedding_norms)

    # Answers

    @cached_property
    def test(self) -> Int[Tensor, " test"] | None:
        """Indices of the held-out pairs in the basis; None if no pairs are held out or the split is unknown."""
        if not self.run.knows_split or not len(self.split.test):
            return None
        return self.basis.rows(self.split.test)

    def predicted_by(self, network: Network) -> Int[Tensor, "input output"]:
        """Return the answers of a network to every question of this run's task, on all inputs."""
        parts = logits_on_grid(network, self.task).flatten(0, 1).cpu().split(list(self.task.output_sizes), dim=-1)
        return torch.stack([part.argmax(dim=-1) for part in parts], dim=-1)

    @cached_property
    def predicted(self) -> Int[Tensor, "input output"]:
        """Answers of the run's network to every question, on all inputs."""
        return self.predicted_by(self.model)

    @cached_property
    def correct(self) -> Bool[Tensor, "input output"]:
        """True for each right answer of the run's network, in the task's order."""
        return self.predicted == self.task.labels()

    @property
    def held_out(self) -> Tensor | slice:
        """Indices of the held-out inputs; all inputs if a user's training inputs are unknown."""
        return self.split.test if self.run.knows_split else slice(None)

    @cached_property
    def test_accuracies(self) -> tuple[float, ...]:
        """Accuracy of every question on the `held_out` inputs; for a user's checkpoint, on all inputs.

        For a run without weights, the accuracies are the last accuracies in the training history.
        """
        if not self.has_weights:
            return tuple(self.questions.final("test_accuracy").tolist())
        return tuple(self.correct[self.held_out].double().mean(dim=0).tolist())

    @property
    def held_out_accuracy(self) -> float:
        """Mean accuracy over the questions on the `held_out` inputs; for a user's checkpoint, on all inputs."""
        return sum(self.test_accuracies) / len(self.test_accuracies)

    @cached_property
    def neuron_peaks(self) -> Float[Tensor, " neuron"]:
        """For each first-layer neuron, ratio of the largest to the mean magnitude of its 2D transform; NaN if dead."""
        return neuron_spectra.peak_ratios(self.activation(NEURONS))

    @cached_property
    def n_key_frequencies(self) -> int:
        """Number of key frequencies of W_L, for a network with one question."""
        return len(frequencies.key_frequencies(self.W_L).freqs)

    @cached_property
    def attention_distances(self) -> Float[Tensor, " head"]:
        """Mean relative difference of the attention to a and the attention to b."""
        return (self.pattern[..., 0] - self.pattern[..., 1]).abs().mean(dim=(0, 1))

    @cached_property
    def attention_sum_error(self) -> float:
        """Largest deviation from 1 of the sum of a row of attention."""
        return float((self.pattern.sum(dim=-1) - 1).abs().max())

    @property
    def peak_neuron(self) -> int:
        """Index of the neuron with the largest value of `neuron_peaks`."""
        return int(self.neuron_peaks.nan_to_num(0).argmax())
