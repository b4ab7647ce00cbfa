"""Why a number is not defined, in plain words; on a network of its recipe a claim that raises is a mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from modinterp.claims import Claim
from modinterp.claims.band import at_least
from modinterp.measurements import measure
from modinterp.measurements.degenerate import why_undefined
from modinterp.models.planted import clock
from modinterp.runs import TrainedRun


def _claim(error: Exception) -> Claim:
    def fails(m: Any) -> dict[str, float]:
        raise error

    return Claim(
        id="x.y", where="here", statement="s", source_says="n", measure=fails, expected={"n": at_least(0, "any")},
        needs=("x/main",),
    )  # fmt: skip


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), ValueError("y"), IndexError("z"), RuntimeError("w")])
def test_a_claim_that_raises_on_a_network_of_its_recipe_fails(error: Exception) -> None:
    with pytest.raises(type(error)):
        _claim(error).check(replace(_run(), name="x/main"))


CHANGED: dict[str, tuple[Callable[[str, torch.Tensor], torch.Tensor], str]] = {
    "zeros": (lambda name, w: w * 0, "all weights of the network are 0"),
    "infinite": (lambda name, w: w / 0 if name == "embed.W_E" else w, "some weights of the network are not finite"),
    "ones": (lambda name, w: torch.ones_like(w), "all entries of each matrix are equal"),
    "W_U": (
        lambda name, w: w * 0 if name == "unembed.W_U" else w,
        "unembed.W_U is 0 throughout and the network's logits",
    ),
    "no biases": (lambda name, w: w * 0 if ".b_" in name else w, ""),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_the_reason_is_what_is_unusual_of_the_network(kind: str) -> None:
    change, words = CHANGED[kind]
    why = why_undefined(measure(_run(change)))
    assert why.startswith(words)
    assert bool(why) == bool(words)


def _run(change: Callable[[str, torch.Tensor], torch.Tensor] = lambda name, w: w) -> TrainedRun:
    task, network = clock(13, (2, 5))
    network.load_state_dict({name: change(name, w) for name, w in network.state_dict().items()})
    return TrainedRun("planted", task, network)
