"""Networks that look as if they added by circles and do not, or do so and do not look it; all written down by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from explain import planted
from torch import Tensor

from modinterp.models import Weights

W = 2 * math.pi


def cosines(s: Tensor, p: int, freqs: Sequence[int], size: float = 20.0) -> Tensor:
    """Logits that are cosines of w(s - c), for answers s of any value."""
    return size * sum((W / p * k * (s[..., None] - torch.arange(p))).cos() for k in freqs)  # type: ignore[return-value]


def carry(p: int, logits: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """One-hot numbers are read as integers, added, p is taken off where there is a carry, and the result is looked up."""

    def network(x: Tensor) -> Tensor:
        if x.ndim != 3 or not x.is_floating_point():
            raise TypeError("expected one-hot pairs")
        t = torch.arange(p).to(x)
        s = (x @ t).sum(dim=1)
        return logits(torch.where(s >= p, s - p, s))

    return network


def carry_of_tokens(p: int, logits: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The same for tokens, so that nothing is seen of it but its logits."""
    return lambda tokens: logits((tokens[:, 0] + tokens[:, 1]) % p)


def circular_squares(p: int) -> Callable[[Tensor], Tensor]:
    """From answers to logits -(d)^2, d the distance around the circle."""

    def logits(s: Tensor) -> Tensor:
        d = (s[..., None].double() - torch.arange(p)).abs()
        return -torch.minimum(d, p - d).square()

    return logits


def number_line(p: int, freqs: Sequence[int]) -> Weights:
    """Every number is its own size on a line; rectified thresholds of a + b add up to cosines at every whole sum."""
    content = torch.arange(p)[:, None].float()
    thresholds = torch.arange(-1, 2 * p - 2).float()
    one = torch.ones(1, len(thresholds))
    sums = torch.arange(2 * p - 1).double()
    wanted = cosines(sums, p, freqs)  # [sum, output]
    hinges = (sums[:, None] - thresholds.double()).clamp(min=0)  # [sum, neuron]
    W_L = torch.linalg.solve(hinges[:, : 2 * p - 1], wanted)
    return planted.routed(content, one, one, -thresholds, W_L.float())


def half_a_table(p: int, freqs: Sequence[int], seed: int = 0) -> Callable[[Tensor], Tensor]:
    """One-hot pairs: a random half is answered from a table of pairs, the rest by waves of both numbers."""
    in_table = torch.rand(p, p, generator=torch.Generator().manual_seed(seed)) < 0.5
    angles = W / p * torch.arange(p)[:, None] * torch.tensor(freqs)
    cos, sin = angles.cos(), angles.sin()
    a, b = torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij")
    table = 40 * in_table[..., None] * torch.nn.functional.one_hot((a + b) % p, p)

    def network(x: Tensor) -> Tensor:
        if x.ndim != 3 or not x.is_floating_point():
            raise TypeError("expected one-hot pairs")
        first, second = x.unbind(1)
        c1, s1, c2, s2 = first @ cos.to(x), first @ sin.to(x), second @ cos.to(x), second @ sin.to(x)
        waves = (c1 * c2 - s1 * s2) @ cos.T.to(x) + (s1 * c2 + c1 * s2) @ sin.T.to(x)
        by_waves = torch.einsum("ba,ac,bc->b", first, (~in_table).to(x), second)
        stored = torch.einsum("ba,bc,acd->bd", first, second, table.to(x))
        return 20 * by_waves[:, None] * waves + stored

    return network


def dead_decoys(p: int, freqs: tuple[int, ...], decoys: tuple[int, ...]) -> Weights:
    """A network that adds by some circles, beside neurons that never fire and would write other frequencies strongly."""
    live, dead = planted.clock(p, freqs), planted.clock(p, decoys, size=400.0)
    (a1, b1, bias1, W1), (a2, b2, bias2, W2) = (
        planted._neurons(w, 2 * len(k)) for w, k in ((live, freqs), (dead, decoys))
    )
    content = torch.cat([planted.circles(p, freqs), planted.circles(p, decoys)], dim=1)
    on_a, on_b = torch.block_diag(a1, a2), torch.block_diag(b1, b2)
    return planted.routed(content, on_a, on_b, torch.cat([bias1, bias2 - 10]), torch.cat([W1, W2]))


def gromov(p: int, neurons: int = 512, seed: int = 0, size: float = 20.0) -> Weights:
    """The closed form of Gromov 2023: square neurons, one wave each, of all frequencies."""
    generator = torch.Generator().manual_seed(seed)
    k = torch.randint(1, (p + 1) // 2, (neurons, 1), generator=generator)
    u, v = W * torch.rand(2, neurons, 1, generator=generator)
    x = W / p * k * torch.arange(p)
    return {
        "fc1.weight": torch.cat([(x + u).cos(), (x + v).cos()], 1),
        "fc2.weight": size * (x + u + v).cos().T / neurons,
    }
