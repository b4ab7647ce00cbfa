"""What is measured of a network over pairs of residues that tells a sum of two points of a circle from a product."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.circles import formulas, isolation, symmetry
from modinterp.analyses.fourier.ablations import accuracy_on
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.waves import WaveMeasurements

LEADING, LEAST = 0.10, 0.02  # shares of the embedding's variance: of a leading circle, and of any that counts

C = TypeVar("C", bound=isolation.Circle)


def _with_variance(circles: Sequence[C], above: float, most: float = 1) -> tuple[C, ...]:
    """Circles whose share of the embedding's variance is above one value, and at most another."""
    return tuple(one for one in circles if above < one.variance <= most)


class CircleMeasurements(WaveMeasurements):
    """The measurements of Zhong et al. 2023: both inputs alike or not, distance, circles of the embedding.

    Leading circles are frequencies with more than 10% of the embedding's variance, weak ones those with 2 to 10%. (It
    was 8% until the released network of constant attention was measured, with circles of 26, 25, 22, 9.3, 8.8 and 7.7%,
    of which its authors call the first three leading.) The authors look at principal components two by two: those are
    `component_circles`, which mix circles of nearly the same size.
    """

    @cached_property
    def symmetricity_over_pairs(self) -> float:
        """Gradient symmetricity over all pairs, six random logits each."""
        return symmetry.symmetricity_over_pairs(self.model, self.task)

    @cached_property
    def symmetricity_of_released_triples(self) -> float:
        """Gradient symmetricity over the 100 triples of the released code, a random logit each."""
        return symmetry.gradient_symmetricity(self.model, self.task, shuffled=True).any_output

    @cached_property
    def symmetricity_without_skip(self) -> float:
        """Gradient symmetricity over 100 triples where the embeddings go through attention alone, a random logit each.

        Raises:
            NoSuchPart: the network has no attention.
        """
        if self.model.cfg.n_heads == 0:
            raise NoSuchPart(f"{self.name} has no attention")
        return symmetry.gradient_symmetricity(self.model, self.task, shuffled=True, skip=False).any_output

    @cached_property
    def irrelevance(self) -> symmetry.Irrelevance:
        """Distance irrelevance of the correct logit and of the largest wrong one."""
        return symmetry.distance_irrelevance(self.logits)

    @cached_property
    def circularity(self) -> isolation.Circularity:
        """Share at one frequency of each of the four leading principal components of the embedding, and their mean."""
        return isolation.circularity(self.W_E)

    @cached_property
    def component_circles(self) -> tuple[isolation.ComponentCircle, ...]:
        """Principal components of the embedding, two by two."""
        return isolation.component_circles(self.W_E)

    @cached_property
    def frequency_circles(self) -> tuple[isolation.FrequencyCircle, ...]:
        """The waves of every frequency in the embedding, the strongest first."""
        return isolation.frequency_circles(self.W_E)

    @property
    def leading_components(self) -> tuple[isolation.ComponentCircle, ...]:
        """Pairs of components with more than 10% of the embedding's variance."""
        return _with_variance(self.component_circles, LEADING)

    @property
    def weak_components(self) -> tuple[isolation.ComponentCircle, ...]:
        """Pairs of components with 2 to 10% of the embedding's variance."""
        return _with_variance(self.component_circles, LEAST, LEADING)

    @property
    def leading_circles(self) -> tuple[isolation.FrequencyCircle, ...]:
        """Frequencies with more than 10% of the embedding's variance."""
        return _with_variance(self.frequency_circles, LEADING)

    @property
    def weak_circles(self) -> tuple[isolation.FrequencyCircle, ...]:
        """Frequencies with 2 to 10% of the embedding's variance."""
        return _with_variance(self.frequency_circles, LEAST, LEADING)

    @cached_property
    def _isolated(self) -> dict[tuple[isolation.Circle, ...], Float[Tensor, "a b output"]]:
        return {}

    def isolated(self, circles: Sequence[isolation.Circle]) -> Float[Tensor, "a b output"]:
        """Logits of the network with some circles, by frequency or by components, alone in place of its embedding."""
        chosen = tuple(circles)
        if chosen not in self._isolated:
            self._isolated[chosen] = isolation.isolated_logits(self.model, self.task, chosen)
        return self._isolated[chosen]

    def isolated_accuracy(self, circles: Sequence[isolation.Circle]) -> float:
        """Accuracy over all pairs with some circles alone."""
        return accuracy_on(self.isolated(circles), self.labels)

    def agreement(self, one: isolation.Circle, formula: str, freq: int | None = None) -> formulas.Agreement:
        """How well the logits of one circle alone agree with a formula.

        Args:
            formula: a key of `modinterp.analyses.circles.formulas.FORMULAS`.
            freq: of the formula; that of the circle by default. [cycles per p]
        """
        return formulas.agreement(self.isolated([one]), formula, one.freq if freq is None else freq)

    def profile(self, one: isolation.Circle) -> formulas.DistanceProfile:
        """The mean correct logit by distance with one circle alone."""
        return formulas.distance_profile(self.isolated([one]), one.freq)

    @cached_property
    def embedding_shares(self) -> Float[Tensor, " freq"]:
        """Share of the embedding's energy at every frequency, the constant left out; entry k - 1 is of frequency k."""
        energies = self.embedding_norms.square()
        return energies / energies.sum()

    @cached_property
    def attention_shares(self) -> tuple[tuple[float, float], ...]:
        """For each head, how much of its attention to a varies with one number alone, and with one frequency of it.

        Both are shares of the variance over all pairs: of the terms in a alone or in b alone, and of those of the best
        single frequency.

        Raises:
            NoSuchPart: the network has no attention.
        """
        shares = []
        for head in range(self.pattern.shape[2]):
            field = self.pattern[:, :, head, 0].double()
            about = field - field.mean()
            total = about.square().mean() * len(about)  # of the mean over the other number
            alone = [about.mean(dim=axis) for axis in (0, 1)]
            energies = sum(frequency_norms(component_norms(x)).square() for x in alone)
            assert isinstance(energies, Tensor)
            shares.append((float(energies.sum() / total), float(energies.max() / total)))
        return tuple(shares)

    def explained_by_leading(self, formula: str) -> float:
        """Share of all logits that a formula at the frequencies of the leading circles explains, a size fitted to each.

        Args:
            formula: a key of `modinterp.analyses.circles.formulas.FORMULAS`.
        """
        freqs = sorted({one.freq for one in self.leading_circles})
        return formulas.explained_by_sum(self.logits, formula, freqs) if freqs else float("nan")
