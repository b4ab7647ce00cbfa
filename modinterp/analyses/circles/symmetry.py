"""Distinguish clock from pizza: do both inputs affect the logits equally, and does the correct logit depend on a - b?

A clock multiplies: its correct logit depends little on a - b, and the gradients by the two inputs differ. A pizza takes
the mean of two points on a circle, which has the length `|cos(w(a - b) / 2)|`. In a pizza, the gradients by both inputs
are alike, and the correct logit rises and falls with a - b. Source: Zhong, Liu, Tegmark and Andreas 2023, "The Clock
and the Pizza", section 4.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import sums
from modinterp.models import Network
from modinterp.tasks import Task

MOST_SHUFFLED = 10**7  # triples that are put in random order, all of which must be made to have the first
_AT_ONCE = 4096  # triples in one pass through the network


@checked
@lru_cache(maxsize=8)
def triples(p: int, count: int = 100, seed: int = 42, shuffled: bool = False) -> Int[Tensor, "input 3"]:
    """Draw `count` random distinct triples (a, b, c) of residues mod p, or return all p^3 triples.

    Args:
        shuffled: True to take the first triples after Python's `shuffle` of all triples. The released code of Zhong
            et al. 2023 shuffles all triples with seed 42, and takes the first 100 triples. If False, Python's `sample`
            draws the triples, which is fast for any p but gives other triples for the same seed.
    Raises:
        ValueError: more than 10^7 triples would have to be shuffled.
    """
    if shuffled and p**3 > MOST_SHUFFLED:
        raise ValueError(
            f"shuffled must be False for p = {p}, since p^3 triples are more than {MOST_SHUFFLED:,}; got True"
        )
    numbers = list(range(p**3)) if shuffled else range(p**3)
    generator = random.Random(seed)
    if isinstance(numbers, list):
        generator.shuffle(numbers)
        drawn = numbers[:count]
    else:
        drawn = generator.sample(numbers, min(count, p**3))
    return torch.tensor([(i // p**2, i // p % p, i % p) for i in drawn])


@dataclass(frozen=True)
class Symmetricity:
    """Mean cosine between the gradients of a logit by the embeddings of a and of b, in [-1, 1]; 1 for a pizza.

    The value is NaN if no logit depends on the embeddings.

    Attributes:
        any_output: mean over random logits c, as the paper defines it.
        correct: mean over the correct logits of the same pairs (a, b).
        largest_wrong: mean over the largest wrong logits of the same pairs (a, b).
        pairs: number of pairs (a, b) in the means, without pairs that have no answer.
    """

    any_output: float
    correct: float
    largest_wrong: float
    pairs: int


@checked
def gradient_symmetricity(
    network: Network, task: Task, count: int = 100, seed: int = 42, shuffled: bool = False, skip: bool = True
) -> Symmetricity:
    """Measure gradient symmetricity: how similar the gradients of the logits by both input embeddings are.

    Gradient symmetricity is 1 by construction for a network that adds the two embeddings. Gradient symmetricity is
    defined for addition. For a network that subtracts, the value only shows how similarly the inputs act. For a clock,
    100 triples give gradient symmetricity with an error of about 0.03.

    Args:
        count, seed, shuffled: number and seed of the random triples (a, b, c), and how the triples are drawn; see
            `triples`.
        skip: True to keep the skip connection around the first attention. Without it, constant attention passes on only
            the sum of the two embeddings.
    Raises:
        ValueError: the skip cannot be removed, because the network has no attention.
    Source: Zhong et al. 2023, definition 4.1, which takes c at random.
    """
    p = task.output_sizes[0]
    abc = triples(p, count, seed, shuffled)
    answers = task.labels()[abc[:, 0] * p + abc[:, 1]]
    abc, labels = abc[answers[:, 0] >= 0], answers[answers[:, 0] >= 0]

    def chosen(logits: Tensor, rows: slice) -> list[Tensor]:
        right = labels[rows].to(logits.device)
        wrong = logits.scatter(1, right, -torch.inf).argmax(dim=1, keepdim=True)
        return [abc[rows, 2:].to(logits.device), right, wrong]

    cosines = _cosines(network.in_float64(), task.inputs()[abc[:, 0] * p + abc[:, 1]], chosen, skip)
    any_output, correct, wrong = map(_mean, cosines)
    return Symmetricity(any_output, correct, wrong, len(abc))


@checked
def symmetricity_over_pairs(network: Network, task: Task, draws: int = 6, seed: int = 42) -> float:
    """Estimate gradient symmetricity (`any_output`) more precisely, over all pairs (a, b) with several random logits
    each.

    At p = 59, six logits per pair give 20,886 triples. The network runs in its own precision, since rounding does not
    matter for a mean of so many cosines.

    Args:
        draws: number of distinct random logits for each pair; all logits if there are fewer.
        seed: seed of the random choice.
    """
    inputs, p = task.inputs(), task.output_sizes[0]
    order = torch.rand(len(inputs), p, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)[:, :draws]

    def chosen(logits: Tensor, rows: slice) -> list[Tensor]:
        return list(order[rows].to(logits.device).split(1, dim=1))

    return _mean(torch.cat(_cosines(network, inputs, chosen)))


def _cosines(
    network: Network, inputs: Tensor, chosen: Callable[[Tensor, slice], list[Tensor]], skip: bool = True
) -> list[Tensor]:
    """Return the cosines between the gradients of some logits by the embeddings of a and b, one vector per choice of
    logits.

    Args:
        chosen: function from logits and their inputs to the chosen columns, `[input, 1]` each.
    """
    if not skip and "blocks.0.attn.hook_pattern" not in network.hook_dict:
        raise ValueError("skip must be True for a network without attention, got False")
    leaves, written = [], []

    def as_leaf(embedding: Tensor, hook: object) -> Tensor:
        leaves.append(embedding.detach().requires_grad_())
        return leaves[-1]

    hooks: list[tuple[str, Callable]] = [("hook_embed", as_leaf)]
    if not skip:
        after = "hook_resid_mid" if "blocks.0.hook_resid_mid" in network.hook_dict else "hook_resid_post"
        hooks.append(("blocks.0.hook_attn_out", lambda x, hook: written.append(x)))
        hooks.append((f"blocks.0.{after}", lambda x, hook: written.pop()))
    parts = []
    with torch.enable_grad(), network.at_last_position(), network.hooks(fwd_hooks=hooks) as hooked:
        for first in range(0, len(inputs), _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            logits = hooked(inputs[rows].to(network.device))[:, -1]
            gradients = [
                torch.autograd.grad(logits.gather(1, columns).sum(), leaves[-1], retain_graph=True)[0]
                for columns in chosen(logits.detach(), rows)
            ]
            parts.append([_cosine(grad[:, 0].double(), grad[:, 1].double()) for grad in gradients])
    return [torch.cat(each) for each in zip(*parts, strict=True)]


def _cosine(x: Float[Tensor, "input d"], y: Float[Tensor, "input d"]) -> Float[Tensor, " input"]:
    """Return the cosine of two vectors for every pair (a, b); NaN if one vector is zero."""
    return (x / x.norm(dim=1, keepdim=True) * y / y.norm(dim=1, keepdim=True)).sum(dim=1)


def _mean(cosines: Float[Tensor, " input"]) -> float:
    """Return the mean cosine, counting a pair with a zero vector as 0; NaN if all pairs have one."""
    return float("nan") if cosines.isnan().all() else float(cosines.nan_to_num(0).mean())


@dataclass(frozen=True)
class Irrelevance:
    """Spread of a logit over the answers at a fixed distance, divided by its total spread: near 0 for a pizza, 1 for a
    clock.

    Attributes:
        correct: distance irrelevance of the correct logit, as the paper defines it; NaN if this logit is constant.
        largest_wrong: distance irrelevance of the largest wrong logit, which the paper's released code also measures.
    """

    correct: float
    largest_wrong: float


@checked
def distance_irrelevance(logits: Float[Tensor, "a b output"], sign: int = 1) -> Irrelevance:
    """Measure distance irrelevance: how little the logits depend on the distance a - b of the two inputs.

    The logit is arranged by answer a + b and distance a - b. The standard deviation over the answers is averaged over
    the distances, and divided by the standard deviation over all pairs.

    Args:
        sign: 1 for a network that adds, -1 for one that subtracts, whose answer is a - b and whose distance is a + b.
    Source: Zhong et al. 2023, definition 4.2.
    """
    answers = _answers(logits, sign)
    right, wrong = logits.new_empty(2, len(logits), len(logits), dtype=torch.float64)
    for a in row_blocks(logits.shape):
        some = logits[a]
        right[a] = some.gather(-1, answers[a])[..., 0]
        wrong[a] = some.scatter(-1, answers[a], -torch.inf).amax(dim=-1)
    return Irrelevance(*(_irrelevance(by_distance(each, sign)) for each in (right, wrong)))


@checked
def correct_logits(logits: Float[Tensor, "a b output"], sign: int = 1) -> Float[Tensor, "distance a"]:
    """Return the correct logit by the distance a - b mod p (for sign -1: a + b) and by a. [logits]"""
    answers = _answers(logits, sign)
    right = torch.cat([logits[a].gather(-1, answers[a]) for a in row_blocks(logits.shape)])
    return by_distance(right.squeeze(-1).double(), sign)


def _answers(logits: Tensor, sign: int) -> Int[Tensor, "a b 1"]:
    return sums(len(logits), sign).to(logits.device).unsqueeze(-1)


@checked
def by_distance(field: Float[Tensor, "a b"], sign: int = 1) -> Float[Tensor, "distance a"]:
    """Rearrange a function of (a, b) by distance and a; each row has one distance a - b (a + b for sign -1)."""
    p, x = len(field), torch.arange(len(field), device=field.device)
    return field[x, (sign * (x - x[:, None])) % p]


def _irrelevance(field: Float[Tensor, "distance a"]) -> float:
    whole = field.std(correction=0)
    if whole <= 1e-12 * field.abs().max():  # the same everywhere but for rounding
        return float("nan")
    return float(field.std(dim=1, correction=0).mean() / whole)
