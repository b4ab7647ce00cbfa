"""What is measured of anybody's network that composes the elements of a group, with nothing taken for granted."""

from __future__ import annotations

from functools import cached_property, partial

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.fourier.ablations import loss_on
from modinterp.analyses.groups import characters, products
from modinterp.analyses.groups import irrep_nulls as group_nulls
from modinterp.analyses.groups.group_transforms import transform
from modinterp.analyses.groups.irreps import Irrep
from modinterp.analyses.network import nulls
from modinterp.explain.behaviour import Score, score
from modinterp.explain.parts import Parts, one_thread
from modinterp.measurements import GroupMeasurements
from modinterp.runs import TrainedRun

RENAMED = 39  # draws of renamed elements by which it is decided which representations are key ones
CHARACTERS = "variance of the logits in characters"


class GroupStranger(Parts, GroupMeasurements):
    """The measurements of one network over pairs of elements of a finite group.

    A representation is a key one where its character is to be found in the logits more than any is once the elements
    are renamed at random, and more than the bound of `KEY_SIMILARITY`.

    Args:
        run: of a `Group`.
        draws: how many matrices are drawn for each null of the spectrum.
    """

    def __init__(self, run: TrainedRun, draws: int = 199):
        super().__init__(run)
        self.draws = draws

    @property
    def operation(self) -> str:
        """What the answer is: the product `a b`."""
        return "a b"

    @cached_property
    def renamed(self) -> Float[Tensor, "draw irrep"]:
        """Similarities of logits and characters with the elements renamed at random."""
        with one_thread():
            return group_nulls.renamed_similarities(self.logits, self.task, self.irreps, RENAMED)

    @property
    def least_similarity(self) -> float:
        """The similarity from which a representation is a key one: more than any renaming has."""
        return max(characters.KEY_SIMILARITY, float(self.renamed.max()))

    @cached_property
    def gap(self) -> float:
        """The similarity of the weakest key representation over that of the strongest other one."""
        keys = [x for x, is_key in zip(self.similarities.tolist(), self._is_key, strict=True) if is_key]
        others = [x for x, is_key in zip(self.similarities.tolist()[1:], self._is_key[1:], strict=True) if not is_key]
        strongest = max(map(abs, others), default=0.0)
        return min(keys) / strongest if keys and strongest > 0 else float("inf" if keys else "nan")

    @cached_property
    def spectrum_nulls(self) -> nulls.Nulls:
        """How clear as many representations are in the readout matrix, against matrices that have none."""
        at_start = None
        if self.config is not None and not self.is_opaque:
            at_start = nulls.readouts_at_start(self.config, self.draws)
        with one_thread():
            return group_nulls.spectrum_nulls(self.readout_matrix, self.irreps, len(self.keys), at_start, self.draws)

    @property
    def key_energy(self) -> float:
        """Share of the readout matrix in as many representations as there are key ones, each row's mean left out."""
        return group_nulls.separation(self.readout_matrix, self.irreps, len(self.keys))[group_nulls.STRONGEST]

    @cached_property
    def logit_nulls(self) -> nulls.Nulls:
        """How much of the logits as many characters explain, against logits in which there is no group."""
        count = len(self.keys)

        def strongest(found: Float[Tensor, " irrep"]) -> dict[str, float]:
            return {CHARACTERS: float(found.square().topk(count).values.sum())}

        observed = strongest(self.similarities)
        rows = nulls.nulls_by_statistic(nulls.RENAMED_RESIDUES, observed, map(strongest, self.renamed))
        if (logits := self.logits_at_start()) is not None:
            where = characters.quotients(self.task)
            similarities = partial(characters.similarities, task=self.task, irreps=self.irreps, where=where)
            drawn = (strongest(similarities(each.cpu())) for each in logits)
            rows = nulls.nulls_by_statistic(nulls.AT_INITIALISATION, observed, drawn) + rows
        return nulls.Nulls(rows)

    def score(self, logits: Float[Tensor, "a b output"], rows: Tensor | None = None) -> Score:
        """Accuracy and loss of some logits over all pairs, or some rows of the task's inputs."""
        flat, answers = logits.flatten(0, 1), self.all_answers
        return score(flat, answers) if rows is None else score(flat[rows.to(flat.device)], answers[rows])

    def part_of_logits(self, kept: tuple[Irrep, ...]) -> Float[Tensor, "a b output"]:
        """The part of the logits that matrix elements of rho(a b) make up, of some representations rho."""
        return products.product_part(self.logits, self.task, kept)

    @cached_property
    def score_of_keys_alone(self) -> Score:
        """Accuracy and loss with nothing left of the logits but rho(a b) of the key ones, and each class's mean."""
        return self.score(self.part_of_logits(self.keys) + self.logits.mean(dim=(0, 1)))

    @cached_property
    def logits_without_keys(self) -> Float[Tensor, "a b output"]:
        """The logits without rho(a b) of the key representations."""
        return self.logits - self.part_of_logits(self.keys)

    @cached_property
    def score_without_keys(self) -> Score:
        """Accuracy and loss over all pairs, rho(a b) of the key representations taken out of the logits."""
        return self.score(self.logits_without_keys)

    @cached_property
    def score_of_features(self) -> Score:
        """Accuracy and loss with nothing left of the features but means and rho(a b) of the key representations."""
        kept = products.product_part(self.features, self.task, self.keys) + self.features.mean(dim=(0, 1))
        return self.score(self.logits + (kept - self.features) @ self.readout_matrix)

    @cached_property
    def loss_with_each(self) -> dict[str, tuple[float, float]]:
        """Name of a representation to the loss without its rho(a b) in the logits, and with nothing else. [nats]"""
        found, mean = {}, self.logits.mean(dim=(0, 1))
        for rho in self.irreps[1:]:
            part = self.part_of_logits((rho,))
            found[rho.name] = loss_on(self.logits - part, self.labels), loss_on(part + mean, self.labels)
        return found

    @cached_property
    def formula(self) -> Float[Tensor, "a b output"]:
        """The sum of cubes of the key characters that is nearest to the logits; 0 without a key one."""
        if not self.keys:
            return torch.zeros_like(self.logits, dtype=torch.float64)
        return characters.formula(self.formula_factors, self.keys, self.task).to(self.logits.device)

    @cached_property
    def score_of_formula(self) -> Score:
        """Accuracy and loss of the sum of cubes of characters in place of the logits."""
        return self.score(self.formula)

    @cached_property
    def formula_fit(self) -> float:
        """Share of the mean logits by product that the formula explains, each pair's and class's mean removed."""
        logits = products.mean_by_product(self.logits, self.task)
        centred = logits - logits.mean(dim=-1, keepdim=True) - logits.mean(dim=0) + logits.mean()
        left = centred - products.mean_by_product(self.formula, self.task)
        return 1 - float(left.square().sum() / centred.square().sum())

    @cached_property
    def periodic_share_of_logits(self) -> float:
        """Share of the logits' variance over pairs in products of matrix elements of as many representations.

        Which representations these are, and for which answers they stand, is left open: it may be another operation.
        """
        over_a = transform(self.logits, self.irreps).transpose(0, 1)
        squares = transform(over_a, self.irreps).square().sum(dim=-1)
        sizes = [rho.rank for rho in self.irreps]
        blocks = torch.stack([torch.stack([x.sum() for x in row.split(sizes, dim=1)]) for row in squares.split(sizes)])
        blocks[0, 0] = 0
        own = blocks.diagonal()[1:] + blocks[0, 1:] + blocks[1:, 0]
        total = blocks.sum()
        return float(own.topk(min(len(self.keys), len(own))).values.sum() / total) if total > 0 else float("nan")

    @property
    def neurons_are_periodic(self) -> bool:
        """Whether at least half of the live neurons are of one representation to 95%."""
        if not self.has_neuron_inputs:
            return False
        found = self.neurons["a"]
        return bool((found.best[found.live] >= 0.95).double().mean() >= 0.5) and len(self.irreps) > 2

    @property
    def neurons_at_keys(self) -> float:
        """Share of the neurons' variance in rho(a), rho(b) and rho(a b) of the key representations."""
        return self.key_share_of_neurons[0]

    @property
    def all_are_key(self) -> bool:
        """Whether every representation but the trivial one is a key one, so that no null tells them from others."""
        return len(self.keys) == len(self.irreps) - 1

    @property
    def has_neuron_inputs(self) -> bool:
        """Whether it is known where the neurons are before their nonlinearity."""
        return f"{self.last_block}.mlp.hook_pre" in self.model.hook_dict
