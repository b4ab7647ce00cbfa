"""The flow of one frequency of one neuron with squares, while all answers are about equally likely.

Let z = alpha exp(i phi) be the input wave and w = beta exp(i psi) the output wave. Then z' = (2 / p) w conj(z) and w' =
z^2 / p. Time is the learning rate times the number of steps. Derived from the mean cross-entropy at uniform
probabilities.
"""

from __future__ import annotations

import torch
from jaxtyping import Complex, Float
from torch import Tensor

State = tuple[Tensor, Tensor]
MOST_STEPS = 5_000


def rates(z: Complex[Tensor, "*wave"], w: Complex[Tensor, "*wave"], p: int) -> State:
    """Time derivatives of what is read and written."""
    return 2 / p * w * z.conj(), z.square() / p


def euler(z: Tensor, w: Tensor, p: int, steps: Float[Tensor, " step"]) -> State:
    """The state after steps of these sizes, as plain gradient descent takes them."""
    for step in steps.tolist():
        of_z, of_w = rates(z, w, p)
        z, w = z + step * of_z, w + step * of_w
    return z, w


def warmed_up(lr: float, warmup: int, steps: int) -> Float[Tensor, " step"]:
    """Learning rate of each step, which rises linearly from 0 over the warm-up."""
    return lr * (torch.arange(steps).double() / max(warmup, 1)).clamp(max=1)


def times_to_dominate(
    alpha: Float[Tensor, "neuron freq"], beta: Float[Tensor, "neuron freq"], D: Float[Tensor, "neuron freq"], p: int
) -> Float[Tensor, "neuron freq"]:
    """Time until alpha reaches 5 times the largest initial alpha of the layer; infinite after `MOST_STEPS` steps.

    By the rule of Runge and Kutta of fourth order, in steps of .02 p / max(alpha, beta). Phases count by D alone.
    """
    z, w = torch.polar(alpha, D / 2), beta.to(torch.complex128)
    goal, elapsed = 5 * alpha.max(), torch.zeros_like(alpha)
    found = torch.full_like(alpha, torch.inf)
    for _ in range(MOST_STEPS):
        waiting = found.isinf()
        if not waiting.any():
            break
        zs, ws = z[waiting], w[waiting]
        h = 0.02 * p / torch.maximum(zs.abs(), ws.abs())
        k1 = rates(zs, ws, p)
        k2 = rates(zs + h / 2 * k1[0], ws + h / 2 * k1[1], p)
        k3 = rates(zs + h / 2 * k2[0], ws + h / 2 * k2[1], p)
        k4 = rates(zs + h * k3[0], ws + h * k3[1], p)
        z[waiting] = zs + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        w[waiting] = ws + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        elapsed[waiting] += h
        reached = waiting & (z.abs() >= goal)
        found[reached] = elapsed[reached]
    return found
