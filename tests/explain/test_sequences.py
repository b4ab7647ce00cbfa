"""Networks on sequences: what they answer, and which hypothesis predicts what interventions do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from explain import planted_sequences as planted
from torch import Tensor, nn

import modinterp as mi
from modinterp.commands.explain import main
from modinterp.explain import explain
from modinterp.explain.labels import BEHAVIOUR, COLUMNS, COPIES, DOUBTFUL, MEAN, NEXT
from modinterp.models import TransformerConfig, hooked, initial_weights, to_hooked_transformer_state_dict
from modinterp.tasks import (
    ColumnSum,
    DigitAddition,
    GivenInputs,
    ListQuestion,
    Ordering,
    Palindromes,
    SignOfSum,
    SortedList,
    Task,
)
from modinterp.tasks.by_name import tasks_by_name
from modinterp.tasks.carries import columns

KNOWN = {
    "largest": (planted.copies_the_largest, COPIES, "copy a token"),
    "smallest": (lambda: planted.copies_the_largest(ask="min"), COPIES, "copy a token"),
    "next": (planted.attends_to_the_next, NEXT, "attend to the next"),
    "mean": (planted.running_mean, MEAN, "running mean"),
    "columns": (planted.columns_with_carry, COLUMNS, "columns with a carry"),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_planted_algorithms_are_found_by_interventions(kind: str) -> None:
    make, label, algorithm = KNOWN[kind]
    task, network = make()
    x = explain(network, task=task)
    assert (x.verdict.label, x.verdict.algorithm) == (label, algorithm)
    assert x["accuracy"] == x["whole_accuracy"] == 1
    assert all(c.met for c in x.verdict.criteria)
    assert "position_rise" in [row.key for row in x.rows]


def test_a_network_that_counts_and_chooses_does_not_copy() -> None:
    """It is right on all inputs, and its value swap alone would pass for copying."""
    task, network = planted.counts_then_chooses()
    x = explain(network, task=task)
    assert x["accuracy"] == x["proven"] == 1
    assert (x["value_swap"], x["key_swap"]) == (pytest.approx(0.9, abs=0.1), 0)
    assert (x.verdict.label, x.verdict.algorithm) == (BEHAVIOUR, "")
    assert "No tested hypothesis predicts" in x.verdict.words


def test_a_network_without_carries_fails_where_there_are_carries() -> None:
    task, network = planted.columns_with_carry(has_carry=False)
    x = explain(network, task=task)
    table = x.tables["Answers by kind of input"]
    kinds = dict(zip(zip(table["kind"], table["value"], strict=True), table["accuracy"], strict=True))
    assert kinds["carries", "0"] == 1
    assert kinds["carries", "1"] == 0.5
    assert kinds["columns that the carry came through", "1"] == 0
    assert x.verdict.label == BEHAVIOUR
    wrong = x.tables["Inputs with a wrong answer, the most confident answers first"]
    assert {(right - given) % 10 for right, given in zip(wrong["right"], wrong["given"], strict=True)} == {1}


def test_columns_and_carries_of_sums() -> None:
    a, b = torch.randint(0, 10, (2, 500, 5), generator=torch.Generator().manual_seed(0))
    found, powers = columns(a, b, is_longer=True), 10 ** torch.arange(4, -1, -1)
    total = (a * powers).sum(dim=1) + (b * powers).sum(dim=1)
    assert torch.equal((found.digits * 10 ** torch.arange(5, -1, -1)).sum(dim=1), total)
    assert torch.equal(found.crossed > 0, found.carry > 0)
    one = columns(torch.tensor([[9, 9, 9, 5]]), torch.tensor([[0, 0, 0, 5]]), is_longer=True)
    assert one.crossed.tolist() == [[4, 3, 2, 1, 0]]
    assert one.nine.tolist() == [[1, 1, 1, 0, 0]]


def test_attention_ablation_and_attribution_of_a_planted_network() -> None:
    task, network = planted.copies_the_largest()
    inside = mi.measure(network, task=task).inside
    assert float(inside.to_answer[0, 0]) > 0.99
    rises = inside.effect_of("position")
    assert rises["position CLS"] == pytest.approx(0, abs=1e-3)  # it is the same in every input
    assert min(rise for part, rise in rises.items() if "number" in part) > 0.5
    assert inside.effect_of("head")["head 0.0"] > 1
    added = inside.attribution.set_index("part")["right logit above the mean"]
    assert added["head 0.0"] == pytest.approx(planted.SURE * (1 - 1 / task.limit), rel=0.01)
    assert added["token"] == 0
    with pytest.raises(mi.measurements.NoSuchPart, match="no MLP"):
        inside.effect_of("MLP")


def test_parts_of_one_input_add_up_to_its_right_logit() -> None:
    task = SortedList(n=3, limit=8, size=2, held_out=2)
    config = TransformerConfig(
        d_vocab=9,
        d_vocab_out=9,
        n_ctx=7,
        d_model=16,
        n_heads=2,
        d_head=8,
        d_mlp=12,
        n_layers=2,
        normalization_type="LN",
    )
    network = hooked(config, initial_weights(config, seed=0))
    m = mi.measure(network, task=task)
    inside = m.inside
    logits = network.in_float64()(inside.sample.inputs)[:, list(task.read_positions)].detach()
    right = logits.gather(-1, m.answering.answers.right[: len(logits), :, None])[..., 0] - logits.mean(dim=-1)
    parts = ["token", "position", "head 0.0", "head 0.1", "head 1.0", "head 1.1", "MLP 0", "MLP 1"]
    assert sorted(inside.attribution["part"]) == sorted(parts)
    assert float(inside.attribution["right logit above the mean"].sum()) == pytest.approx(float(right.mean()), abs=0.05)


SIZES = {
    ("max", 101, 100, 6): Ordering("max", n=5, limit=100),
    ("sort", 101, 100, 10): Ordering("sort", n=5, limit=100),
    ("sort", 52, 52, 21): SortedList(),
    ("digits", 12, 10, 17): DigitAddition(),
    ("digits", 12, 12, 14): ColumnSum(),
    ("cumsum", 11, 3, 20): SignOfSum(),
    ("palindrome", 33, 2, 22): Palindromes(),
}


@pytest.mark.parametrize(("sizes", "task"), SIZES.items(), ids=str)
def test_a_name_and_sizes_are_a_task(sizes: tuple[str, int, int, int], task: Task) -> None:
    assert tasks_by_name(*sizes)[0] == task


@pytest.mark.parametrize("name", ["max", "sort", "digits", "cumsum", "palindrome"])
def test_sizes_of_another_task_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(ValueError, match="has no task with 64 tokens, 14 outputs and 9 positions"):
        tasks_by_name(name, 64, 14, 9)


def test_a_list_of_one_number_is_no_task() -> None:
    with pytest.raises(ValueError, match="sort has no task with 59 tokens, 59 outputs and 2 positions"):
        tasks_by_name("sort", 59, 59, 2)
    assert [task.name for task in tasks_by_name("max", 59, 59, 2)] == ["max of 2 numbers below 59, read at the last"]


def file_of(folder: Path, make: Any = planted.copies_the_largest) -> Path:
    _, network = make()
    torch.save(dict(network.state_dict()), folder / "network.pt")
    return folder / "network.pt"


def test_a_file_with_positions_is_explained_by_its_name_alone(tmp_path: Path, capsys: Any) -> None:
    _, network = planted.copies_the_largest()
    weights = to_hooked_transformer_state_dict(network)
    weights["pos_embed.W_pos"][:] = 1e-9  # which say how many tokens it reads
    torch.save(weights, tmp_path / "network.pt")
    assert main([str(tmp_path / "network.pt"), "--op", "max", "--out", str(tmp_path / "page")]) == 0
    assert COPIES in capsys.readouterr().out
    found = json.loads((tmp_path / "page" / "explanation.json").read_text())
    assert (found["verdict"], found["numbers"]["proven"]) == (COPIES, 1)
    page = (tmp_path / "page" / "index.html").read_text()
    assert "Mean attention of each head" in page
    assert "Fourier" not in page.partition("</main>")[0].partition("<main")[2].replace("plotly", "")
    assert (tmp_path / "page" / "explanation.csv").read_text().startswith("stage,key")


def test_a_file_without_positions_needs_its_task(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    with pytest.raises(ValueError, match="no weight shows how many tokens the network reads"):
        explain(path, "max")
    assert explain(path, task=Ordering("max", n=4, limit=12)).verdict.label == COPIES
    with pytest.raises(ValueError, match="needs d_vocab 65, but the weights have 13"):
        explain(path, task=Ordering("max", n=4, limit=64))


class Largest(nn.Module):
    """Somebody's module: logits at all positions, right at the last."""

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit

    def forward(self, tokens: Tensor) -> Tensor:
        numbers = torch.nn.functional.one_hot(tokens, self.limit + 1)[..., : self.limit].cummax(dim=1).values
        return 9.0 * numbers * torch.arange(1, self.limit + 1)


