"""`dir(m)` lists what a network has, and nothing that raises for want of a part."""

from __future__ import annotations

import pytest
import torch
from loops import check_each

import modinterp as mi
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
ASKED = {
    "circle": lambda method: method(1),
    "head": lambda method: method(0),
    "neuron": lambda method: method(0),
    "neurons_loss_without": lambda method: method(()),
}
NETWORKS: dict[str, tuple[Task, Config]] = {
    "transformer on pairs": (addition(7), TransformerConfig.of(addition(7), d_model=8, n_heads=2, d_head=4, d_mlp=8)),
    "without positions": (addition(7), TransformerConfig.of(addition(7), d_model=8, n_heads=2, d_head=4, d_mlp=8,
                                                            positional=False)),
    "MLP on pairs": (PAIRS, MLPConfig.of(PAIRS, d_model=8, d_mlp=8)),
    "MLP on a group": (GROUP, MLPConfig.of(GROUP, d_model=8, d_mlp=8, joined="concatenated")),
    "transformer on lists": (LIST, TransformerConfig.of(LIST, d_model=8, n_heads=2, d_head=4, d_mlp=8)),
    "transformer on running sums": (STREAM, TransformerConfig.of(STREAM, d_model=8, n_heads=1, d_head=8, d_mlp=8)),
    "attention on pairs": (addition(7), TransformerConfig.of(addition(7), d_model=8, n_heads=2, d_head=4, d_mlp=None)),
    "attention on a group": (Group("S3"), TransformerConfig.of(Group("S3"), d_model=8, n_heads=2, d_head=4,
                                                               d_mlp=None)),
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
                why = str(error) if isinstance(error, NoSuchPart) or "not form a grid" in str(error) else ""
            assert not why, f"{name} is listed of a {kind}: {why}"
        for name in absent(m) & set(dir(type(m))):
            with pytest.raises((NoSuchPart, NotRecorded, ValueError)):
                ASKED.get(name, lambda asked: asked)(getattr(m, name))

    check_each(NETWORKS, check)


def test_a_function_lists_what_its_answers_show() -> None:
    def adds(tokens: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(tokens[:, :2].sum(dim=1) % 7, 7).float()

    m = mi.measure(adds, op="add", p=7)
    assert {"without", "logit_fit", "accuracy", "table"} <= set(dir(m))
    assert not {"W_E", "circle", "head", "neuron", "neurons", "split", "recipe", "progress"} & set(dir(m))
    with pytest.raises((NoSuchPart, ValueError), match="embedding"):
        m.circle(1)


def test_a_network_with_attention_lists_it() -> None:
    task, config = NETWORKS["transformer on pairs"]
    m = measure(TrainedRun("mine", task, hooked(config, initial_weights(config, 0))))
    assert {"pattern", "heads", "W_pos", "accuracy", "grid"} <= set(dir(m))
