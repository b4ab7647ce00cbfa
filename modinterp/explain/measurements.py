"""What is measured of anybody's network that adds or subtracts, under whatever names, with nothing taken for granted.

Beside what is measured of every network over pairs there are null distributions, in which there is nothing to find; how
well the network, parts of its logits and a formula in their place answer; and, for attention without neurons, the
readout of the residual stream.
"""

from __future__ import annotations

from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.attention import heads as attention
from modinterp.analyses.circles import symmetry
from modinterp.analyses.fourier import ablations, cosine_sums, frequencies, neurons, readout
from modinterp.analyses.network import nulls
from modinterp.explain.behaviour import Score
from modinterp.explain.parts import one_thread
from modinterp.explain.renamed import CyclicMeasurements
from modinterp.runs import TrainedRun

GAP, KEY_ENERGY = "gap of the spectrum", "energy of the strongest"  # the statistics of `nulls.spectrum_nulls`
FEWEST_DRAWS = 99  # whose least p-value, 1 in 100, is what the band of the key frequencies' p-value asks for


class StrangerMeasurements(CyclicMeasurements):
    """The measurements of one network whose task is addition or subtraction, perhaps under other names.

    Where the sign of the operation or the lack of neurons makes a difference, a measurement of `PairMeasurements` is
    overridden; `summary` and the ablations of components are those of a + b.

    Args:
        run: of a task for which there is a `Cyclic`.
        draws: how many matrices are drawn for each null of the spectrum.
    Raises:
        ValueError: the task is addition under no names.
    """

    def __init__(self, run: TrainedRun, draws: int = 199):
        super().__init__(run)
        self.draws = draws

    @property
    def all_are_key(self) -> bool:
        """Whether every frequency is a key one, so that no null tells them from others."""
        return len(self.freqs) == self.p // 2

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
        hooks = {layer: f"blocks.{layer}.mlp.hook_post" for layer in range(self.n_layers - 1)}
        there = {layer: hook for layer, hook in hooks.items() if hook in self.model.hook_dict}
        fits = {layer: neurons.neuron_fits(self.activation(hook)) for layer, hook in there.items()}
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

    @property
    def neurons_are_periodic(self) -> bool:
        """Whether at least half of the neurons are one frequency, as they are not with residues renamed."""
        return self.has_neurons and bool(self.neurons.explained.double().mean() >= 0.5) and self.neuron_null < 0.5

    @property
    def neurons_at_keys(self) -> float:
        """Share of the variance of the last layer's neurons in waves and products of the key frequencies."""
        variances = self.post.double().var(dim=(0, 1))
        at_keys = self.neurons.shares[[k - 1 for k in self.freqs]].nan_to_num(0).sum(dim=0)
        total = float(variances.sum())
        return float(at_keys @ variances.to(at_keys)) / total if total > 0 else float("nan")

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

    @property
    def formula_fit(self) -> float:
        """Share of the logits that the formula explains, each pair's and each class's mean removed."""
        return self.logit_fit.explained_by_row_and_class

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
        first, second, third = (self.score(x, self.test).loss for x in (self.logits, without_keys, keys_alone))
        return first, second, third

    @cached_property
    def spectrum_nulls(self) -> nulls.Nulls:
        """How clear the key frequencies are, against matrices in which there is nothing to find."""
        order = self.cyclic.order
        at_start = None
        if self.config is not None and not self.is_opaque:
            at_start = (matrix[:, order] for matrix in nulls.readouts_at_start(self.config, self.draws))
        with one_thread():
            return nulls.spectrum_nulls(self.readout_matrix, len(self.freqs), at_start, self.draws)

    @cached_property
    def embedding_is_periodic(self) -> bool:
        """Whether as many frequencies as there are key ones hold most of the embedding, as under no other names."""
        if not self.has_embedding:
            return False
        count, W_E = len(self.freqs), self.W_E.T.double().cpu()
        share = nulls.separation(W_E, count)[KEY_ENERGY]
        renamed = (W_E[:, order] for order in nulls.renamings(self.p, FEWEST_DRAWS))
        return share >= 0.5 and all(share > nulls.separation(w, count)[KEY_ENERGY] for w in renamed)

    @property
    def key_energy(self) -> float:
        """Share of the readout matrix's energy in the key frequencies, the constant left out."""
        return {null.statistic: null.observed for null in self.spectrum_nulls.rows}[KEY_ENERGY]

    @cached_property
    def logit_nulls(self) -> nulls.Nulls:
        """How much of the logits the cosines explain, against logits in which there is nothing to find."""
        at_start = self.logits_at_start()
        in_order = None if at_start is None else (self.cyclic.arranged(each, is_logits=True) for each in at_start)
        return nulls.logit_nulls(self.logits, len(self.freqs), in_order, self.sign)

    @cached_property
    def symmetricity(self) -> symmetry.Symmetricity:
        """Whether both inputs act alike: gradient symmetricity of Zhong et al. 2023."""
        return symmetry.gradient_symmetricity(self.model, self.task)

    @cached_property
    def irrelevance(self) -> symmetry.Irrelevance:
        """Whether the correct logit feels how far a and b are apart: distance irrelevance of Zhong et al. 2023."""
        return symmetry.distance_irrelevance(self.logits, self.sign)