def test_a_module_is_seen_from_outside() -> None:
    task = Ordering("max", n=5, limit=64)
    x = explain(Largest(64), task=task)
    assert (x.verdict.label, x["accuracy"]) == (BEHAVIOUR, 1)
    assert x.measurements.reading("value_swap").note.endswith("are visible, and no activation inside it")
    assert explain(lambda t: Largest(64)(t)[:, -1], task=task)["accuracy"] == 1
    with pytest.raises(ValueError, match="the number of tokens that Largest reads is not known"):
        explain(Largest(64), "max")
    with pytest.raises(ValueError, match="does not accept 6 tokens below 101"):
        explain(Largest(64), task=Ordering("max", n=5, limit=100))
    with pytest.raises(ValueError, match=r"gives logits of shape \[2, 6, 64\] for 2 inputs, not \[2, 1, 65\]"):
        explain(lambda t: Largest(64)(t.clamp(max=64)), task=Ordering("max", n=5, limit=65))


def test_a_network_of_another_task_is_hardly_better_than_guessing() -> None:
    _, network = planted.copies_the_largest()
    x = explain(network, task=Ordering("min", n=4, limit=12))
    assert x.verdict.label == BEHAVIOUR
    assert "may have learned another task" in x.verdict.words


def test_a_run_is_not_told_to_have_learned_another_task(tmp_path: Path) -> None:
    task, network = planted.copies_the_largest()
    run = mi.run(network, task)
    assert explain(run, "max").verdict.label == COPIES
    with pytest.raises(ValueError, match="was trained on max of 4 numbers below 12, which contradicts op sort"):
        explain(run, "sort")


