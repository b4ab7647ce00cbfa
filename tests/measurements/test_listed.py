"""`dir(m)` lists what a network has, and nothing that raises for want of a part."""

from __future__ import annotations

import pytest
from loops import check_each

from modinterp.measurements import measure
from modinterp.measurements.listed import absent
from modinterp.measurements.network import NoSuchPart
from modinterp.models import Config, MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Group, Ordering, SignOfSum, Task, addition

PAIRS = addition(7, equals=False)
GROUP = Group("S3", vocabularies=2)
STREAM = SignOfSum(n=4, largest=3)
LIST = Ordering("max", n=3, limit=10, size=50)
NETWORKS: dict[str, tuple[Task, Config]] = {
    "transformer on pairs": (addition(7), TransformerConfig.of(addition(7), d_model=8, n_heads=2, d_head=4, d_mlp=8)),
    "without positions": (addition(7), TransformerConfig.of(addition(7), d_model=8, n_heads=2, d_head=4, d_mlp=8,
                                                            positional=False)),
    "MLP on pairs": (PAIRS, MLPConfig.of(PAIRS, d_model=8, d_mlp=8)),
    "MLP on a group": (GROUP, MLPConfig.of(GROUP, d_model=8, d_mlp=8, joined="concatenated")),
    "transformer on lists": (LIST, TransformerConfig.of(LIST, d_model=8, n_heads=2, d_head=4, d_mlp=8)),
    "transformer on running sums": (STREAM, TransformerConfig.of(STREAM, d_model=8, n_heads=1, d_head=8, d_mlp=8)),
}  # fmt: skip


def test_every_name_that_is_listed_can_be_asked_for() -> None:
    def check(kind: str) -> None:
        task, config = NETWORKS[kind]
        m = measure(TrainedRun("mine", task, hooked(config, initial_weights(config, 0))))
        for name in dir(m):
            why = ""
            try:
                getattr(m, name)
            except Exception as error:  # an untrained network lacks key frequencies and a history
                why = str(error) if isinstance(error, NoSuchPart) or "form no grid" in str(error) else ""
            assert not why, f"{name} is listed of a {kind}: {why}"
        for name in absent(m) & set(dir(type(m))):
            with pytest.raises((NoSuchPart, NotRecorded, ValueError)):
                getattr(m, name)

    check_each(NETWORKS, check)


def test_a_network_with_attention_lists_it() -> None:
    task, config = NETWORKS["transformer on pairs"]
    m = measure(TrainedRun("mine", task, hooked(config, initial_weights(config, 0))))
    assert {"pattern", "heads", "W_pos", "accuracy", "grid"} <= set(dir(m))
