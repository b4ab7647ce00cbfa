"""Networks and devices without numbers, such as those on torch's device `meta`, refused before anything is computed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def check_default_device() -> None:
    """Raise ValueError where torch makes tensors on the device meta, so that inputs would hold no numbers."""
    if torch.get_default_device().type == "meta":
        raise ValueError("torch makes tensors on meta, which holds no numbers; call torch.set_default_device('cpu')")


def with_numbers(network: Callable[..., Any]) -> Callable[..., Any]:
    """The network itself; a copy where torch made it in inference mode, which lets nobody take gradients through it.

    Raises:
        ValueError: its weights lie on the device meta, or tensors are made there.
    """
    check_default_device()
    if not isinstance(network, nn.Module):
        return network
    weights = [*network.parameters(), *network.buffers()]
    if any(w.is_meta for w in weights):
        raise ValueError("the weights are on the device meta, which holds no numbers; load them before")
    return copy.deepcopy(network) if any(w.is_inference() for w in weights) else network