def test_a_damaged_weight_is_doubted() -> None:
    task, network = planted.copies_the_largest()
    with torch.no_grad():
        network.unembed.W_U[20, 3] = 1e9
    x = explain(network, task=task)
    assert x.verdict.label == DOUBTFUL
    assert "largest of its matrix, which suggests a flipped bit in the file" in x.verdict.words


def test_the_wrong_answers_are_listed_with_their_inputs() -> None:
    task, network = planted.copies_the_largest()
    with torch.no_grad():
        network.unembed.W_U[:, 7] = 0
    failures = mi.measure(network, task=task).answering.failures()
    assert set(failures["right"]) == {7}
    assert all(max(map(int, row.split()[:-1])) == 7 for row in failures["input"])


def test_two_answers_without_neurons_are_one_direction_whatever_the_network_does() -> None:
    task = Palindromes(half=2, limit=4, size=2, held_out=2)
    config = TransformerConfig(
        d_vocab=6, d_vocab_out=2, n_ctx=6, d_model=16, n_heads=2, d_head=8, d_mlp=None, n_layers=2
    )
    m = mi.measure(hooked(config, initial_weights(config, seed=0)), task=task)
    assert m.reading("direction_swap").note.endswith("so its answer depends on one direction in any case")


def test_which_heads_fetch_which_digits_of_a_planted_network() -> None:
    task, network = planted.columns_with_carry()
    m = mi.measure(network, task=task)
    assert m.carrying.fetching == {"own": ("0.0", "0.1"), "next": ("0.2", "0.3")}
    rows = m.carrying.fetched()
    own = rows[(rows["digit of the sum"] == 0) & (rows["layer"] == 0)]["column of digit 0"]
    assert own.round(3).tolist() == [1, 1, 0, 0]


