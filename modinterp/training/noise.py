"""Draw random bits that depend only on a seed, a step and a position in a tensor.

A stateful generator would give a run other random numbers beside other runs, on another device, or after resuming. The
random numbers of this module are hashes of seed, step and position. Hashing gives the same dropout beside other runs,
on another device, and after resuming. Hashed random numbers also work in computations that are mapped over runs or
captured as a CUDA graph.

Source of the mixing functions: Steele, Lea & Flood 2014 (splitmix64) and Wellons 2018 (lowbias32).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_LOW_1, _LOW_2 = 0x7FEB352D, 0x846CA68B


def _signed(constant: int, bits: int) -> int:
    return constant - (1 << bits) if constant >> (bits - 1) else constant


def _logical_shift(x: Tensor, by: int, bits: int) -> Tensor:
    """Shift bits to the right and fill with zeros from the left, instead of copies of the sign bit."""
    return (x >> by) & ((1 << (bits - by)) - 1)


def splitmix64(x: Int[Tensor, "*place"]) -> Int[Tensor, "*place"]:
    """Return the splitmix64 hash of each 64-bit number; the hash is one-to-one."""
    x = x * _signed(_GOLDEN, 64)
    x = (x ^ _logical_shift(x, 30, 64)) * _signed(_MIX_1, 64)
    x = (x ^ _logical_shift(x, 27, 64)) * _signed(_MIX_2, 64)
    return x ^ _logical_shift(x, 31, 64)


def _hashed_words(key: Tensor, n: int, stream: int) -> Int[Tensor, " n"]:
    """Return 32 hashed bits for every number from 0 to n - 1."""
    return splitmix64(splitmix64(key + stream) + torch.arange(n, device=key.device)).to(torch.int32)


def dropout_mask(key: Int[Tensor, ""], rows: int, columns: int, rate: Tensor) -> Bool[Tensor, "batch neuron"]:
    """Return a mask of the activations that dropout keeps: each entry is True with probability 1 - rate.

    Args:
        key: a hashed number; different keys give independent masks.
        rows, columns: shape of the mask. A mask of more rows begins with the rows of a mask of fewer rows.
        rate: share of the activations to drop, in [0, 1).
    """
    x = _hashed_words(key, rows, 1).unsqueeze(1) ^ _hashed_words(key, columns, 2)
    x = (x ^ _logical_shift(x, 16, 32)) * _LOW_1
    x = (x ^ _logical_shift(x, 15, 32)) * _signed(_LOW_2, 32)
    x = x ^ _logical_shift(x, 16, 32)
    return x >= ((rate - 0.5) * 2.0**32).clamp(max=2.0**31 - 1).to(torch.int32)
