"""The mainline's step in JAX, jitted as one function: the last position alone, as ours computes it.

JAX comes with neither the package nor its tests: `pip install jax`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch

from modinterp.training import RunSpec

HAS_JAX = find_spec("jax") is not None
BETAS, EPSILON, DECAY = (0.9, 0.98), 1e-8, 1.0


def jax_epochs(run: RunSpec, rate: float = 0.0) -> Callable[[int], object]:
    """Epochs of a run in JAX on the CPU: all training pairs, loss in float64, AdamW; returns the last loss.

    Args:
        rate: learning rate, 0 by default as for the other contestants.
    """
    import jax  # type: ignore[import-not-found]
    import jax.numpy as jnp  # type: ignore[import-not-found]

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    c, task, rows = run.model, run.task, run.split.train
    d, heads, width = c.d_model, c.n_heads, c.d_model // c.n_heads
    inputs = jnp.asarray(task.inputs()[rows].numpy())
    labels = jnp.asarray(task.labels()[rows, 0].numpy())
    shapes = {"E": (c.d_vocab, d), "pos": (task.n_ctx, d), **dict.fromkeys("QKVO", (d, d)), "in": (d, c.d_mlp),
              "b_in": (c.d_mlp,), "out": (c.d_mlp, d), "b_out": (d,), "U": (d, c.d_vocab_out)}  # fmt: skip
    generator = torch.Generator().manual_seed(0)
    weights = {name: torch.randn(*shape, generator=generator) * d**-0.5 for name, shape in shapes.items()}

    def loss(w: dict[str, Any]) -> Any:
        x = w["E"][inputs] + w["pos"]
        q = (x[:, -1] @ w["Q"]).reshape(-1, heads, width)
        k, v = ((x @ w[name]).reshape(*inputs.shape, heads, width) for name in ("K", "V"))
        pattern = jax.nn.softmax(jnp.einsum("bhd,bkhd->bhk", q, k) / width**0.5, axis=-1)
        y = x[:, -1] + jnp.einsum("bhk,bkhd->bhd", pattern, v).reshape(-1, d) @ w["O"]
        y = y + jax.nn.relu(y @ w["in"] + w["b_in"]) @ w["out"] + w["b_out"]
        logs = jax.nn.log_softmax((y @ w["U"]).astype(jnp.float64), axis=-1)
        return -jnp.take_along_axis(logs, labels[:, None], axis=1).mean()

    def step(state: Any) -> Any:
        w, m, v, count = state
        value, gradient = jax.value_and_grad(loss)(w)
        count = count + 1
        m = jax.tree.map(lambda a, g: BETAS[0] * a + (1 - BETAS[0]) * g, m, gradient)
        v = jax.tree.map(lambda a, g: BETAS[1] * a + (1 - BETAS[1]) * g * g, v, gradient)
        first, second = 1 - BETAS[0] ** count, 1 - BETAS[1] ** count

        def moved(a: Any, mean: Any, square: Any) -> Any:
            by = (mean / first) / (jnp.sqrt(square / second) + EPSILON)
            return (a * (1 - rate * DECAY) - rate * by).astype(a.dtype)

        return (jax.tree.map(moved, w, m, v), m, v, count), value

    w = {name: jnp.asarray(x.numpy()) for name, x in weights.items()}
    zeros = jax.tree.map(jnp.zeros_like, w)
    held, compiled = [(w, zeros, zeros, jnp.zeros((), jnp.float32))], jax.jit(step)

    def epochs(count: int) -> float:
        value = jnp.nan
        for _ in range(count):
            held[0], value = compiled(held[0])
        jax.block_until_ready(held[0])
        return float(value)

    return epochs
