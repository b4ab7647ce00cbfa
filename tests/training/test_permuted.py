"""Batches in a new order each turn: held against torch's DataLoader, a plain loop, and a training that is resumed."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from modinterp.models import TransformerConfig, hooked
from modinterp.tasks import SignOfSum, SortedList, StreamTask
from modinterp.training import Recipe, RunSpec, training_states
from modinterp.training.batches import Batches, parts_of, unread_and_read
from modinterp.training.spec import RunSpec as Spec

SIZES: dict[str, int | bool | str | None] = {"d_model": 12, "n_heads": 2, "d_head": 6, "attn_biases": True}
LIST = SortedList(n=3, limit=7, size=25, held_out=10, data_seed=4)
SIGN = SignOfSum(n=6, size=25, held_out=10, data_seed=4)


def spec_of(task: StreamTask, **sizes: int | str | None) -> Spec:
    recipe = Recipe(epochs=9, fraction=task.share, batches="permuted", batch_size=10, lr=1e-2, lr_end=1e-3,
                    lr_stairs=3, weight_decay=0.1, decay="coupled", warmup=0, log_every=3, snapshot_every=3)  # fmt: skip
    return RunSpec(task, TransformerConfig.of(task, **SIZES | sizes), recipe, 4)


LISTS, SIGNS = spec_of(LIST, normalization_type="LN", d_mlp=None, n_layers=2), spec_of(SIGN, d_mlp=8)


def orders(turns: int) -> list[list[int]]:
    """The orders that two of torch's loaders give, which take turns after the data were drawn."""
    torch.manual_seed(5)
    LIST.draw(10, torch.default_generator)
    train, test = DataLoader(range(25), batch_size=10, shuffle=True), DataLoader(range(10), batch_size=10)
    found = []
    for _ in range(turns):
        found.append([int(row) for batch in train for row in batch])
        list(test)
    return found


def test_the_orders_are_those_of_torchs_loaders() -> None:
    from modinterp.models.operations import FAST

    batches = Batches(LISTS, parts_of(LISTS), torch.device("cpu"), torch.arange(8), (25, 10), FAST)
    for turn in (0, 2, 1):
        assert batches._order(turn).tolist() == orders(3)[turn]
    assert [int((batches.at(step).labels >= 0).sum()) for step in (0, 1, 2, 3)] == [30, 30, 15, 30]


@pytest.mark.parametrize("spec", [LISTS, SIGNS], ids=["lists", "signs"])
def test_a_training_is_that_of_a_plain_loop(spec: Spec) -> None:
    *_, (_, ended) = training_states([spec], device="cpu")
    network = hooked(spec.model, spec.initial_weights())
    adam = torch.optim.Adam(network.parameters(), betas=spec.recipe.betas, weight_decay=0.1)
    inputs, labels = spec.task.inputs(), spec.task.labels()
    draws = spec.task.shuffler(4)
    for turn in range(3):
        seed = [torch.empty((), dtype=torch.int64).random_(generator=draws) for _ in range(3)][1]
        order = torch.randperm(25, generator=torch.Generator().manual_seed(int(seed)))
        adam.param_groups[0]["lr"] = 1e-2 - 9e-3 * (turn + 1) / 3
        for rows in order.split(10):
            logits = network(inputs[rows])[:, -spec.task.n_read :]
            loss = F.cross_entropy(logits.flatten(0, 1), labels[rows].flatten(), ignore_index=-1)
            adam.zero_grad()
            loss.backward()
            adam.step()
    for name, w in network.named_parameters():
        if not name.endswith("b_K"):  # has no gradient but rounding errors, which Adam scales up
            torch.testing.assert_close(ended.weights[name], w.detach(), rtol=1e-3, atol=2e-4, msg=name)
    assert unread_and_read(LISTS) == (1, 3)


def test_a_resumed_training_has_the_same_bits() -> None:
    whole = {state.epoch: state for _, state in training_states([LISTS], device="cpu")}
    *_, (_, again) = training_states([LISTS], [whole[3]], device="cpu")
    assert all(torch.equal(w, again.weights[name]) for name, w in whole[9].weights.items())
    assert again.history == whole[9].history
