"""Record and change attention patterns inside a user's module, at each call of softmax over positions.

Modules compute attention by `scaled_dot_product_attention`, which returns no pattern, or by a softmax of scores. While
the block of the `with` statement runs, both functions are replaced by equal functions that expose the pattern. Names of
modules play no role in finding attention patterns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Pattern = Float[Tensor, "batch head query key"]
Change = Callable[[Tensor], Tensor]


@contextmanager
def attention_passing(batch: int, through: Mapping[int, Change]) -> Iterator[list[tuple[int, ...]]]:
    """Pass attention patterns through functions until the `with` statement ends; yield the shapes of all patterns.

    Args:
        batch: number of inputs in each call of the network.
        through: map from the index of an attention call to a function of its pattern `[batch, head, query, key]`.
    """
    seen: list[tuple[int, ...]] = []
    softmax_of = Tensor.softmax

    def passed(pattern: Tensor) -> Tensor:
        full = pattern.reshape(batch, -1, *pattern.shape[-2:])
        seen.append(tuple(full.shape))
        change = through.get(len(seen) - 1)
        return pattern if change is None else change(full).reshape(pattern.shape)

    def attention(query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        pattern = passed(_pattern(softmax_of, query, key, *args, **kwargs))
        if value.shape[-3] != query.shape[-3] and value.ndim == query.ndim:
            value = value.repeat_interleave(query.shape[-3] // value.shape[-3], dim=-3)
        return pattern @ value

    def of_softmax(original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def softmax(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            made = original(x, *args, **kwargs)
            is_pattern = made.ndim in (3, 4) and made.shape[-1] == made.shape[-2] and made.shape[0] % batch == 0
            sums = made.sum(dim=-1)
            return passed(made) if is_pattern and torch.allclose(sums, torch.ones_like(sums), atol=1e-3) else made

        return softmax

    owners = [(torch, "softmax"), (Tensor, "softmax")]  # the latter is what `F.softmax` calls
    before = [(owner, name, getattr(owner, name)) for owner, name in owners]
    fused = F.scaled_dot_product_attention
    try:
        F.scaled_dot_product_attention = attention  # type: ignore[assignment]
        for owner, name, original in before:
            setattr(owner, name, of_softmax(original))
        yield seen
    finally:
        F.scaled_dot_product_attention = fused
        for owner, name, original in before:
            setattr(owner, name, original)


def _pattern(
    softmax: Callable[..., Tensor],
    query: Tensor,
    key: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the attention pattern of a call of `scaled_dot_product_attention` from its arguments, without dropout."""
    if key.shape[-3] != query.shape[-3] and enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~later, -torch.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -torch.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    return softmax(scores, dim=-1)
