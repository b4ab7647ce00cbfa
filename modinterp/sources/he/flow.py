"""Compute the gradient flow of one neuron with square nonlinearity at one frequency, while all answers are about
equally likely.

Let z = alpha exp(i phi) be the input wave and w = beta exp(i psi) the output wave. The waves z and w then follow z' =
(2 / p) w conj(z) and w' = z^2 / p. Time in the flow is the learning rate times the number of steps. The equations of
the flow follow from the mean cross-entropy at uniform probabilities.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Complex, Float
from torch import Tensor

State = tuple[Tensor, Tensor]
NODES, NEWTON_STEPS = 64, 60
LEAST_ROOT, SADDLE = 1e-24, 1e-12  # smaller ones are rounding


def rates(z: Complex[Tensor, "*wave"], w: Complex[Tensor, "*wave"], p: int) -> State:
    """Return the time derivatives of the complex input and output amplitudes of one frequency."""
    return 2 / p * w * z.conj(), z.square() / p


def euler(z: Tensor, w: Tensor, p: int, steps: Float[Tensor, " step"]) -> State:
    """Return the state after gradient-descent steps of the given sizes."""
    for step in steps.tolist():
        of_z, of_w = rates(z, w, p)
        z, w = z + step * of_z, w + step * of_w
    return z, w


def warmed_up(lr: float, warmup: int, steps: int) -> Float[Tensor, " step"]:
    """Return the learning rate of each step, which rises linearly from 0 over the warm-up."""
    return lr * (torch.arange(steps).double() / max(warmup, 1)).clamp(max=1)


def times_to_dominate(
    alpha: Float[Tensor, "neuron freq"], beta: Float[Tensor, "neuron freq"], D: Float[Tensor, "neuron freq"], p: int
) -> Float[Tensor, "neuron freq"]:
    """Return the time until alpha is 5 times the largest initial alpha; infinite if D = pi, where the flow ends in the
    saddle at 0.

    The flow conserves E = alpha^2 - 2 beta^2 and H = alpha^2 beta sin D. So u = alpha^2 follows an equation of its own:
    up to sign, u' is 4 / p sqrt(f(u)), with f(u) = u^2 (u - E) / 2 - H^2. If cos D < 0, u = alpha^2 falls to the root
    of f before it rises. The returned time is the integral of p / (4 sqrt(f)) with u = root cosh(t)^2, by
    Gauss-Legendre quadrature with `NODES` nodes.
    """
    u, E, H = alpha.double().square(), (alpha.square() - 2 * beta.square()).double(), alpha.square() * beta * D.sin()
    root = u
    for _ in range(NEWTON_STEPS):  # from above, where f is convex: every step stays above the root
        root = root - (root.square() * (root - E) / 2 - H.square()) / (root * (3 * root - 2 * E) / 2)
    root = torch.minimum(root.clamp(min=LEAST_ROOT * u), u)
    at_start, at_goal = ((each / root).sqrt().acosh() for each in (u, 25 * u.max().expand_as(u)))
    nodes, weights = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(NODES))

    def integral(low: Tensor, high: Tensor) -> Tensor:
        t = (low + high)[..., None] / 2 + (high - low)[..., None] / 2 * nodes
        v, r, e = (root[..., None] * t.cosh().square(), root[..., None], E[..., None])
        speed = ((v.square() + (r - e) * (v + r)) / 2).sqrt()  # sqrt(f(v) / (v - root))
        return (high - low) / 2 * ((2 * r.sqrt() * t.cosh() / speed) @ weights)

    falls = D.cos() < 0
    times = (
        p / 4 * (integral(torch.where(falls, 0, at_start), at_goal) + torch.where(falls, integral(0 * u, at_start), 0))
    )
    return torch.where(falls & (E <= 0) & (D.sin().abs() < SADDLE), torch.inf, times)
