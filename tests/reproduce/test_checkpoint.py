"""A source's claims on somebody's file: what it tells is measured, what it cannot tell is not."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import torch

from modinterp.commands.reproduce import main
from modinterp.measurements import measure
from modinterp.measurements.quantity import number_text
from modinterp.models import initial_weights
from modinterp.runs import load, store
from modinterp.sources import source, spec


def measured(out: Path) -> dict[str, dict]:
    return {claim["id"]: claim for claim in json.loads((out / "claims.json").read_text())}


def test_a_network_that_learned_nothing_is_refuted(tmp_path: Path) -> None:
    path = tmp_path / "start.safetensors"
    store.write_weights(path, initial_weights(spec("mlp/kissane-0").model, seed=0))
    assert main(["mlp", "--checkpoint", str(path), "--out", str(tmp_path / "out")]) == 1
    claims = measured(tmp_path / "out")
    assert claims["mlp.test_acc"]["verdict"] == claims["mlp.neurons_9_terms"]["verdict"] == "refuted"
    assert claims["mlp.arch"]["verdict"] == "holds"


def test_our_own_weights_without_their_history(tmp_path: Path) -> None:
    path = tmp_path / "mainline.safetensors"
    store.write_weights(path, load("nanda/mainline-0").model.state_dict())
    main(["nanda", "--checkpoint", str(path), "--out", str(tmp_path / "out")])
    claims = measured(tmp_path / "out")
    for id, claim in claims.items():
        recorded, selected = source("nanda")[id].finding.verdict, source("nanda")[id].is_by_selection
        # what is true of some seeds is true of this one or not; by what is by selection it was chosen
        if claim["verdict"] != "open" and recorded not in ("mixed", "open") and not selected:
            assert claim["verdict"] == recorded, id
    needs_training = [f"nanda.{x}" for x in ("fig2.left.accuracy", "fig7.tl", "fig7.br", "fig14")]
    assert all(claims[id]["verdict"] == "open" for id in needs_training)
    assert sum(claim["verdict"] == "holds" for claim in claims.values()) > 40


def test_the_run_in_whose_place_it_stands_is_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "start.safetensors"
    store.write_weights(path, initial_weights(spec("mlp/kissane-0").model, seed=0))
    main(["mlp", "--checkpoint", str(path), "--only", "*test_acc*", "--out", str(tmp_path / "out")])
    row = pd.read_csv(tmp_path / "out" / "claims.csv").set_index("id").loc["mlp.test_acc"]
    of_ours = source("mlp")["mlp.test_acc"].numbers(measure(load("mlp/kissane-0")))
    assert row["ours"] == "; ".join(f"{name} {number_text(x)}" for name, (x,) in of_ours.items())
    assert row["ours"] != row["measured"]
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<th>this network</th><th>ours, mlp/kissane-0</th>" in page


def test_bad_input_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "model.pt"
    for words, arguments in {
        "there is no file": ["mlp", "--checkpoint", str(path)],
        "one network on one source": ["all", "--checkpoint", str(path)],
        "leave out --runs": ["mlp", "--checkpoint", str(path), "--runs", str(tmp_path)],
    }.items():
        assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert words in error
    store.write_weights(tmp_path / "other.safetensors", load("nanda/mainline-0").model.state_dict())
    assert main(["mlp", "--checkpoint", str(tmp_path / "other.safetensors"), "--out", str(tmp_path / "out")]) == 2
    assert "needs d_vocab 113, but the weights have 114" in capsys.readouterr().err


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture, broken: float) -> None:
    path, weights = tmp_path / "model.safetensors", load("nanda/mainline-0").model.state_dict()
    weights["blocks.0.mlp.W_in"] = weights["blocks.0.mlp.W_in"].clone().index_fill_(0, torch.tensor([3]), broken)
    store.write_weights(path, weights)
    assert main(["nanda", "--checkpoint", str(path), "--only", "fig7.*", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "blocks.0.mlp.W_in" in error


def test_misprints_are_not_held_against_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "mainline.safetensors"
    store.write_weights(path, load("nanda/mainline-0").model.state_dict())
    assert main(["nanda", "--checkpoint", str(path), "--only", "B.*", "--out", str(tmp_path / "out")]) == 0
    assert "2 refuted" in capsys.readouterr().out
