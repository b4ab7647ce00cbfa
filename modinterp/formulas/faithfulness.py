"""Compare the logits of a formula with a network's logits: accuracy, cross-entropy and KL divergence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TIE = 1e-5  # of the range of a pair's logits: float32 does not tell two classes apart that differ by less


@dataclass(frozen=True)
class Faithfulness:
    """Measures of how faithful a formula's logits are to a network, over all pairs.

    Attributes:
        accuracy: share of the pairs that are answered correctly.
        loss: mean cross-entropy of the right answers. [nats]
        kl: mean KL divergence between the softmax of the formula's logits and of the network's logits. [nats]
        same: share of the pairs for which the formula gives the network's answer, or a class of equal logit, since
            rounding decides between ties.
    """

    accuracy: float
    loss: float
    kl: float
    same: float


def log_probabilities(logits: np.ndarray) -> np.ndarray:
    """Return the logarithm of the softmax over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def faithfulness(logits: np.ndarray, network: np.ndarray, answers: np.ndarray) -> Faithfulness:
    """Compare a formula's logits with a network's logits, and with the right answers.

    Args:
        logits, network: logits `[pair, class]` of the formula and of the network.
        answers: right answers, `[pair]`.
    """
    found, wanted = log_probabilities(logits), log_probabilities(network)
    kl = (np.exp(wanted) * (wanted - found)).sum(axis=-1).mean()
    best = found.argmax(axis=-1)
    loss = -found[np.arange(len(answers)), answers].mean()
    lead = wanted.max(axis=-1) - np.take_along_axis(wanted, best[:, None], axis=-1)[:, 0]
    same = (lead <= TIE * (wanted.max(axis=-1) - wanted.min(axis=-1))).mean()
    return Faithfulness(float((best == answers).mean()), float(loss), max(float(kl), 0.0), float(same))
