"""Measure a network that composes the elements of a finite group, in the basis of representations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.attention import components
from modinterp.analyses.fourier.ablations import accuracy_on, loss_on
from modinterp.analyses.groups import characters, group_transforms, product_bounds, products
from modinterp.analyses.groups import neuron_irreps as neurons
from modinterp.analyses.groups.coset_means import Partitions, coset_means, coset_partitions, shuffled
from modinterp.analyses.groups.group_transforms import part_in
from modinterp.analyses.groups.irreps import Irrep, irrep
from modinterp.bases import Representations
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.pairs import PairMeasurements, one_thread
from modinterp.measurements.removal import Site, blocks_at_each_site, each_head, without
from modinterp.measurements.views import Head, Neuron, Without
from modinterp.models import MLPConfig

COLUMNS_FORMERLY = {  # names in `progress` of runs that were published earlier
    "restricted_loss_all": "neurons_restricted_loss_all",
    "excluded_loss_train": "neurons_excluded_loss_train",
}


class GroupMeasurements(PairMeasurements):
    """The measurements of a network over pairs of elements of a group, after Chughtai et al. 2023."""

    FORMERLY: ClassVar = {  # names in tables of runs that were published earlier
        "restricted_loss": "neurons_restricted_loss",
        "restricted_accuracy": "neurons_restricted_accuracy",
        "excluded_loss": "neurons_excluded_loss",
        "coset_means": "coset_mean_accuracies",
    }
    basis: Representations  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def irreps(self) -> tuple[Irrep, ...]:
        """All irreducible real representations, the trivial one first."""
        return self.basis.irreps

    @cached_property
    def similarities(self) -> Float[Tensor, " irrep"]:
        """Cosine similarity of the logits, with each pair's mean removed, to the cube of each character."""
        return characters.similarities(self.logits, self.task, self.irreps)

    @cached_property
    def renamed(self) -> Float[Tensor, "draw irrep"]:
        """Similarities between logits and characters after random relabellings of the group's elements."""
        with one_thread():
            return self.basis.renamed_similarities(self.logits)

    @property
    def least_similarity(self) -> float:
        """Smallest similarity of a key representation: at least the paper's, and above every relabelling's."""
        if self.as_published:
            return characters.KEY_SIMILARITY
        return max(characters.KEY_SIMILARITY, float(self.renamed.max()))

    @cached_property
    def keys(self) -> tuple[Irrep, ...]:
        """The key representations, whose characters are similar to the logits."""
        return characters.key_irreps(self.similarities, self.irreps, self.least_similarity)

    @property
    def key_blocks(self) -> tuple[Irrep, ...]:
        """Key representations, under the name that all measurements over pairs share."""
        return self.keys

    @property
    def _is_key(self) -> list[bool]:
        return [rho in self.keys for rho in self.irreps]

    def similarity(self, name: str) -> float:
        """Return the similarity of the logits to the character of the representation with a name."""
        return float(self.similarities[self.irreps.index(irrep(self.task, name))])

    @cached_property
    def similarity_gap(self) -> float:
        """Similarity of the weakest key representation, divided by that of the strongest other representation."""
        keys = [x for x, is_key in zip(self.similarities.tolist(), self._is_key, strict=True) if is_key]
        others = [x for x, is_key in zip(self.similarities.tolist()[1:], self._is_key[1:], strict=True) if not is_key]
        strongest = max(map(abs, others), default=0.0)
        return min(keys) / strongest if keys and strongest > 0 else float("inf" if keys else "nan")

    @property
    def logit_share(self) -> float:
        """Share of the logits' variance that the cubes of the key characters explain, with each pair's mean removed."""
        return float(self.similarities[[rho in self.keys for rho in self.irreps]].square().sum())

    @cached_property
    def embeddings(self) -> dict[str, Float[Tensor, "element feature"]]:
        """The input matrices by name: W_E, or, for an MLP on joined embeddings, the input weights W_a and W_b."""
        c = self.model.cfg
        if not isinstance(c, MLPConfig) or c.joined != "concatenated":
            return {"W_E": self.W_E}
        W_E, W_in = self.model.W_E.detach(), self.model.blocks[0].mlp.W_in.detach()
        first, n = W_E[: self.p], self.p
        second = W_E[n : 2 * n] if self.task.vocabularies == 2 else first
        return {"W_a": first @ W_in[: c.d_model], "W_b": second @ W_in[c.d_model :]}

    def shares(self, matrix: Float[Tensor, "element feature"]) -> dict[str, float]:
        """Map each representation's name to its share of the energy of an uncentred matrix with one row per element."""
        found = group_transforms.energy_shares(matrix, self.irreps).tolist()
        return {rho.name: share for rho, share in zip(self.irreps, found, strict=True)}

    def key_share(self, matrix: Float[Tensor, "element feature"]) -> float:
        """Return the energy share of the key representations in an uncentred matrix with one row per element."""
        return sum(share for name, share in self.shares(matrix).items() if name in self.key_names)

    @property
    def has_neuron_inputs(self) -> bool:
        """True if the network exposes its neurons before their nonlinearity."""
        return f"{self.last_block}.mlp.hook_pre" in self.model.hook_dict

    @cached_property
    def neuron_inputs(self) -> dict[str, Float[Tensor, "element neuron"]]:
        """Mean input of each neuron of the last layer, by the first element, `a`, and by the second, `b`."""
        pre = self.activation(f"{self.last_block}.mlp.hook_pre")
        return {"a": pre.mean(dim=1), "b": pre.mean(dim=0)}

    @cached_property
    def neurons(self) -> dict[str, neurons.NeuronIrreps]:
        """For each neuron, the strongest representation of its input from the first and from the second element."""
        return {of: neurons.neuron_irreps(x, self.irreps) for of, x in self.neuron_inputs.items()}

    @cached_property
    def coset_shares(self) -> dict[str, neurons.CosetShare]:
        """Number of neurons that are constant on cosets of a subgroup, for the first and the second element."""
        inputs = self.neuron_inputs.items()
        return {of: neurons.coset_share_of_neurons(x, self.task, self.irreps) for of, x in inputs}

    @cached_property
    def coset_mean_accuracies(self) -> tuple[float, float]:
        """Accuracy with each neuron at its mean over pairs of its cosets, or over other sets of equal size."""
        post, W_L = self.post.double().cpu(), self.W_L.double().cpu()
        first, second = (coset_partitions(x.cpu(), self.task) for x in self.neuron_inputs.values())

        def accuracy(*partitions: Partitions) -> float:
            logits = self.logits.double().cpu() + (coset_means(post, *partitions) - post) @ W_L
            return float((logits.argmax(dim=-1) == self.task.table).double().mean())

        return accuracy(first, second), accuracy(shuffled(first), shuffled(second, seed=1))

    @property
    def neurons_are_periodic(self) -> bool:
        """True if one representation explains 95% of at least half of the live neurons."""
        if not self.has_neuron_inputs:
            return False
        found = self.neurons["a"]
        return bool((found.best[found.live] >= 0.95).double().mean() >= 0.5) and len(self.irreps) > 2

    @cached_property
    def bound(self) -> product_bounds.ProductBound:
        """A proven lower bound on the share of pairs that an MLP on two joined embeddings answers correctly."""
        weights = self.model.state_dict()
        biased = [name for name, x in weights.items() if name.rpartition(".")[2].startswith("b_") and x.any()]
        if set(self.embeddings) != {"W_a", "W_b"} or biased or self.model.cfg.act_fn != "relu":
            raise NoSuchPart(f"{self.name} is not an MLP of ReLUs on two joined embeddings without biases")
        return product_bounds.product_bound(self.embeddings["W_a"], self.embeddings["W_b"], self.W_L, self.task)

    @cached_property
    def pair_shares(self) -> products.PairShares:
        """Share of the neurons' variance in the functions rho(a), rho(b) and rho(a b) of every representation rho."""
        return products.pair_shares(self.post, self.task, self.irreps)

    @property
    def key_share_of_neurons(self) -> tuple[float, float]:
        """Shares of the neurons' variance in key representations of a, b and a b together, and of a b alone."""
        shares, key = self.pair_shares, self._is_key
        return float(shares.total()[key].sum()), float(shares.product[key].sum())

    @cached_property
    def loss_with_each(self) -> dict[str, tuple[float, float]]:
        """Map each representation rho to the loss without rho(a b) in the logits, and with rho(a b) alone. [nats]"""
        both = zip(self.loss_without_each_block.tolist(), self.basis.losses_with_each(self.logits), strict=True)
        return {rho.name: pair for rho, pair in zip(self.basis.all_blocks, both, strict=True)}

    @cached_property
    def formula_fit(self) -> float:
        """FVE of the formula on logits averaged over all pairs with one product, without product and class means."""
        logits = products.mean_by_product(self.logits, self.task)
        centred = logits - logits.mean(dim=-1, keepdim=True) - logits.mean(dim=0) + logits.mean()
        left = centred - products.mean_by_product(self.formula, self.task)
        return 1 - float(left.square().sum() / centred.square().sum())

    @cached_property
    def mean_neurons(self) -> Float[Tensor, "element neuron"]:
        """Mean of every neuron over the pairs (a, b) with product a b, for each element as the product."""
        return products.mean_by_product(self.post, self.task)

    @cached_property
    def neuron_logits(self) -> Float[Tensor, "a b output"]:
        """The neurons' contribution to the logits, without the skip connection around them."""
        return self.post.double() @ self.W_L.double()

    def logits_of_products(self, kept: tuple[Irrep, ...]) -> Float[Tensor, "a b output"]:
        """Return the logits if the neurons keep only the matrix elements of rho(a b), for the given representations
        rho.
        """
        by_product = part_in(self.mean_neurons, kept) @ self.W_L.double()
        return by_product[self.task.table.to(by_product.device)]

    def loss_of(self, logits: Float[Tensor, "a b output"], rows: Tensor | None = None) -> float:
        """Return the mean cross-entropy of the given logits over the given rows, by default over all pairs. [nats]"""
        return loss_on(logits, self.labels, rows)

    @cached_property
    def neurons_restricted_loss(self) -> float:
        """Loss over all pairs if the neurons keep only rho(a b) of the key representations. [nats]"""
        return self.loss_of(self.logits_of_products(self.keys))

    @cached_property
    def neurons_restricted_accuracy(self) -> float:
        """Accuracy over all pairs if the neurons keep only rho(a b) of the key representations."""
        return accuracy_on(self.logits_of_products(self.keys), self.labels)

    def neurons_loss_without(self, excluded: tuple[Irrep, ...], rows: Tensor | None = None) -> float:
        """Return the loss over the given rows, or all pairs, after removing rho(a b) of some representations from the
        neurons. [nats]

        The skip connection around the neurons is left out, as in the code of Chughtai et al. 2023.
        """
        return self.loss_of(self.neuron_logits - self.logits_of_products(excluded), rows)

    @cached_property
    def neurons_excluded_loss(self) -> float:
        """Loss over the training pairs after removing rho(a b) of the key representations from the neurons. [nats]

        For a user's checkpoint, whose training pairs are unknown, the loss is over all pairs.
        """
        return self.neurons_loss_without(self.keys, self.split.train if self.run.knows_split else None)

    def _progress_now(self, keys: tuple[Irrep, ...]) -> dict[str, float]:
        """Return the progress measures of this network, by name; see `progress`.

        Args:
            keys: the key representations of the finished network.
        """
        kept, test = self.logits_of_products(keys), self.split.test
        shares = self.shares(next(iter(self.embeddings.values())))
        weights = self.model.state_dict().values()
        return {
            "test_loss": self.loss_of(self.logits, test),
            "test_accuracy": accuracy_on(self.logits, self.labels, test),
            "neurons_restricted_loss_all": self.loss_of(kept),
            "neurons_excluded_loss_train": self.loss_of(self.neuron_logits - kept, self.split.train),
            "sum_of_squared_weights": sum(float(w.double().square().sum()) for w in weights),
            **{f"similarity_{rho.name}": self.similarity(rho.name) for rho in keys},
            **{f"share_{rho.name}": shares[rho.name] for rho in keys},
        }

    @cached_property
    def progress(self) -> pd.DataFrame:
        """Table of progress measures by epoch, as shipped with the run, or else computed from its snapshots.

        Columns are the loss [nats] and the accuracy on held-out pairs, the restricted and the excluded loss [nats], and
        the sum of squared weights. The restricted loss keeps in the neurons only rho(a b) of the final key
        representations, over all pairs. The excluded loss removes rho(a b) of the key representations from the neurons,
        over the training pairs. Each key representation has a column `similarity_NAME` (cosine of logits and character)
        and a column `share_NAME` (share of the energy of the embedding of a).

        Raises:
            NotRecorded: the run has neither progress measures nor snapshots.
        Source: Chughtai et al. 2023, section 5.6.
        """
        if self.run.progress is not None:
            return self.run.progress.rename(columns=COLUMNS_FORMERLY)
        rows = []
        for epoch, network in self.networks():
            then = type(self)(replace(self.run, model=network), self.as_published)
            rows.append({"epoch": epoch} | then._progress_now(self.keys))
        return pd.DataFrame(rows)

    @cached_property
    def logit_by_quotient(self) -> Float[Tensor, " element"]:
        """For each element g, the mean logit over all a, b and c with a b c^-1 = g, with each pair's mean removed."""
        return characters.mean_by_quotient(self.logits, self.task)

    @property
    def formula_by_quotient(self) -> Float[Tensor, " element"]:
        """Least-squares fit of `logit_by_quotient` by a sum of key characters."""
        found = zip(self.formula_factors.cpu(), self.keys, strict=True)
        return sum((a * rho.character for a, rho in found), torch.zeros(self.p, dtype=torch.float64))

    @cached_property
    def formula_factors(self) -> Float[Tensor, " irrep"]:
        """The coefficient of each key character's cube in the least-squares fit of the logits."""
        return characters.fitted(self.logits, self.task, self.keys)

    @cached_property
    def ablations(self) -> components.Ablations:
        """Loss and accuracy without the key representations at each site, and with each head at its mean."""
        found = {"original": self.original} | blocks_at_each_site(self, self.keys) | each_head(self)
        return components.Ablations(found)

    def without(
        self,
        representations: Sequence[str] = (),
        heads: Sequence[int] = (),
        neurons: Sequence[int] = (),
        site: Site = "logits",
    ) -> Without:
        """Remove some representations, heads or neurons from the network, and return accuracy and loss before and
        after.

        Args:
            representations: names of representations to remove at the site; in neurons and logits, only functions of
                the product are removed.
            heads, neurons: indices of first-layer heads or last-layer neurons to hold at their mean over all pairs.
            site: where representations are removed: `embedding`, `neurons` or `logits`.
        Raises:
            ValueError: a part does not exist, or the arguments name no part, or parts of several kinds.
            NoSuchPart: the network does not expose the activations at the site.
        """
        return without(self, [irrep(self.task, name) for name in representations], heads, neurons, site)

    def neuron(self, index: int) -> Neuron:
        """View one neuron of the last layer: its activations, representation, weights, and the loss without it."""
        alone, found = without(self, neurons=[index]), self.neurons["a"]
        name, share = self.irreps[int(found.own[index])].name, float(found.best[index])
        return Neuron(index, self.post[..., index], name, share, None, self.W_L[index], alone)

    def head(self, index: int) -> Head:
        """View one head of the first layer: its attention to a, best representation, and the loss without it."""
        alone, pattern = without(self, heads=[index]), self.pattern[:, :, index, 0]
        shares = self.basis.variance_shares(pattern[..., None])
        best = int(shares.argmax())
        return Head(index, pattern, self.basis.name(self.basis.all_blocks[best]), float(shares[best]), alone)
