"""Claims on how representations appear and vanish while the MLP for the group S5 trains."""

from __future__ import annotations

import math

from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import HOLDS, Control, Finding, mixed
from modinterp.measurements import GroupMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.groups.claims.conditions import LEARNED
from modinterp.sources.groups.runs import S5_MLP

RISE = "excluded loss over its least value, while test accuracy is below 0.1"
AHEAD = "snapshots after memorising and before grokking with restricted below test loss, share"
NORM_FALL = "final sum of squared weights over that 10,000 epochs before grokking"
ORDER_SIMILARITY = 0.05  # of the released code: from here on a representation is learned


def _excluded(m: GroupMeasurements) -> dict[str, Value]:
    before = m.progress.query("epoch >= @m.grokking.memorised and test_accuracy < 0.1")[
        "neurons_excluded_loss_train"
    ].tolist()
    if len(before) < 2:
        raise NotRecorded(f"{m.name} has too few snapshots between memorising and grokking")
    least = before.index(min(before))
    return {RISE: max(before[least:]) / before[least]}


def _restricted(m: GroupMeasurements) -> dict[str, Value]:
    rows = m.progress.query("@m.grokking.memorised <= epoch <= @m.grokking.grokked")
    if not len(rows):
        raise NotRecorded(f"{m.name} has no snapshots between memorising and grokking")
    ahead = (rows["neurons_restricted_loss_all"] < rows["test_loss"]).mean()
    known = rows[rows["test_accuracy"] >= 0.1]
    first = (known if len(known) else rows.tail(1))["neurons_restricted_loss_all"].iloc[0]
    return {AHEAD: float(ahead), "restricted loss when test accuracy first passes 0.1 [nats]": float(first)}


def learned_at(m: GroupMeasurements) -> dict[str, int]:
    """Map each key representation to the epoch of the first snapshot at which its similarity exceeds 0.05."""
    found = {}
    for name in m.key_names:
        known = m.progress[m.progress[f"similarity_{name}"] > ORDER_SIMILARITY]
        if len(known):
            found[name] = int(known["epoch"].iloc[0])
    return found


def _sign_first(m: GroupMeasurements) -> dict[str, Value]:
    when = learned_at(m)
    if not when:
        raise NotRecorded(f"{m.name} has learned no representation")
    return {"sign is learned no later than any other": float(when.get("sign", math.inf) <= min(when.values()))}


def _norm(m: GroupMeasurements) -> dict[str, Value]:
    squares = m.progress["sum_of_squared_weights"]
    before = squares[m.progress["epoch"] <= m.grokking.grokked - 10_000]
    final = float(squares.iloc[-1])
    return {
        "final sum of squared weights": final,
        NORM_FALL: final / float(before.iloc[-1]) if len(before) else math.nan,
    }


_CONTROLS: dict[str, Control] = {
    "restricted": "also true of another operation", "sign_first": "also true of a contrast",
}  # fmt: skip

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
        finding=finding,
        figure="progress",
        control=_CONTROLS.get(name, "told apart"),
        # too narrow to generalise
        contrast=("groups/s5-mlp-width-64-1",) if name == "sign_first" else (),
    )
    for name, statement, says, measure, expected, finding in (
        (
            "excluded",
            "The excluded loss separates memorising, circuit formation and clean-up: the excluded loss rises long "
            "before the test loss falls.",
            (
                "in the mainline network the excluded loss is 0.071 at epoch 24,712, 0.80 at epoch 79,585 "
                "(where the test loss is 11.1), and 12.2 at epoch 99,561"
            ),
            _excluded,
            {RISE: at_least(3, "in the mainline network the excluded loss rises from 0.071 to 0.80, a factor of 11")},
            HOLDS,
        ),
        (
            "restricted",
            "The restricted loss falls earlier in training than the test loss.",
            "in the mainline network the restricted loss is 2.98, 1.74, 0.77 and 0.030 where the test loss is 35.6, "
            "18.9, 11.1 and 1.40",
            _restricted,
            {
                AHEAD: equals(1, "in the mainline network the restricted loss is always below the test loss"),
                "restricted loss when test accuracy first passes 0.1 [nats]": at_most(
                    1, "in the mainline network the restricted loss is 0.77 at epoch 80,000"
                ),
            },
            mixed(),
        ),
        (
            "sign_first",
            "The network learns the sign representation before all other representations, while it memorises.",
            "in 45 of 50 seeds the sign representation is learned first",
            _sign_first,
            {
                "sign is learned no later than any other": equals(
                    1, "in 45 of 50 seeds the sign representation is learned first"
                )
            },
            Finding(
                "holds",
                "In all networks, the logits become similar to the sign representation earlier than to other "
                "representations. The logits do not always become similar to the sign representation while the "
                "network memorises. The network s5-mlp-3 has memorised by epoch 400, but the similarity of its "
                "logits to the sign representation passes 0.05 only at epoch 14,000.",
            ),
        ),
        (
            "norm",
            "The sum of squared weights falls while the circuit forms, and falls most at clean-up.",
            (
                "the sum of squared weights is 18,900 at epoch 2,000, 10,100 at epoch 90,000 and 5,014 at the "
                "end; in 50 seeds it is 4,897 to 7,182 at the end"
            ),
            _norm,
            {
                "final sum of squared weights": between(
                    4_000, 9_000, "in 50 seeds the final sum of squared weights is 4,897 to 7,182"
                ),
                NORM_FALL: at_most(
                    0.5, "in the mainline network the sum of squared weights falls from about 12,000 to 5,014"
                ),
            },
            mixed(
                "The sum of squared weights falls by more than a half, except in one seed, where the sum falls "
                "by slightly less than a half. We stop training 20,000 epochs after the test loss is small, "
                "while the sum of squared weights still falls. The source trains its networks to epoch 250,000.",
            ),
        ),
    )
)