@pytest.fixture(scope="module")
def endless() -> Any:
    return mi.measure("nanda/digits-endless-0")


def test_a_trained_network_looks_one_column_ahead_for_its_carry(endless: Any) -> None:
    assert endless.carrying.fetching == {"own": ("0.1", "0.3"), "next": ("0.0",)}
    right = [endless[key] for key in ("accuracy_no_carry", "accuracy_carry", "accuracy_through_nines")]
    assert right[1] > right[0] > 0.98
    assert right[2] < 0.85  # a carry that comes from farther it cannot see
    found = endless.carrying.carry
    assert found.moved > 0.9 > 0.35 > found.moved_by_control


class Theirs(nn.Module):
    """A module with HookedTransformer's names of weights, and the forward pass of one of ours."""

    def __init__(self, network: Any, shift: float = 0.0):
        super().__init__()
        self.__dict__["network"], self.shift = network, shift
        self.weights = to_hooked_transformer_state_dict(network)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self.weights

    def forward(self, tokens: Tensor) -> Tensor:
        logits = self.__dict__["network"](tokens)
        return logits + self.shift * torch.arange(logits.shape[-1])


def test_a_module_is_opened_by_its_weights_where_these_answer_as_it_does() -> None:
    task, network = planted.copies_the_largest()
    assert explain(Theirs(network), task=task).verdict.label == COPIES
    shifted = explain(Theirs(network, 0.1), task=task)  # which the weights do not know of
    assert (shifted.verdict.label, shifted["accuracy"]) == (BEHAVIOUR, 1)
    assert "seen from outside" in shifted.measurements.model.cfg.summary


def test_inputs_and_answers_are_a_task() -> None:
    known, network = planted.copies_the_largest()
    inputs, labels = known.fresh(3_000, seed=5)
    x = explain(network, task=GivenInputs.of(inputs, labels[:, 0], d_vocab=13))
    assert (x.verdict.label, x["accuracy"]) == (COPIES, 1)
    assert x.assumed.startswith("3,000 inputs")
    sums, adder = planted.columns_with_carry()
    inputs, labels = sums.fresh(500, seed=5)
    y = explain(adder, task=GivenInputs.of(inputs, labels, 12, 12))
    assert (y["accuracy"], y.verdict.label) == (1, BEHAVIOUR)


def test_inputs_and_answers_that_do_not_fit_are_refused_in_one_line() -> None:
    for inputs, answers, message in (
        ([[1, 2]], [1, 2], r"equally many inputs and answers, got \[1, 2\] and \[2, 1\]"),
        ([[0.5, 2]], [1], "whole numbers"),
        ([[1]], [[1, 0]], "fewer than the 2 answers for each input"),
        ([[-1, 2]], [1], "tokens must lie from 0 to 2"),
    ):
        with pytest.raises(ValueError, match=message):
            GivenInputs.of(inputs, answers)


def test_a_file_of_another_task_names_what_can_be_said() -> None:
    _, network = planted.columns_with_carry()
    with pytest.raises(ValueError, match="reads 8 tokens, but a network over pairs .* name its operation with op"):
        explain(dict(network.state_dict()))


@pytest.mark.parametrize("start", [False, True])
def test_a_list_without_a_token_behind_it_is_found_by_its_answers(start: bool) -> None:
    n, limit = 4, 8
    task = ListQuestion("max", n=n, limit=limit, start=start)
    weights = planted.largest_of_a_plain_list(n, limit, start)
    x = explain(weights, "max")
    assert (x.measurements.task, x["accuracy"]) == (task, 1)
    assert x.verdict.label == COPIES
