"""Of a damaged network it is said where its errors lie, and no other forward pass is blamed for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from modinterp.explain import Explanation, explain
from modinterp.explain.damage import weights_out_of_proportion
from modinterp.models.planted import clock
from modinterp.runs import load

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


def test_a_weight_out_of_all_proportion_is_named(tmp_path: Path) -> None:
    x = explained(tmp_path, lambda weights: weights[EMBED].__setitem__((5, 2), 1e37))
    assert x.warning is not None
    assert x.warning.words.startswith("The weight embed.W_E[5, 2] is 1e+37, ")


def test_no_trained_or_planted_network_has_a_weight_out_of_proportion() -> None:
    for name in ("nanda/mainline-0", "mlp/kissane-0", "pizza/a-0"):
        try:
            network = load(name).network
        except FileNotFoundError:
            continue
        assert not weights_out_of_proportion(network)
    assert not weights_out_of_proportion(clock(P, (3, 7, 10))[1])


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_round_rate_that_is_as_good_is_the_one_that_is_named(rate: float, tmp_path: Path) -> None:
    torch.save(load("nanda/mainline-0").network.state_dict(), tmp_path / "m.pt")
    x = explain(tmp_path / "m.pt", op="add", p=113, draws=99, attention_rate=rate)
    assert x.warning is not None
    assert "all of them with attention_rate=1.0" in x.warning.words
