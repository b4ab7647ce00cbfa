"""How representations come and go while the S5 MLP trains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch

from modinterp.analyses.fourier.ablations import accuracy_on
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each
from modinterp.measurements import GroupMeasurements
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.sources.groups.claims.conditions import LEARNED, TEST_ACCURACY, TO_TRAIN, test_accuracy
from modinterp.sources.groups.runs import S5_MLP

RISE = "excluded loss over its least value, while test accuracy is below 0.1"
AHEAD = "snapshots after memorising and before grokking with restricted below test loss, share"
AT_TENTH = "restricted loss when test accuracy first passes 0.1 [nats]"
SIGN_FIRST = "sign is learned no later than any other"
NORM = "final sum of squared weights"
NORM_FALL = "final sum of squared weights over that 10,000 epochs before grokking"
ORDER_SIMILARITY = 0.05  # of the released code: from here on a representation is learned


def at_snapshots(m: GroupMeasurements) -> Iterator[tuple[int, GroupMeasurements]]:
    """Epoch and measurements of every snapshot, one after the other.

    Raises:
        NotRecorded: no snapshots came with the run.
    """
    for epoch, network in m.networks():
        yield epoch, GroupMeasurements(TrainedRun(m.name, m.task, network, m.spec))


@dataclass(frozen=True)
class Row:
    """What is measured of one snapshot; restricted and excluded are the representations that are key ones at the end.

    Attributes:
        test_loss, restricted, excluded: over the pairs held out, all pairs, and the pairs trained on. [nats]
        similarities: of logits and character, of every representation.
    """

    epoch: int
    test_accuracy: float
    test_loss: float
    restricted: float
    excluded: float
    similarities: tuple[float, ...]


@lru_cache(maxsize=8)
def progress(m: GroupMeasurements) -> tuple[Row, ...]:
    """What is measured of every snapshot, in the order of epochs.

    Raises:
        NotRecorded: no snapshots came with the run.
    """
    rows, (train, test) = [], m.split
    for epoch, then in at_snapshots(m):
        kept = then.logits_of_products(m.keys)
        losses = then.loss_of(then.logits, test), then.loss_of(kept), then.loss_of(then.neuron_logits - kept, train)
        accuracy = accuracy_on(then.logits, then.labels, test)
        rows.append(Row(epoch, accuracy, *losses, tuple(then.similarities.tolist())))
    return tuple(rows)


def _excluded(m: GroupMeasurements) -> dict[str, Value]:
    grokking, before = m.grokking, [row for row in progress(m) if row.test_accuracy < 0.1]
    after = [row.excluded for row in before if row.epoch >= grokking.memorised]
    if len(after) < 2:
        raise NotRecorded(f"{m.name} has too few snapshots between memorising and grokking")
    least = min(range(len(after)), key=lambda k: after[k])
    return {TEST_ACCURACY: test_accuracy(m), RISE: max(after[least:]) / after[least]}


def _restricted(m: GroupMeasurements) -> dict[str, Value]:
    rows = [row for row in progress(m) if m.grokking.memorised <= row.epoch <= m.grokking.grokked]
    if not rows:
        raise NotRecorded(f"{m.name} has no snapshots between memorising and grokking")
    first = next((row for row in rows if row.test_accuracy >= 0.1), rows[-1])
    ahead = sum(row.restricted < row.test_loss for row in rows) / len(rows)
    return {TEST_ACCURACY: test_accuracy(m), AHEAD: ahead, AT_TENTH: first.restricted}


def learned_at(m: GroupMeasurements) -> dict[str, int]:
    """Name of a representation to the epoch of the first snapshot at which its similarity exceeds 0.05."""
    found: dict[str, int] = {}
    for row in progress(m):
        for rho, x in zip(m.irreps, row.similarities, strict=True):
            if x > ORDER_SIMILARITY and rho in m.keys:
                found.setdefault(rho.name, row.epoch)
    return found


def _sign_first(m: GroupMeasurements) -> dict[str, Value]:
    when = learned_at(m)
    if "sign" not in when:
        raise NotRecorded(f"{m.name} has no sign representation")
    return {TEST_ACCURACY: test_accuracy(m), SIGN_FIRST: float(when["sign"] <= min(when.values()))}


def _norm(m: GroupMeasurements) -> dict[str, Value]:
    def squares(weights: dict[str, torch.Tensor]) -> float:
        return sum(float(w.double().square().sum()) for w in weights.values())

    final = squares(dict(m.model.state_dict()))
    before = [squares(dict(weights)) for epoch, weights in m.snapshots.items() if epoch <= m.grokking.grokked - 10_000]
    return {TEST_ACCURACY: test_accuracy(m), NORM: final, NORM_FALL: final / before[-1] if before else math.nan}


CLAIMS = tuple(
    Claim(
        id=f"groups.s5.progress.{name}",
        where="section 5.6",
        statement=statement,
        source_says=says,
        measure=each(measure),
        given=LEARNED,
        expected=expected,
        needs=S5_MLP,
        scope="any seed",
        finding=TO_TRAIN,
        figure="progress",
    )
    for name, statement, says, measure, expected in (
        (
            "excluded",
            "Memorising, forming of the circuit and clean-up are told apart: excluded loss rises long before test loss falls.",
            "0.071 at epoch 24,712, 0.80 at 79,585 where the test loss is 11.1, 12.2 at 99,561",
            _excluded,
            {RISE: at_least(3, "0.80 over 0.071 is 11 in the mainline")},
        ),
        (
            "restricted",
            "Restricted loss falls ahead of test loss.",
            "2.98, 1.74, 0.77 and 0.030 beside 35.6, 18.9, 11.1 and 1.40 in the mainline",
            _restricted,
            {AHEAD: equals(1, "always in the mainline"), AT_TENTH: at_most(1, "0.77 at 80,000 in the mainline")},
        ),
        (
            "sign_first",
            "The sign representation is learned first, while the network memorises.",
            "first in 45 of 50 seeds",
            _sign_first,
            {SIGN_FIRST: equals(1, "first in 45 of 50 seeds")},
        ),
        (
            "norm",
            "The sum of squared weights falls while the circuit forms, and most at clean-up.",
            "18,900 at epoch 2,000, 10,100 at 90,000, 5,014 at the end; 4,897 to 7,182 in 50 seeds",
            _norm,
            {
                NORM: between(4_000, 9_000, "4,897 to 7,182 in 50 seeds"),
                NORM_FALL: at_most(0.5, "5,014 over about 12,000 in the mainline"),
            },
        ),
    )
)
