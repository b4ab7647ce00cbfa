"""Refuse networks and devices without values, such as torch's device `meta`, before any computation."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def check_default_device() -> None:
    """Raise ValueError if torch's default device is `meta`, on which inputs would hold no values."""
    if torch.get_default_device().type == "meta":
        raise ValueError("torch's default device is meta, which holds no numbers; call torch.set_default_device('cpu')")


def with_numbers(network: Callable[..., Any]) -> Callable[..., Any]:
    """Return the network, or a copy if it was made in torch's inference mode, which allows no gradients.

    Raises:
        ValueError: the weights are on the device `meta`, or torch's default device is `meta`.
    """
    check_default_device()
    if not isinstance(network, nn.Module):
        return network
    weights = [*network.parameters(), *network.buffers()]
    if any(w.is_meta for w in weights):
        raise ValueError("the weights are on the device meta, which holds no numbers; load them before")
    return copy.deepcopy(network) if any(w.is_inference() for w in weights) else network
