"""Remove functions of a token that repeat with a period from the embedding, or keep only these functions."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.interventions.embedded import HOOK
from modinterp.models import Network
from modinterp.models.lens import HookPoint
from modinterp.tasks import Task


@checked
def period_projector(p: int, period: int) -> Float[Tensor, "token token"]:
    """Return the orthogonal projector onto functions of p tokens that repeat with a period, without their mean.

    >>> int(period_projector(11, 3).trace().round())
    2
    """
    classes = torch.nn.functional.one_hot(torch.arange(p) % period).double()
    basis = torch.linalg.svd(classes - classes.mean(dim=0), full_matrices=False)
    directions = basis.U[:, : period - 1]
    return directions @ directions.T


@checked
def random_projector(p: int, rank: int, seed: int = 0) -> Float[Tensor, "token token"]:
    """Return the orthogonal projector onto a random subspace of functions of p tokens, orthogonal to the constant."""
    drawn = torch.randn(p, rank, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    directions = torch.linalg.qr(drawn - drawn.mean(dim=0)).Q
    return directions @ directions.T


def accuracies_with(
    network: Network, task: Task, table: Float[Tensor, "token d_model"], rows: Int[Tensor, " row"]
) -> Float[Tensor, " question"]:
    """Return the accuracy of each question of a task of two numbers, with another embedding of the numbers.

    Args:
        network: the network whose embedding is replaced.
        task: a task of two numbers.
        table: the new embedding of every number.
        rows: indices of the task's inputs over which the accuracy is computed.
    """
    tokens = task.inputs()[rows]

    def put(x: Tensor, hook: HookPoint) -> Tensor:
        x = x.clone()
        x[:, :2] = table[tokens[:, :2]].to(x)
        return x

    with torch.no_grad(), network.at_last_position(), network.hooks(fwd_hooks=[(HOOK, put)]) as hooked:
        logits: Any = hooked(tokens.to(network.device))[:, -1].cpu()
    answers = torch.stack([part.argmax(dim=-1) for part in logits.split(list(task.output_sizes), dim=-1)], dim=-1)
    return (answers == task.labels()[rows]).double().mean(dim=0)
