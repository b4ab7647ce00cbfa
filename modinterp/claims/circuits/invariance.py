"""The max transformer: how well it does, and that the order of its inputs does not matter to it."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from modinterp.analyses.permutations import neighbour_contrast
from modinterp.claims.band import at_least, at_most
from modinterp.claims.circuits.data import BALANCED, LEARNED
from modinterp.claims.circuits.evidence import OrderingEvidence, of_each
from modinterp.claims.claim import Claim, refuted

ACCURACY = {"test accuracy": at_least(0.95, LEARNED)}


def _loss(ev: OrderingEvidence) -> dict[str, float]:
    return {
        "test accuracy": ev.accuracy,
        "test loss": ev.loss,
        "accuracy where all numbers are small": ev.small_accuracy,
    }


def position_cosines(ev: OrderingEvidence) -> dict[str, float]:
    """Means over pairs of input positions, and of input positions with those from CLS on."""
    similar, n = ev.positions, ev.n
    among = similar[:n, :n][~torch.eye(n, dtype=torch.bool)]
    return {
        "mean cosine among input positions": float(among.mean()),
        "largest |cosine| of an input position with CLS": float(similar[:n, n].abs().max()),
        "mean cosine of input and output positions": float(similar[:n, n:].mean()),
        "smallest cosine among input positions": float(among.min()),
    }


def order_cosines(ev: OrderingEvidence) -> dict[str, float]:
    """Of the neurons before their nonlinearity, between all orders of some inputs."""
    unit = F.normalize(ev.pre_in_all_orders, dim=2)
    similar = unit @ unit.transpose(1, 2)
    return {
        "smallest cosine": float(similar.min()),
        "mean cosine": float(similar.mean()),
        "test accuracy": ev.accuracy,
    }


def _perm_output(ev: OrderingEvidence) -> dict[str, float]:
    answers = ev.reading.head.logits(ev.reading.resid(ev.orders.flatten(0, 1))).argmax(dim=1)
    answers = answers.view(ev.orders.shape[:2])
    single = (answers == answers[:, :1]).all(dim=1)
    return {"inputs with one answer in all orders": float(single.double().mean()), "test accuracy": ev.accuracy}


def _perm_pattern(ev: OrderingEvidence) -> dict[str, float]:
    unit = F.normalize(ev.pre_in_all_orders, dim=2)
    shuffled = torch.randperm(unit.shape[1], generator=torch.Generator().manual_seed(0))
    contrast = [neighbour_contrast(u @ u.T, shuffled) for u in unit]
    return {
        "step between neighbours over that in a random sequence": sum(contrast) / len(contrast),
        "test accuracy": ev.accuracy,
    }


CLAIMS = (
    Claim(
        "circuits.max.loss",
        "Max transformer, training",
        "The network learns to name the largest of the numbers.",
        "loss curves",
        of_each(_loss),
        {"test accuracy": at_least(0.95, "learned; the source prints no number")},
        needs=BALANCED,
        scope="any seed",
        figure="curves",
    ),
    Claim(
        "circuits.max.pos_sim",
        "Max transformer, positions",
        "The embeddings of the input positions are close to one another and perpendicular to that of CLS.",
        "a heat-map",
        of_each(position_cosines),
        {
            "mean cosine among input positions": at_least(0.7, "close to 1 in the source's heat-map, seed-specific"),
            "largest |cosine| of an input position with CLS": at_most(0.4, "near 0 in the heat-map, seed-specific"),
        },
        needs=BALANCED[:1],
        finding=refuted("a mean cosine of 0.40 among input positions, from 0.23 on: alike, but far from equal"),
        figure="positions",
    ),
    Claim(
        "circuits.max.permutations",
        "Max transformer, permutations",
        "The neurons before the ReLU at CLS are nearly the same in all orders of the inputs.",
        "about 1 everywhere",
        of_each(order_cosines),
        {
            "smallest cosine": at_least(0.95, "nearly identical"),
            "mean cosine": at_least(0.99, "nearly identical"),
            **ACCURACY,
        },
        needs=BALANCED,
        scope="any seed",
        figure="orders",
    ),
    Claim(
        "circuits.max.perm_output",
        "Max transformer, permutations",
        "The order of the inputs does not change the answer.",
        "1",
        of_each(_perm_output),
        {"inputs with one answer in all orders": at_least(0.98, "1 in the source"), **ACCURACY},
        needs=BALANCED,
        scope="any seed",
        figure="orders",
    ),
    Claim(
        "circuits.max.perm_pattern",
        "Max transformer, permutations",
        "The pattern seen in the similarities comes from the sequence of the permutations, and goes when that is random.",
        "seen in two heat-maps",
        of_each(_perm_pattern),
        {
            "step between neighbours over that in a random sequence": at_most(0.9, "neighbours in sequence are alike"),
            **ACCURACY,
        },
        needs=BALANCED,
        scope="any seed",
        figure="orders",
    ),
)  # fmt: skip
