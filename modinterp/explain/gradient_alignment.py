"""Test whether weights were trained with a forward pass: measure how well they align with the loss gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

COMMON_LOSS = 1e-2  # nats; at this loss networks are compared, however large their logits are
_HALVINGS, _LARGEST = 12, 12.0  # of the logarithm of the factor by which logits are brought there: to 0.6%


def alignment(
    logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"], weights: Sequence[Tensor]
) -> float:
    """Return the cosine between weights and the negative gradient of the loss, with logits scaled to a loss of
    `COMMON_LOSS`.

    At the end of training, weight decay balances the gradient, so weights and negative gradient have the same
    direction. Without weight decay, gradient descent also turns the weights of a homogeneous network into the direction
    of the gradient. With a forward pass that differs from training, weights and gradient rarely align. Inputs with
    wrong answers are left out of the alignment. The alignment is NaN if no input is answered correctly.

    Args:
        logits: logits of the network, with their autograd graph back to the weights.
        answers: the right answer to each input.
        weights: weight tensors with `requires_grad`.
    Source: Lyu & Li 2020, "Gradient descent maximizes the margin of homogeneous neural networks".
    """
    right = logits.argmax(dim=-1) == answers
    if not right.any():
        return float("nan")
    logits, answers = logits[right].double(), answers[right]
    lower, upper = -_LARGEST, _LARGEST
    with torch.no_grad():
        for _ in range(_HALVINGS):
            middle = (lower + upper) / 2
            is_above = float(F.cross_entropy(torch.tensor(middle).exp() * logits, answers)) > COMMON_LOSS
            lower, upper = (middle, upper) if is_above else (lower, middle)
    loss = F.cross_entropy(torch.tensor(upper).exp() * logits, answers)
    gradients = torch.autograd.grad(loss, list(weights), allow_unused=True, materialize_grads=True)
    along, downward = (torch.cat([x.detach().flatten() for x in part]).double() for part in (weights, gradients))
    return -float(F.cosine_similarity(along, downward, dim=0))
