"""Random bits that depend on a seed, a step and a place, and on nothing else.

A generator that is drawn from in turn would give a run other numbers in other company, on another device, or after
going on from a checkpoint. These are hashed from their coordinates instead, so that dropout is the same in all of
those cases, and can be drawn inside a program that is mapped over runs or captured as a graph.

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


def _shifted(x: Tensor, by: int, bits: int) -> Tensor:
    """x >> by without copies of the sign bit."""
    return (x >> by) & ((1 << (bits - by)) - 1)


def mixed(x: Int[Tensor, "*place"]) -> Int[Tensor, "*place"]:
    """64 bits hashed from 64 bits, one to one (splitmix64)."""
    x = x * _signed(_GOLDEN, 64)
    x = (x ^ _shifted(x, 30, 64)) * _signed(_MIX_1, 64)
    x = (x ^ _shifted(x, 27, 64)) * _signed(_MIX_2, 64)
    return x ^ _shifted(x, 31, 64)


def _words(key: Tensor, n: int, stream: int) -> Int[Tensor, " n"]:
    """32 bits for every number below n."""
    return mixed(mixed(key + stream) + torch.arange(n, device=key.device)).to(torch.int32)


def kept(key: Int[Tensor, ""], rows: int, columns: int, rate: Tensor) -> Bool[Tensor, "row column"]:
    """True with probability 1 - rate in every place.

    Args:
        key: says which numbers; another key gives others.
        rate: a number in [0, 1).
    """
    x = _words(key, rows, 1).unsqueeze(1) ^ _words(key, columns, 2)
    x = (x ^ _shifted(x, 16, 32)) * _LOW_1
    x = (x ^ _shifted(x, 15, 32)) * _signed(_LOW_2, 32)
    x = x ^ _shifted(x, 16, 32)
    return x >= ((rate - 0.5) * 2.0**32).clamp(max=2.0**31 - 1).to(torch.int32)
