"""A member of measurements that has the name of a quantity is that quantity, and tables keep the names apart."""

from __future__ import annotations

from collections import Counter

import pytest
from loops import check_each

from modinterp.measurements import (
    REGISTRY,
    CyclicMeasurements,
    GroupMeasurements,
    NetworkMeasurements,
    OrderMeasurements,
    SequenceMeasurements,
    measure,
)
from modinterp.measurements.recorded import measurements_declared, restored_values
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Group, Ordering, PrimeRemainders, SignOfSum, Task, addition

FAMILIES = (CyclicMeasurements, GroupMeasurements, OrderMeasurements, SequenceMeasurements)
TASKS: dict[str, Task] = {
    "pairs": addition(7),
    "a group": Group("S3", vocabularies=2),
    "questions": PrimeRemainders(7),
    "lists": Ordering("max", n=3, limit=10, size=50),
    "streams": SignOfSum(n=4, largest=3),
}


def number(m: NetworkMeasurements, key: str) -> float | None:
    try:
        return m[key]
    except NotRecorded:
        return None


def test_a_member_with_the_name_of_a_quantity_is_that_number() -> None:
    def check(kind: str) -> None:
        task = TASKS[kind]
        config = (
            MLPConfig.of(task, d_model=8, d_mlp=8, joined="concatenated")
            if isinstance(task, Group)
            else TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=8)
        )
        m = measure(TrainedRun("mine", task, hooked(config, initial_weights(config, 0))))
        for key in (each.key for each in m.quantities() if hasattr(type(m), each.key)):
            own = getattr(m, key)
            assert own == pytest.approx(number(m, key), nan_ok=True), key

    check_each(TASKS, check)


def test_no_two_parts_of_measurements_are_kept_under_one_name() -> None:
    def check(kind: type[NetworkMeasurements]) -> None:
        names = Counter(name for holder in (kind, *kind.parts) for name in measurements_declared(holder))
        assert not [name for name, count in names.items() if count > 1 and name != "basis"]  # which is not recorded

    check_each(FAMILIES, check, name=lambda kind: kind.__name__)


def test_names_in_tables_that_were_changed_are_read() -> None:
    for kind in FAMILIES:
        for name in getattr(kind, "FORMERLY", {}).values():
            assert name in measurements_declared(kind)
    shipped = {"restricted_loss": 0.5, "coset_means": [0.25, 0.75]}
    assert restored_values(GroupMeasurements, shipped) == {
        "neurons_restricted_loss": 0.5,
        "coset_mean_accuracies": (0.25, 0.75),
    }
    assert "restricted_loss" in REGISTRY, "which keeps the key blocks in the logits, and not in the neurons"
