"""Find the circles of an embedding, by frequency or by principal components, and run a network with only some of them.

Principal components of a periodic embedding come in pairs, a cosine and a sine of one frequency. If one pair replaces
the whole embedding, the logits show how the network uses one circle (Zhong et al. 2023). Principal components mix two
circles of nearly equal size; frequencies still separate such circles.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import logits_on_grid
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.ablations import restricted_embedding
from modinterp.analyses.fourier.frequencies import dominant_frequency
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.models import Network
from modinterp.tasks import Task

MOST_COMPONENTS = 20
LEADING = 4  # components of which circularity is the mean


@dataclass(frozen=True)
class ComponentCircle:
    """Two neighbouring principal components of an embedding, which may be a circle.

    Attributes:
        pair: index of the pair, counted from 1; pair i has the components 2 i - 1 and 2 i, counted from 1.
        freq: frequency at which the two principal components have the most energy. [cycles per p]
        purity: share of the two components' energy at the frequency `freq`, in [0, 1]; 1 for a circle or an ellipse.
        variance: the two components' share of the embedding's variance about its mean, in [0, 1].
    """

    pair: int
    freq: int
    purity: float
    variance: float


@checked
def component_circles(x: Float[Tensor, "a d"]) -> tuple[ComponentCircle, ...]:
    """Return the first pairs of principal components of an embedding: ten pairs, or fewer if the embedding has fewer.

    Args:
        x: one vector for each residue.
    Raises:
        ValueError: the vectors do not span two dimensions.
    Source: Zhong et al. 2023, section 3.
    """
    coordinates, values = _coordinates(x)
    shares = values.square() / values.square().sum()
    circles = []
    for pair in range(min(MOST_COMPONENTS, len(values)) // 2):
        columns = slice(2 * pair, 2 * pair + 2)
        freq, purity = dominant_frequency(coordinates[:, columns] * values[columns])
        circles.append(ComponentCircle(pair + 1, freq, purity, float(shares[columns].sum())))
    return tuple(circles)


@checked
def component_circles_table(circles: Sequence[ComponentCircle]) -> pd.DataFrame:
    """Return a table with one row for each pair of components, from `component_circles`."""
    return pd.DataFrame([vars(one) for one in circles])


def _coordinates(x: Tensor) -> tuple[Float[Tensor, "a component"], Float[Tensor, " component"]]:
    """Return the left singular vectors of the centred vectors, and the singular values that exceed rounding errors."""
    centred = x.detach().double() - x.detach().double().mean(dim=0)
    U, values, _ = torch.linalg.svd(centred, full_matrices=False)
    rank = int((values > 1e-7 * values[0]).sum()) if values[0] > 0 else 0
    if rank < 2:
        raise ValueError(f"a circle needs vectors that span 2 dimensions, got vectors that span {rank}")
    return U[:, :rank], values[:rank]


@dataclass(frozen=True)
class FrequencyCircle:
    """The part of an embedding at one frequency.

    Attributes:
        freq: the frequency. [cycles per p]
        variance: share of the embedding's variance at this frequency, in [0, 1].
    """

    freq: int
    variance: float


Circle = ComponentCircle | FrequencyCircle


@checked
def frequency_circles(x: Float[Tensor, "a d"]) -> tuple[FrequencyCircle, ...]:
    """Return the part of an embedding at every frequency, sorted by share of the variance, largest first.

    Args:
        x: one vector for each residue.
    """
    energies = frequency_norms(component_norms(x)).square()
    shares = (energies / energies.sum()).tolist()
    circles = (FrequencyCircle(freq, share) for freq, share in enumerate(shares, start=1))
    return tuple(sorted(circles, key=lambda one: -one.variance))


@dataclass(frozen=True)
class Circularity:
    """How far each leading principal component of an embedding is a wave of a single frequency.

    Attributes:
        mean: mean share over the components, in [0, 1]; this is the circularity of the paper.
        by_component: share of each component's energy at its best frequency. Two good circles make the mean 1,
            regardless of the components after them.
    """

    mean: float
    by_component: tuple[float, ...]


@checked
def circularity(x: Float[Tensor, "a d"]) -> Circularity:
    """Measure circularity: for the first four principal components, the mean share of energy at their best frequency.

    Args:
        x: one vector for each residue.
    Raises:
        ValueError: the vectors do not span two dimensions.
    Source: Zhong et al. 2023, section 4.1.
    """
    coordinates, _ = _coordinates(x)
    energies = _energies(coordinates[:, :LEADING])
    shares = tuple(energies.amax(dim=0).clamp(max=1).tolist())
    return Circularity(sum(shares) / len(shares), shares)


def _energies(columns: Float[Tensor, "a component"]) -> Float[Tensor, "freq component"]:
    """Return the energy of every column at every frequency; entry k - 1 of the first axis belongs to frequency k."""
    return torch.stack([frequency_norms(component_norms(column)) for column in columns.T], dim=1).square()


@checked
def with_components(network: Network, p: int, pairs: Sequence[int]) -> Network:
    """Return a copy of the network whose embedding keeps only its mean and some pairs of principal components.

    Args:
        p: modulus; the first p tokens are the residues.
        pairs: indices of the pairs, counted from 1, as in `component_circles`.
    Raises:
        ValueError: the embedding does not have one of the pairs.
    Source: Zhong et al. 2023, section 3.2.
    """
    W_E = network.W_E.detach()[:p].double()
    mean = W_E.mean(dim=0)
    coordinates, values = _coordinates(W_E)
    if wrong := [pair for pair in pairs if not 1 <= pair <= len(values) // 2]:
        raise ValueError(f"pairs must be numbers from 1 to {len(values) // 2}, got {wrong[0]}")
    columns = [i for pair in pairs for i in (2 * pair - 2, 2 * pair - 1)]
    kept = coordinates[:, columns]
    changed = copy.deepcopy(network)
    changed.embed.W_E.data[:p] = (mean + kept @ (kept.T @ (W_E - mean))).to(network.W_E)
    return changed


@checked
def isolated_logits(network: Network, task: Task, circles: Sequence[Circle]) -> Float[Tensor, "a b output"]:
    """Return the network's logits for all pairs (a, b), in float64, when its embedding holds only some circles.

    Args:
        circles: circles from `component_circles`, or from `frequency_circles`.
    Raises:
        ValueError: circles are of both kinds, the embedding does not have one of them, or a and b have separate
            vocabularies.
    Source: Zhong et al. 2023, section 3.2, for principal components.
    """
    p = task.output_sizes[0]
    if getattr(task, "vocabularies", 1) > 1:
        raise ValueError(
            "circles can be isolated only if a and b share one embedding; in this network a and b have different tokens"
        )
    pairs = [one.pair for one in circles if isinstance(one, ComponentCircle)]
    freqs = [one.freq for one in circles if isinstance(one, FrequencyCircle)]
    if pairs and freqs:
        raise ValueError("choose either principal components or frequencies to isolate circles, not both")
    whole = network.in_float64()
    alone = restricted_embedding(whole, p, freqs) if freqs else with_components(whole, p, pairs)
    return logits_on_grid(alone, task).cpu()
