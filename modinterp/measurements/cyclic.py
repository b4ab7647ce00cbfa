"""Measure a network over pairs of residues in the Fourier basis: waves, neurons, heads, progress, ablations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.attention import components
from modinterp.analyses.attention import heads as attention
from modinterp.analyses.circles import symmetry
from modinterp.analyses.circles.circle import circle, plane
from modinterp.analyses.fourier import ablations, cosine_sums, frequencies, neurons, readout
from modinterp.analyses.fourier.logit_sums import LogitSums, logit_sums
from modinterp.analyses.fourier.marginals import Marginals, marginals
from modinterp.analyses.fourier.sparsity import fourier_gini, gini
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms, transform_2d
from modinterp.analyses.network import nulls, summary
from modinterp.analyses.training import phases, progress
from modinterp.bases import KEY_ENERGY, Frequencies
from modinterp.measurements.causal import Causal
from modinterp.measurements.circles import ATTN_OUT, MLP_OUT, Circles, Z
from modinterp.measurements.functions import Functions
from modinterp.measurements.isolation import Isolation
from modinterp.measurements.network import PATTERN, NoSuchPart
from modinterp.measurements.pairs import PairMeasurements
from modinterp.measurements.questions import Questions
from modinterp.measurements.removal import Site, each_head, without
from modinterp.measurements.views import CircleOf, Head, Neuron, Without

_W_O = "blocks.0.attn.W_O"
FEWEST_DRAWS = 99  # whose least p-value, 1 in 100, is what a verdict asks for


class CyclicMeasurements(PairMeasurements):
    """The measurements of a network over pairs of residues in the Fourier basis, after Nanda et al. 2023.

    Waves of the answer are functions of a + b, of a - b, or, for a * b, of the sum of discrete logarithms.
    """

    parts = (Questions, Causal, Circles, Functions, Isolation)
    basis: Frequencies  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def circles(self) -> Circles:
        """Measurements of circles: in the embedding, through attention and the MLP, and in W_L."""
        return self.part(Circles)

    @property
    def functions(self) -> Functions:
        """Interventions on circles of f(a) and g(b), for tasks with the answer f(a) + g(b), such as a^2 + b."""
        return self.part(Functions)

    @property
    def isolation(self) -> Isolation:
        """Measurements of each circle of the embedding alone, as in Zhong et al. 2023."""
        return self.part(Isolation)

    @property
    def sign(self) -> int:
        """1 for a + b, -1 for a - b."""
        return self.basis.sign

    # Weights

    @property
    def W_V(self) -> Float[Tensor, "head d_model d_head"]:
        """Value weights of the first layer's heads, in float64.

        Raises:
            NoSuchPart: the network has no attention.
        """
        return self.weight("blocks.0.attn.W_V").double()

    @property
    def W_O(self) -> Float[Tensor, "head d_head d_model"]:
        """Output weights of the first layer's heads, in float64.

        Raises:
            NoSuchPart: the network has no attention.
        """
        return self.weight(_W_O).double()

    @property
    def W_in(self) -> Float[Tensor, "d_model neuron"]:
        """Input weights of the first layer's MLP, as the network stores them.

        Raises:
            NoSuchPart: the network has no MLP.
        """
        return self.weight("blocks.0.mlp.W_in")

    @property
    def b_in(self) -> Float[Tensor, " neuron"]:
        """Biases of the first layer's neurons, as the network stores them.

        Raises:
            NoSuchPart: the network's first layer has no biases of neurons.
        """
        return self.weight("blocks.0.mlp.b_in")

    @property
    def W_out(self) -> Float[Tensor, "neuron d_model"]:
        """Output weights of the first layer's MLP, as the network stores them.

        Raises:
            NoSuchPart: the network has no MLP, or its neurons give the logits directly, without W_out.
        """
        return self.weight("blocks.0.mlp.W_out")

    @property
    def b_out(self) -> Float[Tensor, " d_model"]:
        """Bias of the first MLP's output, as the network stores it.

        Raises:
            NoSuchPart: the network's first MLP has no output bias.
        """
        return self.weight("blocks.0.mlp.b_out")

    @property
    def W_U(self) -> Float[Tensor, "d_model output"]:
        """Unembedding of the residues in the order of the basis, in float64."""
        W_U = self.model.W_U.detach().double()
        return W_U[:, : self.p] if self._keeps_order else W_U[:, self._columns]

    @property
    def n_heads(self) -> int:
        """Number of attention heads in the first layer."""
        return self.pattern.shape[2]

    @property
    def pre(self) -> Float[Tensor, "a b neuron"]:
        """Neurons of the last layer before their nonlinearity, over all pairs."""
        return self.activation(f"{self.last_block}.mlp.hook_pre")

    # Frequencies

    @cached_property
    def keys(self) -> frequencies.KeyFrequencies:
        """Key frequencies, which have the largest norms in the read-out matrix, and the gap to the other norms."""
        return frequencies.key_frequencies(self.W_L if self.as_published else self.readout_matrix)

    @property
    def freqs(self) -> tuple[int, ...]:
        """Key frequencies in ascending order. [cycles per p]"""
        return self.keys.freqs

    @property
    def key_blocks(self) -> tuple[int, ...]:
        """Key frequencies in ascending order, under the name that all measurements over pairs share. [cycles per p]"""
        return self.freqs

    @cached_property
    def spectrum(self) -> Float[Tensor, "component_a component_b output"]:
        """Coefficients of the logits in the 2D Fourier basis over a and b."""
        return transform_2d(self.logits)

    @cached_property
    def spectrum_energy(self) -> Float[Tensor, "component_a component_b"]:
        """Energy of the logits' components in the 2D Fourier basis over a and b, summed over the outputs."""
        return neurons.spectrum_energy(self.logits)

    @cached_property
    def logit_sums(self) -> LogitSums:
        """Sums of the logits over entries with equal a + b - c (or a - b - c), and the energies of these sums."""
        return logit_sums(self.logits, self.sign)

    @cached_property
    def logit_freqs(self) -> tuple[int, ...]:
        """Frequencies of the largest cosines of the answer in the logits, as many as there are key frequencies."""
        sizes = cosine_sums.spectrum_of_sums(self.logit_sums.by_distance).abs()
        return tuple(sorted((sizes.topk(len(self.freqs)).indices + 1).tolist()))

    @cached_property
    def gini_of_W_E(self) -> float:
        """Gini coefficient of the embedding over Fourier components (definition D7)."""
        return fourier_gini(self.W_E)

    @cached_property
    def gini_of_W_L(self) -> float:
        """Gini coefficient of the map from neurons to logits over Fourier components (definition D7)."""
        return fourier_gini(self.W_L.T)

    @cached_property
    def gini_of_neurons(self) -> float:
        """Gini coefficient of the norms of the output weights of the last layer's neurons."""
        return gini(self.weight(f"{self.last_block}.mlp.W_out").norm(dim=1))

    @cached_property
    def components_of_W_E(self) -> Float[Tensor, " component"]:
        """Norm of the embedding at each component of the Fourier basis; the first component is the constant."""
        return component_norms(self.W_E).cpu()

    @cached_property
    def components_of_W_L(self) -> Float[Tensor, " component"]:
        """Norm of the map from neurons to logits at each component of the Fourier basis; the first is the constant."""
        return component_norms(self.W_L.T).cpu()

    @cached_property
    def embedding_shares(self) -> Float[Tensor, " freq"]:
        """Share of the embedding's energy at every frequency, without the constant; entry k - 1 is of frequency k."""
        return self.basis.energy_shares(self.W_E).cpu()

    @cached_property
    def embedding_is_periodic(self) -> bool:
        """True if few frequencies hold most of the embedding, and more than after relabelling the residues."""
        if not self.has_embedding:
            return False
        count, W_E = len(self.freqs), self.W_E.T.double().cpu()
        share = nulls.separation(W_E, count)[KEY_ENERGY]
        renamed = (W_E[:, order] for order in nulls.renamings(self.p, FEWEST_DRAWS))
        return share >= 0.5 and all(share > nulls.separation(w, count)[KEY_ENERGY] for w in renamed)

    # Logits

    @cached_property
    def readoff(self) -> readout.ReadoffTable:
        """Projections of the features onto the read-out directions of each key frequency (Nanda et al., table 1)."""
        if self.as_published:
            return readout.readoff(self.post, self.W_L, self.freqs, self.sign)
        return readout.readoff(self.features, self.readout_matrix, self.freqs, self.sign)

    @cached_property
    def low_rank(self) -> readout.LowRank:
        """Rank of the read-out matrix at the key frequencies, and the share of its norm at other frequencies."""
        return readout.low_rank(self.readout_matrix, self.freqs)

    @property
    def residual_norm(self) -> float:
        """Share of the read-out matrix's norm outside the directions of key frequencies, including the constant.

        Raises:
            NoSuchPart: the directions of key frequencies are as many as the read-out matrix has rows or columns.
        """
        if 2 * len(self.freqs) >= min(self.readout_matrix.shape):
            raise NoSuchPart(
                "the key directions are as many as the rows or columns of the matrix, so they span everything"
            )
        return self.low_rank.residual_norm

    @cached_property
    def logit_fit(self) -> cosine_sums.LogitFit:
        """Fit of the logits by a sum of cosines of w(a + b - c), or w(a - b - c), with one w for each key frequency."""
        return cosine_sums.fit_of_sums(self.logit_sums, self.freqs, self.sign)

    @cached_property
    def formula(self) -> Float[Tensor, "a b output"]:
        """The logits that the fitted sum of cosines in `logit_fit` predicts."""
        return self.logit_fit.logits(self.p)

    @property
    def _formula_of_first(self) -> Float[Tensor, "b output"]:
        return self.logit_fit.logits(self.p, slice(0, 1))[0]

    @property
    def formula_fit(self) -> float:
        """Share of the logits' variance that the formula explains, with each pair's and each class's mean removed."""
        return self.logit_fit.explained_by_row_and_class

    @cached_property
    def irrelevance(self) -> symmetry.Irrelevance:
        """Distance irrelevance of Zhong et al. 2023: how little the correct logit depends on a - b."""
        return symmetry.distance_irrelevance(self.logits, self.sign)

    @cached_property
    def symmetricity(self) -> symmetry.Symmetricity:
        """Gradient symmetricity of Zhong et al. 2023: how similar the gradients with respect to both inputs are.

        Raises:
            NoSuchPart: the logits have no gradient, as in a quantised module.
        """
        try:
            with torch.inference_mode(False), torch.enable_grad():
                return symmetry.gradient_symmetricity(self.model, self.task)
        except (RuntimeError, IndexError) as error:  # what torch raises where the graph does not reach the embedding
            raise NoSuchPart(f"the gradient of the logits of {self.name} is not available") from error

    @cached_property
    def symmetricity_over_pairs(self) -> float:
        """Gradient symmetricity over all pairs, with six random logits for each pair."""
        return symmetry.symmetricity_over_pairs(self.model, self.task)

    @cached_property
    def symmetricity_of_released_triples(self) -> float:
        """Gradient symmetricity over the 100 triples (a, b, c) of the code of Zhong et al. 2023."""
        return symmetry.gradient_symmetricity(self.model, self.task, shuffled=True).any_output

    @cached_property
    def symmetricity_without_skip(self) -> float:
        """Gradient symmetricity over 100 triples (a, b, c), without the skip connection around the attention.

        Raises:
            NoSuchPart: the network has no attention.
        """
        if self.model.cfg.n_heads == 0:
            raise NoSuchPart(f"{self.name} has no attention")
        return symmetry.gradient_symmetricity(self.model, self.task, shuffled=True, skip=False).any_output

    # Neurons

    @cached_property
    def neurons(self) -> neurons.NeuronFits:
        """Each neuron of the last layer fitted by a polynomial of degree 2 in the waves of one frequency."""
        return neurons.fits_of(self.neuron_marginals)

    @cached_property
    def neuron_marginals(self) -> Marginals:
        """Sums of the activations of the last layer's neurons over a, and over b."""
        return marginals(self.post)

    @cached_property
    def neurons_by_layer(self) -> dict[int, neurons.NeuronFits]:
        """Map each layer to the fits of its neurons, as in `neurons`.

        Raises:
            NoSuchPart: the hook name of the last layer's neurons is unknown.
        """
        self.post  # noqa: B018 - or there are none
        hooks = {layer: f"blocks.{layer}.mlp.hook_post" for layer in range(self.n_layers - 1)}
        seen = {layer: hook for layer, hook in hooks.items() if hook in self.model.hook_dict}
        fits = {layer: neurons.neuron_fits(self.activation(hook)) for layer, hook in seen.items()}
        return fits | {self.n_layers - 1: self.neurons}

    @cached_property
    def variance_shares(self) -> Float[Tensor, " freq"]:
        """Share of the variance of the last layer's neurons in linear and product terms of every frequency."""
        return neurons.shares_of_all(self.neuron_marginals)

    @cached_property
    def neuron_null(self) -> float:
        """99th percentile of the share of a neuron that one frequency explains, after relabelling residues."""
        return nulls.neuron_null(self.post)[0]

    @property
    def neurons_are_periodic(self) -> bool:
        """True if at least half of the neurons depend on one frequency, and more than with relabelled residues."""
        return self.has_neurons and bool(self.neurons.explained.double().mean() >= 0.5) and self.neuron_null < 0.5

    @cached_property
    def localisation(self) -> dict[int, float]:
        """Map each frequency to the share of W_L at this frequency, for the neurons in this frequency's cluster."""
        return neurons.localisation(self.W_L, self.neurons.clusters())

    # Attention

    @cached_property
    def heads(self) -> attention.HeadFits:
        """Fits of each head's attention to a by waves of one frequency (Nanda et al., table 2)."""
        return attention.head_fits(self.pattern)

    @cached_property
    def heads_by_layer(self) -> dict[int, attention.HeadFits]:
        """Map each layer to the fits of its heads, as in `heads`.

        Raises:
            NoSuchPart: the hook name of the last layer's attention is unknown.
        """
        upper = range(1, self.n_layers)
        fits = {layer: attention.head_fits(self.activation(f"blocks.{layer}.attn.hook_pattern")) for layer in upper}
        return {0: self.heads} | fits

    @cached_property
    def attention_shares(self) -> tuple[tuple[float, float], ...]:
        """For each head, two shares of its attention's variance, in terms of one number and at its best frequency.

        The variance of attention is taken over all pairs; terms of one number are terms of a alone or b alone.

        Raises:
            NoSuchPart: the network has no attention.
        """
        shares = []
        for head in range(self.n_heads):
            field = self.pattern[:, :, head, 0].double()
            about = field - field.mean()
            total = about.square().mean() * len(about)  # of the mean over the other number
            alone = torch.stack([frequency_norms(component_norms(about.mean(dim=axis))).square() for axis in (0, 1)])
            energies = alone.sum(dim=0)
            shares.append((float(energies.sum() / total), float(energies.max() / total)))
        return tuple(shares)

    @cached_property
    def tables(self) -> Float[Tensor, "residue head"]:
        """Lookup table C of each head: the attention score of the last position for every residue as the key. [nats]

        Raises:
            NoSuchPart: the network has no attention, or its last token varies between inputs.
        """
        self.weight(_W_O)
        if not getattr(self.task, "equals", True) or getattr(self.task, "vocabularies", 1) > 1:
            raise NoSuchPart(f"{self.name} does not end in a token '=' that attends to numbers of one vocabulary")
        return self._in_order(attention.lookup_tables(self.model, self.task.grid[0]))

    @cached_property
    def ov(self) -> Float[Tensor, "head residue d_model"]:
        """OV circuit of each head: the head's output to the residual stream when it attends to only one residue.

        Raises:
            NoSuchPart: the network has no attention.
        """
        self.weight(_W_O)
        return self._in_order(attention.ov_circuits(self.model, self.task.grid[0]).transpose(0, 1)).transpose(0, 1)

    def _in_order(self, of_residues: Tensor) -> Tensor:
        """Reorder values of all residues of the task, `[residue, ...]`, into the order of the basis."""
        return of_residues if self._keeps_order else of_residues[self._columns]

    @cached_property
    def sigmoid(self) -> attention.LinearSigmoid:
        """Fit of each head's attention to a, which is a sigmoid of C[a] - C[b], by a line in C[a] - C[b]."""
        return attention.linear_sigmoid(self.tables, self.pattern)

    @cached_property
    def roles(self) -> attention.HeadRoles:
        """Roles of the heads: heads that multiply waves of a and b, and the pair of heads that amplifies waves."""
        onto_written = torch.linalg.qr(self.weight(_W_O).double().mT).R.mT  # W_O in a basis of what each head writes
        head_out = torch.einsum("abhd,hde->abhe", self.activation(Z), onto_written)
        return attention.head_roles(self.tables, self.ov, self.pattern, head_out)

    # Training

    @cached_property
    def progress(self) -> pd.DataFrame:
        """Table of progress measures by epoch, as shipped with the run, or else computed from its snapshots.

        Raises:
            NotRecorded: the run has neither progress measures nor snapshots.
        """
        if self.run.progress is not None:
            return self.run.progress
        return progress.progress_measures(self.networks(), self.task, self.split, self.freqs)

    @cached_property
    def largest_exclusion(self) -> pd.DataFrame:
        """Table with, for each snapshot, the frequency whose removal gives the largest loss, and this loss [nats].

        Raises:
            NotRecorded: the run has no snapshots.
        """
        return progress.largest_single_exclusion(self.networks(), self.task, self.split.train)

    @cached_property
    def phases(self) -> phases.Phases:
        """Epochs at which memorisation, circuit formation and cleanup end. [epochs]

        Raises:
            NotRecorded: the run has neither progress measures nor snapshots.
        """
        return phases.phases(self.progress)

    # Ablations

    @cached_property
    def summary(self) -> summary.Summary:
        """Numbers of tables 5 and 6 of Nanda et al. for this network, computed without keeping activations in memory.

        Raises:
            NoSuchPart: the network has no attention.
        """
        if self.model.cfg.n_heads == 0:
            raise NoSuchPart(f"{self.name} has no attention")
        self.W_L  # noqa: B018 - or it is attention alone, of which the tables say nothing
        return summary.summary(self.model, self.task, self.split.train if self.run.knows_split else None)

    @cached_property
    def _component_values(self) -> dict[str, dict[str, Tensor]]:
        if self.model.cfg.n_layers > 1:
            raise NoSuchPart(f"components can be removed only in networks of one layer; {self.name} has more layers")
        for hook in (PATTERN, ATTN_OUT, MLP_OUT):
            self.activation(hook)
        self.tables  # noqa: B018 - of a network without "=" there are none, and no attention of "=" to itself
        return components.component_interventions(self.grid)

    @cached_property
    def _neuron_values(self) -> dict[str, dict[str, Tensor]]:
        hook = f"{self.last_block}.mlp.hook_post"
        values = components.neuron_interventions(self.post, self.neurons, self.W_L, self.freqs, self.sign)
        return {name: {hook: self.basis.put_back(value, self.grid[hook])} for name, value in values.items()}

    @cached_property
    def _ablated(self) -> dict[str, components.Ablation]:
        return {"original": self.original}

    def ablated(self, name: str) -> components.Ablation:
        """Return loss and accuracy after one named intervention on a component or the neurons; `original` changes
        nothing.

        Raises:
            ValueError: no intervention has that name.
            NoSuchPart: the network lacks the component.
        """
        if name not in self._ablated:
            interventions = self._neuron_values if name.startswith("neurons ") else self._component_values
            if name not in interventions:
                known = ", ".join(["original", *self._component_values, *self._neuron_values])
                raise ValueError(f"there is no intervention {name!r}; choose one of {known}")
            self._ablated[name] = self.changed(self.logits_after(interventions[name]))
        return self._ablated[name]

    def ablated_without_skip(self, name: str) -> components.Ablation:
        """Loss and accuracy after an intervention on the neurons, with the last MLP's skip connection at its mean.

        Raises:
            KeyError: no intervention on the neurons has that name.
            NoSuchPart: the network has no skip connection around an MLP.
        """
        hook = f"{self.last_block}.hook_resid_mid"
        self.activation(hook)
        mid = self.grid[hook]
        values = self._neuron_values[name] | {hook: mid.mean(dim=(0, 1)).expand_as(mid)}
        return self.changed(self.logits_after(values))

    @cached_property
    def ablations(self) -> components.Ablations:
        """Loss and accuracy after every available intervention on a component, a single head or the neurons."""
        names: list[str] = ["original"]
        for values in ("_component_values", "_neuron_values"):
            with suppress(NoSuchPart):
                names += getattr(self, values)
        return components.Ablations({name: self.ablated(name) for name in names} | each_head(self))

    @cached_property
    def test_losses(self) -> tuple[float, float, float]:
        """Test loss of three versions of the logits: unchanged, without the key frequencies, with only these. [nats]

        In these test losses, only waves of the answer are removed or kept, as in the code of Nanda et al. The test
        losses are NaN if the test pairs are unknown.
        """
        without_keys = ablations.excluded_logits(self.logits, self.freqs, "sums", self.sign)
        without_others = ablations.restricted_logits(self.logits, self.freqs, "sums", self.sign)
        return (
            self.original.test_loss,
            self.changed(without_keys).test_loss,
            self.changed(without_others).test_loss,
        )

    @cached_property
    def loss_without_each(self) -> dict[ablations.Terms, Float[Tensor, " freq"]]:
        """Loss over all pairs without each frequency, computed for two choices of the removed waves. [nats]

        The key `products` removes all products of waves of a and b, and `sums` removes the waves of the answer.
        """
        products = ablations.loss_without_each(self.logits, self.labels, "products", self.sign)
        return {"products": products, "sums": self.loss_without_each_block}

    # Questions about one part

    def without(
        self,
        frequencies: Sequence[int] = (),
        heads: Sequence[int] = (),
        neurons: Sequence[int] = (),
        site: Site = "logits",
    ) -> Without:
        """Remove some frequencies, heads or neurons, and return accuracy and loss before and after.

        Args:
            frequencies: frequencies to remove at the site; in neurons and logits, only waves of the answer are removed.
            heads, neurons: indices of first-layer heads or last-layer neurons to set to their mean over all pairs.
            site: where frequencies are removed: `embedding`, `neurons` or `logits`.
        Raises:
            ValueError: a part does not exist, or the arguments name no part, or parts of several kinds.
            NoSuchPart: the network does not expose the activations at the site.
        """
        return without(self, [self._frequency(k) for k in frequencies], heads, neurons, site)

    def neuron(self, index: int) -> Neuron:
        """View one neuron of the last layer: its activations, best frequency, weights, and the loss without it."""
        alone = without(self, neurons=[index])
        w_in = None
        if hasattr(self.model.blocks[-1], "mlp") and hasattr(self.model.blocks[-1].mlp, "W_in"):
            w_in = self.model.blocks[-1].mlp.W_in.detach()[:, index]
        freq, share = int(self.neurons.freqs[index]), float(self.neurons.fractions[index])
        return Neuron(index, self.post[..., index], freq, share, w_in, self.W_L[index], alone)

    def head(self, index: int) -> Head:
        """View one head of the first layer: its attention to a, best frequency, and the loss without it."""
        alone = without(self, heads=[index])
        fit = self.heads.heads[index]
        return Head(index, self.pattern[:, :, index, 0], fit.freq, fit.explained, alone)

    def circle(self, freq: int) -> CircleOf:
        """View the circle of a frequency in the embedding, with accuracy and loss without this frequency."""
        self._frequency(freq)
        points = self.W_E.double() @ plane(self.W_E, freq)
        share = self.shares_of(self.W_E)[str(freq)]
        return CircleOf(freq, freq in self.freqs, points, circle(points, freq), share, self.without(frequencies=[freq]))

    def _frequency(self, k: int) -> int:
        if k not in self.basis.all_blocks:
            raise ValueError(f"a frequency of {self.p} numbers lies between 1 and {self.p // 2}, got {k}")
        return k
