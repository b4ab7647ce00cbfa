"""Estimate how long an epoch should take on this machine, and explain why it takes much longer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import prod

import torch

from modinterp.cluster.cores import cores, free_cores
from modinterp.training.spec import RunSpec

SLOW = 3.0  # times the expected time of an epoch, from which a training is slow
_SHAPE, _TRIALS = (1024, 512, 512), 12  # of the product that tells the machine's rate
_LOOKED_UP = ("embed.W_E", "pos_embed.W_pos")  # weights whose rows are taken, without a product
_OF_RATE, _OVERHEAD = 0.45, 0.003  # share of that rate that a step reaches; seconds of a step beside the products


def rate_of_products() -> float:
    """Return the speed of a float32 matrix product with torch's current number of threads, best of several. [FLOP/s]"""
    rows, inner, outer = _SHAPE
    x, W = torch.ones(rows, inner), torch.ones(inner, outer)
    best = float("inf")
    for _ in range(_TRIALS):
        began = time.perf_counter()
        torch.matmul(x, W)
        best = min(best, time.perf_counter() - began)
    return 2 * rows * inner * outer / best


def expected_seconds(specs: Sequence[RunSpec], rate: float) -> float:
    """Return an upper estimate of the time for one epoch of some runs together on an idle machine. [s]

    Args:
        rate: speed of matrix products, from `rate_of_products`. [FLOP/s]
    """
    total = 0.0
    for spec in specs:
        rows = spec.recipe.batch_size or len(spec.split.train)
        positions = spec.task.n_read if spec.model.n_layers == 1 else spec.task.n_ctx
        weights = sum(prod(shape) for name, shape in spec.model.shapes().items() if name not in _LOOKED_UP)
        total += 6 * rows * positions * weights / (_OF_RATE * rate) + _OVERHEAD
    return total


def slowness(seconds: float, expected: float) -> str:
    """Return the likely reason why an epoch is slow, as a sentence; empty below three times the expected time.

    Args:
        seconds, expected: measured and expected time of an epoch. [s]
    """
    if seconds < SLOW * expected:
        return ""
    free, threads = free_cores(), torch.get_num_threads()
    why = (
        (
            f"{free} of {cores()} cores are free for {threads} threads, which wait for one another; --threads "
            f"{free} is faster, but changes the last bits of the results"
        )
        if threads > free
        else "other programs may use the cores, the caches or the disk, or the machine may be slower than before"
    )
    return f"an epoch takes {1e3 * seconds:.0f} ms, not the expected {1e3 * expected:.0f} ms; {why}"
