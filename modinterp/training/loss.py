"""Cross-entropy in float64, everywhere: in float32 the log-softmax rounds small losses to zero.

Source: Nanda et al. 2023, section 3 and appendix D.2.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def cross_entropy(
    logits: Float[Tensor, "*input output"], labels: Int[Tensor, "*input"], dtype: torch.dtype = torch.float64
) -> Float[Tensor, ""]:
    """Mean cross-entropy in nats over all inputs.

    Args:
        logits: in any floating dtype; cast to `dtype` before the log-softmax.
        labels: the right class of each input.
        dtype: in which the log-softmax is taken; a lower one than float64 is for experiments on just that.
    """
    log_probs = logits.to(dtype).log_softmax(dim=-1)
    return F.nll_loss(log_probs.flatten(0, -2), labels.flatten())


def accuracy(logits: Float[Tensor, "*input output"], labels: Int[Tensor, "*input"]) -> float:
    """Share of the inputs whose largest logit is the label's; NaN logits are wrong."""
    right = logits.argmax(dim=-1) == labels
    return (right & logits.isfinite().all(dim=-1)).double().mean().item()
