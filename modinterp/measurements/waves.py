"""What is measured in the Fourier basis of a network over pairs of residues."""

from __future__ import annotations

from functools import cached_property

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import logits_with
from modinterp.analyses.attention import components
from modinterp.analyses.attention import heads as attention
from modinterp.analyses.fourier import ablations, cosine_sums, frequencies, neurons, readout
from modinterp.analyses.fourier.sparsity import fourier_gini, gini
from modinterp.analyses.fourier.transforms import component_norms, transform_2d
from modinterp.analyses.network import summary
from modinterp.analyses.training import phases, progress
from modinterp.measurements.grid import GridMeasurements
from modinterp.measurements.network import PATTERN, NoSuchPart
from modinterp.tasks import cyclic

ATTN_OUT, MLP_OUT, Z = "blocks.0.hook_attn_out", "blocks.0.hook_mlp_out", "blocks.0.attn.hook_z"
_W_O = "blocks.0.attn.W_O"


class WaveMeasurements(GridMeasurements):
    """The measurements of Nanda et al. 2023: a network over pairs of residues in the Fourier basis."""

    def weight(self, name: str) -> Tensor:
        """A weight as it is stored, without a gradient, by its name, such as `blocks.0.mlp.W_out`.

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
    def pre(self) -> Float[Tensor, "a b neuron"]:
        """Neurons of the last layer before their nonlinearity, over all pairs."""
        return self.activation(f"{self.last_block}.mlp.hook_pre")

    @cached_property
    def test(self) -> Int[Tensor, " test"] | None:
        """Rows of the inputs that were not trained on; None where there are none, or where they are not known.

        Of a foreign checkpoint it is not known.
        """
        return self.split.test if self.run.spec is not None and len(self.split.test) else None

    @cached_property
    def spectrum(self) -> Float[Tensor, "component_a component_b output"]:
        """Coefficients of the logits in the 2D Fourier basis over a and b."""
        return transform_2d(self.logits)

    @cached_property
    def keys(self) -> frequencies.KeyFrequencies:
        """Frequencies whose norms in W_L stand out, and how clear the gap to the others is.

        Raises:
            NoSuchPart: the task adds once its numbers are renamed, as multiplication does: as they stand, they have no
                frequencies, and `explain` measures the network in that order.
        """
        renamed = cyclic(self.task)
        if renamed is not None and renamed.is_renamed:
            raise NoSuchPart(
                f"{self.task.name} has no frequencies in the order of its numbers; explain finds the other"
            )
        return frequencies.key_frequencies(self.W_L)

    @property
    def freqs(self) -> tuple[int, ...]:
        """Key frequencies of W_L in ascending order. [cycles per p]"""
        return self.keys.freqs

    @cached_property
    def components_of_W_E(self) -> Float[Tensor, " component"]:
        """Norm of the embedding at each wave of the Fourier basis, the constant first."""
        return component_norms(self.W_E).cpu()

    @cached_property
    def components_of_W_L(self) -> Float[Tensor, " component"]:
        """Norm of the map from neurons to logits at each wave of the Fourier basis, the constant first."""
        return component_norms(self.W_L.T).cpu()

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
    def readoff(self) -> readout.ReadoffTable:
        """Neurons along the cosine and sine directions of W_L, fitted by waves of a + b (Nanda et al., table 1)."""
        return readout.readoff(self.post, self.W_L, self.freqs)

    @cached_property
    def logit_fit(self) -> cosine_sums.LogitFit:
        """The logits fitted by a sum of cosines of w(a + b - c), one at each key frequency w."""
        return cosine_sums.logit_fit(self.logits, self.freqs)

    @cached_property
    def low_rank(self) -> readout.LowRank:
        """Rank of W_L at the key frequencies, and what of W_L lies elsewhere."""
        return readout.low_rank(self.W_L, self.freqs)

    @cached_property
    def neurons(self) -> neurons.NeuronFits:
        """Each neuron fitted by a polynomial of degree 2 in the waves of one frequency."""
        return neurons.neuron_fits(self.post)

    @cached_property
    def localisation(self) -> dict[int, float]:
        """Frequency to the share of W_L, restricted to the cluster of neurons of that frequency, that lies there."""
        return neurons.localisation(self.W_L, self.neurons.clusters())

    @cached_property
    def heads(self) -> attention.HeadFits:
        """Each head's attention to a fitted by waves of one frequency (Nanda et al., table 2)."""
        return attention.head_fits(self.pattern)

    @cached_property
    def sigmoid(self) -> attention.LinearSigmoid:
        """Each head's attention to a, a sigmoid of C[a] - C[b], fitted by a line in that difference."""
        return attention.linear_sigmoid(self.tables, self.pattern)

    @cached_property
    def tables(self) -> Float[Tensor, "residue head"]:
        """Lookup table C of each head: the score that the last position gives to every residue as a key. [nats]

        Raises:
            NoSuchPart: the network has no attention, or its last token is not always the same.
        """
        self.weight(_W_O)
        if not getattr(self.task, "equals", True) or getattr(self.task, "vocabularies", 1) > 1:
            raise NoSuchPart(
                f"{self.name} has no '=' at the end, after numbers of one vocabulary, that would look them up"
            )
        return attention.lookup_tables(self.model, self.p)

    @cached_property
    def ov(self) -> Float[Tensor, "head residue d_model"]:
        """OV circuit of each head: what it adds to the residual stream when it attends to one residue alone.

        Raises:
            NoSuchPart: the network has no attention.
        """
        self.weight(_W_O)
        return attention.ov_circuits(self.model, self.p)

    @cached_property
    def roles(self) -> attention.HeadRoles:
        """Which heads multiply waves of a and b, and which pair of heads amplifies them."""
        onto_written = torch.linalg.qr(self.weight(_W_O).double().mT).R.mT  # W_O in a basis of what each head writes
        head_out = torch.einsum("abhd,hde->abhe", self.activation(Z), onto_written)
        return attention.head_roles(self.tables, self.ov, self.pattern, head_out)

    @cached_property
    def _component_values(self) -> dict[str, dict[str, Tensor]]:
        if self.model.cfg.n_layers > 1:
            raise NoSuchPart(f"components are taken out of networks of one layer; {self.name} has more")
        for hook in (PATTERN, ATTN_OUT, MLP_OUT):
            self.activation(hook)
        self.tables  # noqa: B018 - of a network without "=" there are none, and no attention of "=" to itself
        return components.component_interventions(self.grid)

    @cached_property
    def _neuron_values(self) -> dict[str, dict[str, Tensor]]:
        return components.neuron_interventions(self.grid, self.neurons, self.W_L, self.freqs)

    @cached_property
    def _ablated(self) -> dict[str, components.Ablation]:
        return {"original": components.ablation(self.logits, self.labels, self.test)}

    def ablated(self, name: str) -> components.Ablation:
        """Loss and accuracy after one intervention on a component or on the neurons; `original` is no intervention.

        Raises:
            ValueError: no intervention has that name.
            NoSuchPart: the network lacks the component.
        """
        if name not in self._ablated:
            interventions = self._neuron_values if name.startswith("neurons ") else self._component_values
            if name not in interventions:
                known = ", ".join(["original", *self._component_values, *self._neuron_values])
                raise ValueError(f"no intervention {name!r}; there are {known}")
            logits = logits_with(self.model, self.task, interventions[name], self.grid)
            self._ablated[name] = self.changed(logits)
        return self._ablated[name]

    def ablated_without_skip(self, name: str) -> components.Ablation:
        """Loss and accuracy after an intervention on the neurons, the last MLP's skip connection at its mean as well.

        Raises:
            KeyError: no intervention on the neurons has that name.
            NoSuchPart: the network has no skip connection around an MLP.
        """
        hook = f"blocks.{self.model.cfg.n_layers - 1}.hook_resid_mid"
        mid = self.activation(hook)
        values = self._neuron_values[name] | {hook: mid.mean(dim=(0, 1)).expand_as(mid)}
        return self.changed(logits_with(self.model, self.task, values, self.grid))

    @cached_property
    def ablations(self) -> components.Ablations:
        """Loss and accuracy after every intervention on a component or on the neurons."""
        names = ("original", *self._component_values, *self._neuron_values)
        return components.Ablations({name: self.ablated(name) for name in names})

    @cached_property
    def accuracy(self) -> float:
        """Share of all pairs that the network answers correctly."""
        return self.ablated("original").accuracy

    def changed(self, logits: Float[Tensor, "a b output"]) -> components.Ablation:
        """Loss and accuracy of other logits in place of the network's, and their ratio to the network's own."""
        return components.ablation(logits, self.labels, self.test, self.ablated("original"))

    def test_losses_counted_as(self, terms: ablations.Terms) -> tuple[float, float, float]:
        """Test loss of the logits, of the logits without the key frequencies, and of those alone. [nats]

        Args:
            terms: what belongs to a frequency: all products of its waves, or its waves of a + b.
        """
        without_keys = ablations.excluded_logits(self.logits, self.freqs, terms)
        without_others = ablations.restricted_logits(self.logits, self.freqs, terms)
        return (
            self.ablated("original").test_loss,
            self.changed(without_keys).test_loss,
            self.changed(without_others).test_loss,
        )

    @cached_property
    def test_losses(self) -> tuple[float, float, float]:
        """`test_losses_counted_as` with waves of a + b alone, as the code of Nanda et al. has it. [nats]"""
        return self.test_losses_counted_as("sums")

    @cached_property
    def summary(self) -> summary.Summary:
        """The row of this network in tables 5 and 6 of Nanda et al.; its activations are not held in memory.

        Raises:
            NoSuchPart: the network has no attention.
        """
        if self.model.cfg.n_heads == 0:
            raise NoSuchPart(f"{self.name} has no attention")
        return summary.summary(self.model, self.task, None if self.run.spec is None else self.split.train)

    @cached_property
    def loss_without_each(self) -> dict[ablations.Terms, Float[Tensor, " freq"]]:
        """Loss over all pairs without one frequency, with the frequency counted in two ways. [nats]

        See `test_losses_counted_as` for the two ways, by whose names the losses are.
        """
        counted: tuple[ablations.Terms, ...] = ("products", "sums")
        return {terms: ablations.loss_without_each(self.logits, self.labels, terms) for terms in counted}

    @cached_property
    def progress(self) -> pd.DataFrame:
        """Progress measures by epoch: those that came with the run, or else those of its snapshots.

        Raises:
            NotRecorded: neither they nor snapshots came with the run.
        """
        if self.run.progress is not None:
            return self.run.progress
        return progress.progress_measures(self.networks(), self.task, self.split, self.freqs)

    @cached_property
    def largest_exclusion(self) -> pd.DataFrame:
        """At every snapshot, the frequency without which the loss is largest, and that loss. [nats]

        Raises:
            NotRecorded: no snapshots came with the run.
        """
        return progress.largest_single_exclusion(self.networks(), self.task, self.split.train)

    @cached_property
    def phases(self) -> phases.Phases:
        """When memorisation, circuit formation and cleanup end. [epochs]

        Raises:
            NotRecorded: neither progress measures nor snapshots came with the run.
        """
        return phases.phases(self.progress)
