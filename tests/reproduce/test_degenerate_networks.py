"""A claim that cannot be measured on somebody's network stops only itself, however degenerate the network is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from modinterp.commands.reproduce import main
from modinterp.models import Weights
from modinterp.runs import load, store
from modinterp.sources import source, sources


def _with(weights: Weights, name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Weights:
    return {key: change(w) if key.endswith(name) else w for key, w in weights.items()}


def _huge_token(w: torch.Tensor) -> torch.Tensor:
    return torch.cat([w[:1] * 1e4, w[1:]])


DEGENERATE: dict[str, Callable[[Weights], Weights]] = {
    "zeros": lambda weights: {name: w * 0 for name, w in weights.items()},
    "W_U = 0": lambda weights: _with(weights, "W_U", lambda w: w * 0),
    "W_E = 0": lambda weights: _with(weights, "W_E", lambda w: w * 0),
    "all ones": lambda weights: {name: torch.ones_like(w) for name, w in weights.items()},
    "dead neurons": lambda weights: _with(weights, "mlp.W_in", lambda w: w * 0),
    "scaled down": lambda weights: {name: w * 1e-30 for name, w in weights.items()},
    "scaled up": lambda weights: {name: w * 1e3 for name, w in weights.items()},
    "one huge token": lambda weights: _with(weights, "W_E", _huge_token),
}


INNER = re.compile(r"must (be|hold|not)|, got |\barg is\b|division by|empty sequence|\bindex\b")  # words of the code
QUICK = ("groups", "mlp", "pizza")  # sources whose claims take seconds; of the others one network is a minute


def cases() -> Iterator[object]:
    for name in sources():
        for kind in DEGENERATE:
            marks = () if name in QUICK else pytest.mark.nightly
            yield pytest.param(name, kind, marks=marks)


@pytest.mark.parametrize(("name", "kind"), cases())
def test_every_claim_that_cannot_be_measured_is_open_with_a_reason(name: str, kind: str, tmp_path: Path) -> None:
    weights = load(source(name).main_run).network.state_dict()
    store.write_weights(tmp_path / "m.safetensors", DEGENERATE[kind](dict(weights)))
    code = main([name, "--checkpoint", str(tmp_path / "m.safetensors"), "--out", str(tmp_path / "out")])
    assert code in (0, 1)
    claims = json.loads((tmp_path / "out/claims.json").read_text(encoding="utf-8"))
    assert [claim["id"] for claim in claims] == list(source(name))
    opened = [claim for claim in claims if claim["verdict"] == "open"]
    assert all(claim["reason"] for claim in opened)
    assert not [claim["why"] for claim in opened if INNER.search(claim["why"] or "")]
