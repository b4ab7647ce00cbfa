"""Explain in plain words why some numbers of a network are undefined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from modinterp.models.layouts import name_list

# What a measurement raises where its numbers are not defined, as of a network of zeros; other errors are mistakes.
UNDEFINED = (ArithmeticError, LookupError, ValueError, RuntimeError)

TINY = torch.finfo(torch.float32).tiny ** 0.5  # [logits] float32 does not hold the square of smaller numbers


def why_undefined(m: Any) -> str:
    """Return a text that names unusual properties of a network's weights, logits or neurons, which make numbers
    undefined.

    Use this function if a measurement of a user's network failed. The text gives the two most basic reasons, such as
    "embed.W_E is 0 throughout and its logits are the same for all inputs". The text on unusual weights, logits or
    neurons is empty if nothing is unusual.

    Args:
        m: measurements of a network.
    """
    found: list[str] = []
    for look in (_of_weights, _of_logits, _of_neurons, _of_blocks):
        with suppress(*UNDEFINED):
            found += look(m)
    return " and ".join(found[:2])


def _is_constant(x: Tensor) -> bool:
    return bool((x == x.flatten()[:1]).all())


def _of_weights(m: Any) -> Iterator[str]:
    weights = {name: w.detach() for name, w in m.model.state_dict().items() if w.is_floating_point() and w.ndim > 1}
    if any(not w.isfinite().all() for w in weights.values()):
        yield "some weights of the network are not finite"
    elif all(not w.any() for w in weights.values()):
        yield "all weights of the network are 0"
    elif all(map(_is_constant, weights.values())):
        yield "all entries of each matrix are equal"
    elif zeros := [name for name, w in weights.items() if not w.any()]:
        yield f"{name_list(zeros)} {'is' if len(zeros) == 1 else 'are'} 0 throughout"


def _of_logits(m: Any) -> Iterator[str]:
    logits = m.all_logits
    if not logits.isfinite().all():
        yield "some logits of the network are not finite"
    elif bool((logits == logits[:1]).all()):
        yield "the network's logits are the same for all inputs"
    elif (size := float((logits - logits.mean(dim=-1, keepdim=True)).abs().max())) < TINY:
        yield f"the network's logits differ by no more than {size:.0e}"
    elif hasattr(m, "own_score") and m.own_score.loss == 0:
        yield "the network's loss is 0 up to rounding"


def _of_neurons(m: Any) -> Iterator[str]:
    post = m.post.flatten(0, -2) if hasattr(m, "post") else None
    if post is not None and bool((post == post[:1]).all()):
        yield "no neuron of the network changes with the input"


def _of_blocks(m: Any) -> Iterator[str]:
    if not hasattr(m, "key_blocks"):
        return
    if not m.key_blocks:
        yield f"the network has no key {m.basis.blocks_name}"
    elif not any(getattr(m.neurons, "explained", [True])):  # those of groups are no waves
        yield "no neuron of the network is a wave of one frequency"
