"""Clock or pizza: whether both inputs act alike on the logits, and whether the correct logit depends on their distance.

A clock multiplies: its correct logit depends little on a - b, and the two inputs act through each other. A pizza takes
the mean of two points on a circle, whose length is `|cos(w(a - b) / 2)|`: both inputs act alike, and the correct logit
rises and falls with a - b. Source: Zhong, Liu, Tegmark and Andreas 2023, "The Clock and the Pizza", section 4.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier.transforms import sums
from modinterp.models import Network
from modinterp.tasks import Task


def triples(p: int, count: int = 100, seed: int = 42) -> Int[Tensor, "input 3"]:
    """Random distinct triples (a, b, c) of residues mod p, `count` of them or all p^3, as in the paper's code."""
    numbers = random.Random(seed).sample(range(p**3), min(count, p**3))
    return torch.tensor([(i // p**2, i // p % p, i % p) for i in numbers])


@dataclass(frozen=True)
class Symmetricity:
    """Mean cosine between the gradients of a logit by the embeddings of a and of b, in [-1, 1]; 1 for a pizza.

    NaN where no logit depends on them.

    Attributes:
        any_output: mean over logits c drawn at random, the paper's definition.
        correct: mean over the correct logits of the same pairs (a, b).
        largest_wrong: mean over the largest wrong logits of the same pairs (a, b).
        pairs: number of pairs (a, b) in the means, those without an answer left out.
    """

    any_output: float
    correct: float
    largest_wrong: float
    pairs: int


def gradient_symmetricity(network: Network, task: Task, count: int = 100, seed: int = 42) -> Symmetricity:
    """Gradient symmetricity: how alike the two inputs act on the logits, by the gradients at their token embeddings.

    It is 1 by construction for a network that adds the two embeddings. It is defined for addition; for a network that
    subtracts it says only how alike the inputs act.

    Args:
        count, seed: number and seed of the sampled triples (a, b, c); see `triples`.
    Source: Zhong et al. 2023, definition 4.1, which takes c at random.
    """
    abc = triples(task.output_sizes[0], count, seed)
    answers = task.labels()[abc[:, 0] * task.output_sizes[0] + abc[:, 1]]
    abc, labels = abc[answers[:, 0] >= 0], answers[answers[:, 0] >= 0].to(network.device)
    tokens = task.inputs()[abc[:, 0] * task.output_sizes[0] + abc[:, 1]].to(network.device)
    precise, leaves = network.in_float64(), []

    def as_leaf(embedding: Tensor, hook: object) -> Tensor:
        leaves.append(embedding.detach().requires_grad_())
        return leaves[0]

    with torch.enable_grad(), precise.hooks(fwd_hooks=[("hook_embed", as_leaf)]) as hooked:
        logits = hooked(tokens)[:, -1]
        wrong = logits.detach().scatter(1, labels, -torch.inf).argmax(dim=1, keepdim=True)

        def symmetricity(outputs: Tensor) -> float:
            (grad,) = torch.autograd.grad(logits.gather(1, outputs).sum(), leaves[0], retain_graph=True)
            return _mean_cosine(grad[:, 0], grad[:, 1])

        any_output = abc[:, 2:].to(labels.device)
        return Symmetricity(symmetricity(any_output), symmetricity(labels), symmetricity(wrong), len(abc))


def _mean_cosine(x: Float[Tensor, "input d"], y: Float[Tensor, "input d"]) -> float:
    """Mean cosine, 0 for a pair with a vector of zeros; NaN where all are such."""
    each = (x / x.norm(dim=1, keepdim=True) * y / y.norm(dim=1, keepdim=True)).sum(dim=1)
    return float("nan") if each.isnan().all() else float(each.nan_to_num(0).mean())


@dataclass(frozen=True)
class Irrelevance:
    """Spread of a logit over the answers at a fixed distance, over its whole spread: near 0 for a pizza, 1 for a clock.

    Attributes:
        correct: irrelevance for the correct logit, the paper's definition; NaN where it is the same for every pair.
        largest_wrong: irrelevance for the largest wrong logit, which the paper's released code measures too.
    """

    correct: float
    largest_wrong: float


def distance_irrelevance(logits: Float[Tensor, "a b output"], sign: int = 1) -> Irrelevance:
    """Distance irrelevance: how little the logits depend on the distance a - b of the two inputs.

    The logit is laid out by answer a + b and distance a - b; the standard deviation over the answers, averaged over
    the distances, is divided by the standard deviation over all pairs.

    Args:
        sign: 1 for a network that adds, -1 for one that subtracts, whose answer is a - b and whose distance is a + b.
    Source: Zhong et al. 2023, definition 4.2.
    """
    wrong = logits.double().scatter(-1, _answers(logits, sign), -torch.inf).amax(dim=-1)
    return Irrelevance(_irrelevance(correct_logits(logits, sign)), _irrelevance(by_distance(wrong, sign)))


def correct_logits(logits: Float[Tensor, "a b output"], sign: int = 1) -> Float[Tensor, "distance a"]:
    """The correct logit by the distance of the inputs, a - b mod p (for sign -1: a + b), and by a. [logits]"""
    return by_distance(logits.double().gather(-1, _answers(logits, sign)).squeeze(-1), sign)


def _answers(logits: Tensor, sign: int) -> Int[Tensor, "a b 1"]:
    return sums(len(logits), sign).to(logits.device).unsqueeze(-1)


def by_distance(field: Float[Tensor, "a b"], sign: int = 1) -> Float[Tensor, "distance a"]:
    """A function of (a, b) laid out by distance and a: pairs of one distance a - b (for sign -1: a + b) in one row."""
    p, x = len(field), torch.arange(len(field), device=field.device)
    return field[x, (sign * (x - x[:, None])) % p]


def _irrelevance(field: Float[Tensor, "distance a"]) -> float:
    whole = field.std(correction=0)
    if whole <= 1e-12 * field.abs().max():  # the same everywhere but for rounding
        return float("nan")
    return float(field.std(dim=1, correction=0).mean() / whole)
