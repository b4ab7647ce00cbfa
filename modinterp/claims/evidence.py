"""What claims and figures ask of one run, each analysis done once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar, cast

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import ActivationCache, logits_with
from modinterp.analyses import (
    ablations,
    attention,
    components,
    cosine_sums,
    frequencies,
    neurons,
    phases,
    progress,
    readout,
    summary,
)
from modinterp.analyses.fourier import transform_2d
from modinterp.models import Network
from modinterp.runs import NotRecorded, TrainedRun

NEURONS, PATTERN, SCORES = (
    "blocks.0.mlp.hook_post", "blocks.0.attn.hook_pattern", "blocks.0.attn.hook_attn_scores",
)  # fmt: skip

MAINLINE = tuple(f"nanda/mainline-{seed}" for seed in range(5))  # what the other sources' networks are held against


class Captured:
    """A run over pairs with its activations on all of them, on which every kind of evidence stands."""

    def __init__(self, run: TrainedRun):
        self.run, self.task, self.model = run, run.task, run.model
        self.p = run.task.grid[0] if run.task.grid else run.task.heads[0]

    @property
    def last_block(self) -> str:
        """Name of the layer whose neurons make the logits."""
        return f"blocks.{len(self.model.blocks) - 1}"

    @property
    def grid(self) -> ActivationCache:
        """Every activation at the last position, for all inputs."""
        return self.run.activations()

    @property
    def logits(self) -> Float[Tensor, "a b output"]:
        """Logits at the last position, on all inputs."""
        return self.grid["logits"]

    @cached_property
    def labels(self) -> Int[Tensor, "input output"]:
        """The right answer to every question."""
        return self.task.labels()

    @property
    def W_E(self) -> Float[Tensor, "residue d_model"]:
        """Embedding of the residues, without that of "=" and without a gradient."""
        return self.model.W_E[: self.p].detach()


class Evidence(Captured):
    """The analyses of one run; each attribute is measured when it is first asked for and then kept."""

    @property
    def post(self) -> Float[Tensor, "a b neuron"]:
        """Neurons of the last layer, after their nonlinearity."""
        return self.grid[f"{self.last_block}.mlp.hook_post"]

    @property
    def pre(self) -> Float[Tensor, "a b neuron"]:
        """Neurons of the last layer, before their nonlinearity."""
        return self.grid[f"{self.last_block}.mlp.hook_pre"]

    @property
    def W_L(self) -> Float[Tensor, "neuron output"]:
        """The map from neurons to logits."""
        if not hasattr(self.model.blocks[-1], "mlp"):
            raise NotRecorded(f"{self.run.name} is attention alone, without neurons")
        return self.model.W_L

    @cached_property
    def test(self) -> Int[Tensor, " test"] | None:
        """Rows not trained on; None for a foreign checkpoint, of which they are not known."""
        return None if self.run.spec is None else self.run.split.test

    @cached_property
    def spectrum(self) -> Float[Tensor, "component_a component_b output"]:
        """2D transform of the logits over the inputs."""
        return transform_2d(self.logits)

    @cached_property
    def keys(self) -> frequencies.KeyFrequencies:
        """Key frequencies of W_L, their norms, and how clear the gap is."""
        return frequencies.key_frequencies(self.W_L)

    @property
    def freqs(self) -> tuple[int, ...]:
        """Key frequencies, in ascending order. [cycles per p]"""
        return self.keys.freqs

    @cached_property
    def readoff(self) -> readout.ReadoffTable:
        """What the neurons are along the directions that W_L reads (table 1)."""
        return readout.readoff(self.post, self.W_L, self.freqs)

    @cached_property
    def logit_fit(self) -> cosine_sums.LogitFit:
        """The logits as a sum of cosines of w(a + b - c), one a key frequency."""
        return cosine_sums.logit_fit(self.logits, self.freqs)

    @cached_property
    def low_rank(self) -> readout.LowRank:
        """W_L against its part at the key frequencies."""
        return readout.low_rank(self.W_L, self.freqs)

    @cached_property
    def neurons(self) -> neurons.NeuronFits:
        """Each neuron as a polynomial in the waves of one frequency."""
        return neurons.neuron_fits(self.post)

    @cached_property
    def localisation(self) -> dict[int, float]:
        """Frequency of a cluster of neurons to the share of its map to the logits that lies there."""
        return neurons.localisation(self.W_L, self.neurons.clusters())

    @cached_property
    def heads(self) -> attention.HeadFits:
        """Each head's attention as waves of one frequency (table 2)."""
        return attention.head_fits(self.grid[PATTERN])

    @cached_property
    def sigmoid(self) -> attention.LinearSigmoid:
        """Attention to a, the sigmoid of a difference of lookup tables, against its best line."""
        return attention.linear_sigmoid(self.tables, self.grid[PATTERN])

    @cached_property
    def tables(self) -> Float[Tensor, "residue head"]:
        """Lookup tables C_j."""
        return attention.lookup_tables(self.model, self.p)

    @cached_property
    def ov(self) -> Float[Tensor, "head residue d_model"]:
        """What each head adds to the residual stream when it attends to a residue alone."""
        return attention.ov_circuits(self.model, self.p)

    @cached_property
    def roles(self) -> attention.HeadRoles:
        """Which heads multiply waves and which amplify them."""
        W_O = self.model.blocks[0].attn.W_O.detach().double()
        written = torch.einsum("abhd,hdm->abhm", self.grid["z", 0], W_O)
        return attention.head_roles(self.tables, self.ov, self.grid[PATTERN], written)

    @cached_property
    def _component_values(self) -> dict[str, dict[str, Tensor]]:
        if self.model.cfg.n_layers > 1:
            raise NotRecorded(f"components are taken out of networks of one layer; {self.run.name} has more")
        return components.component_interventions(self.grid)

    @cached_property
    def _neuron_values(self) -> dict[str, dict[str, Tensor]]:
        return components.neuron_interventions(self.grid, self.neurons, self.W_L, self.freqs)

    @cached_property
    def _ablated(self) -> dict[str, components.Ablation]:
        return {"original": components.ablation(self.logits, self.labels, self.test)}

    def ablated(self, name: str) -> components.Ablation:
        """What one intervention on a component or the neurons leaves; `original` is none."""
        if name not in self._ablated:
            values = self._component_values.get(name) or self._neuron_values[name]
            self._ablated[name] = self.changed(logits_with(cast(Network, self.grid.model), self.task, values))
        return self._ablated[name]

    @cached_property
    def ablations(self) -> components.Ablations:
        """Every intervention."""
        names = ("original", *self._component_values, *self._neuron_values)
        return components.Ablations({name: self.ablated(name) for name in names})

    @property
    def accuracy(self) -> float:
        """Share of right answers over all pairs."""
        return self.ablated("original").accuracy

    def changed(self, logits: Float[Tensor, "a b output"]) -> components.Ablation:
        """Loss and accuracy of changed logits beside the run's own."""
        return components.ablation(logits, self.labels, self.test, self.ablated("original"))

    def test_losses_counted_as(self, terms: ablations.Terms) -> tuple[float, float, float]:
        """Test loss of the network, without its key frequencies, and without all others. [nats]"""
        without_keys = ablations.excluded_logits(self.logits, self.freqs, terms)
        without_others = ablations.restricted_logits(self.logits, self.freqs, terms)
        first, second = (self.changed(logits).test_loss for logits in (without_keys, without_others))
        return self.ablated("original").test_loss, first, second

    @cached_property
    def test_losses(self) -> tuple[float, float, float]:
        """The same, with a frequency's waves of a + b taken out or left, as the paper's code does."""
        return self.test_losses_counted_as("sums")

    @cached_property
    def summary(self) -> summary.Summary:
        """A row of tables 5 and 6, without keeping the activations that it is measured on."""
        return summary.summary(self.model, self.task, None if self.run.spec is None else self.run.split.train)

    @cached_property
    def loss_without_each(self) -> dict[ablations.Terms, Float[Tensor, " freq"]]:
        """Loss with one frequency taken out, counted in two ways. [nats]"""
        counted: tuple[ablations.Terms, ...] = ("products", "sums")
        return {terms: ablations.loss_without_each(self.logits, self.labels, terms) for terms in counted}

    @cached_property
    def progress(self) -> pd.DataFrame:
        """Progress measures as shipped, or taken now from every snapshot there is."""
        if self.run.progress is not None:
            return self.run.progress
        if not self.run.snapshots:
            raise NotRecorded(f"no snapshots of {self.run.name} were kept")
        return progress.progress_measures(self.run, self.freqs)

    @cached_property
    def largest_exclusion(self) -> pd.DataFrame:
        """The excluded loss of the one frequency that is missed the most, at every snapshot."""
        if not self.run.snapshots:
            raise NotRecorded(f"no snapshots of {self.run.name} were kept")
        return progress.largest_single_exclusion(self.run)

    @cached_property
    def phases(self) -> phases.Phases:
        """Memorisation, circuit formation and cleanup, in epochs."""
        return phases.phases(self.progress)

    @cached_property
    def grokking(self) -> phases.Grokking:
        """When the run memorised and when it grokked, in epochs."""
        if not len(self.run.history):
            raise NotRecorded(f"how {self.run.name} was trained is not known")
        return phases.grokking(self.run.history, self.p)


Kind = TypeVar("Kind")


def kept(kind: Callable[[TrainedRun], Kind], run: TrainedRun) -> Kind:
    """One kind of evidence of a run, made once and kept with the run."""
    there = vars(run).setdefault("_evidence", {})
    if kind not in there:
        there[kind] = kind(run)
    return there[kind]


def evidence(run: TrainedRun) -> Evidence:
    """The evidence of a run, kept with the run."""
    return kept(Evidence, run)
