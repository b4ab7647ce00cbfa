"""Of a damaged network it is said where its errors lie, and no other forward pass is blamed for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from modinterp.explain import Explanation, explain
from modinterp.explain.faults import weights_out_of_proportion, where_errors_lie
from modinterp.measurements import measure
from modinterp.models.planted import clock
from modinterp.runs import load
from modinterp.runs.own_run import run

SMALL = Path(__file__).parents[2] / "docs" / "trained"
P = 23
EMBED = "embed.W_E"


def explained(tmp_path: Path, change: Callable[[dict[str, torch.Tensor]], object], **said: float) -> Explanation:
    weights = {name: w.clone() for name, w in clock(P, (3, 7, 10))[1].state_dict().items()}
    change(weights)
    torch.save(weights, tmp_path / "m.pt")
    return explain(tmp_path / "m.pt", op="add", p=P, draws=99, **said)


def swap(weights: dict[str, torch.Tensor]) -> None:
    weights[EMBED][[5, 9]] = weights[EMBED][[9, 5]]


def zero(weights: dict[str, torch.Tensor]) -> None:
    weights[EMBED][5] = 0


@pytest.mark.parametrize(("change", "words"), [(swap, "with the token 5 or 9"), (zero, "with the token 5")])
def test_errors_of_broken_tokens_are_located(
    change: Callable[[dict[str, torch.Tensor]], object], words: str, tmp_path: Path
) -> None:
    x = explained(tmp_path, change)
    assert 0.5 < x["accuracy"] < 1
    assert f"answers are wrong, nearly all of them for pairs {words}" in x.assumed
    assert x.warning is None or not x.warning.explains


def without_outputs(*numbers: int) -> Callable[[dict[str, torch.Tensor]], object]:
    return lambda weights: weights["unembed.W_U"].__setitem__((slice(None), list(numbers)), 0)


def without_tokens(*numbers: int) -> Callable[[dict[str, torch.Tensor]], object]:
    return lambda weights: weights[EMBED].__setitem__(list(numbers), 0)


@pytest.mark.parametrize(("p", "change", "words"), [
    (23, without_outputs(4), "where the answer is 4"),
    (23, without_outputs(4, 17), "where the answer is 4 or 17"),
    (23, without_outputs(22, 0, 1), "where the answer is from 22 to 1"),
    (41, without_outputs(4, 17, 30), "where the answer is 4, 17 or 30"),
    (41, without_tokens(4, 17, 30), "for pairs with the token 4, 17 or 30"),
    (41, lambda weights: weights["blocks.0.mlp.W_out"].__setitem__(slice(0, None, 3), 0), "spread over many"),
])  # fmt: skip
def test_errors_are_located_by_kind(p: int, change: Callable[[dict[str, torch.Tensor]], object], words: str) -> None:
    task, network = clock(p, (3, 7, 10))
    weights = {name: w.clone() for name, w in network.state_dict().items()}
    change(weights)
    network.load_state_dict(weights)
    found = where_errors_lie(measure(run(network, task)))
    assert words in found
    assert found.partition(" answers are wrong")[0].split()[0].replace(",", "").isdigit()


@pytest.mark.parametrize(("name", "place"), [
    ("nanda/mainline-0", ("blocks.0.mlp.W_in", (3, 4))), ("nanda/mainline-0", ("unembed.W_U", (3, 4))),
    ("nanda/mainline-0", ("blocks.0.attn.W_K", (0, 3, 4))), ("nanda/mainline-0", ("blocks.0.mlp.b_in", (3,))),
    ("pizza/attention-0-0", (EMBED, (3, 4))), ("mlp/kissane-0", ("blocks.0.mlp.W_in", (3, 4))),
])  # fmt: skip
def test_a_flipped_bit_is_found_in_every_matrix(name: str, place: tuple[str, tuple[int, ...]]) -> None:
    part, index = place
    weights = dict(load(name).network.named_parameters())
    with torch.no_grad():
        weights[part][index] = 300 * float(weights[part].abs().max())
    found = weights_out_of_proportion(torch.nn.ParameterDict({"w": weights[part]}))
    assert ", ".join(map(str, index)) in found
    assert "times the second largest" in found


def test_a_weight_out_of_all_proportion_is_named(tmp_path: Path) -> None:
    x = explained(tmp_path, lambda weights: weights[EMBED].__setitem__((5, 2), 1e37))
    assert x.warning is not None
    assert x.warning.words.startswith("The weight embed.W_E[5, 2] is 1e+37, ")


def test_no_trained_or_planted_network_has_a_weight_out_of_proportion() -> None:
    for name in ("nanda/mainline-0", "mlp/kissane-0", "pizza/attention-0-0", "nanda/l1-mean-1-0"):
        network = load(name).network
        assert not weights_out_of_proportion(network)
    assert not weights_out_of_proportion(clock(P, (3, 7, 10))[1])


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_round_rate_that_is_as_good_is_the_one_that_is_named(rate: float, tmp_path: Path) -> None:
    torch.save(load("sums-29", root=SMALL).network.state_dict(), tmp_path / "m.pt")
    x = explain(tmp_path / "m.pt", op="add", p=29, draws=99, attention_rate=rate)
    assert x.warning is not None
    assert "all of the inputs with attention_rate=1.0" in x.warning.words
