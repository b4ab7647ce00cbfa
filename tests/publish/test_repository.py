"""Runs put onto the Hub: a card that says what is so, and weights that others read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard
from stand_in_hub import Hub, point_at, stand_in

from modinterp.commands.publish import main
from modinterp.models import MLPConfig, TransformerConfig
from modinterp.publish.hub_network import HubPairMLP, HubTransformer
from modinterp.publish.repository import claims_that_hold
from modinterp.runs import load, train
from modinterp.tasks import ModularArithmetic, addition
from modinterp.training import Recipe, RunSpec

TASK, PAIRS = addition(5), ModularArithmetic(5, equals=False)
RECIPE = Recipe(epochs=20, log_every=10, snapshot_every=10)
SPECS = {
    "own/first": RunSpec(TASK, TransformerConfig.of(TASK, d_model=8, n_heads=1, d_head=8, d_mlp=8), RECIPE),
    "own/pairs": RunSpec(PAIRS, MLPConfig.of(PAIRS, d_model=8, d_mlp=8), RECIPE),
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    train(SPECS, tmp_path / "trained", "cpu", progress=False)
    with stand_in() as hub:
        point_at(hub.url, tmp_path / "cache", monkeypatch)
        yield hub


def test_what_was_published_is_loaded_by_its_address_and_by_others(
    server: Hub, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    runs = ["--runs", str(tmp_path / "trained")]
    assert main(["own/*", *runs, "--hub", "me/sums", "--licence", "cc-by-4.0"]) == 0
    address = capsys.readouterr().out.strip()
    assert address.startswith("hf://me/sums@")
    repository = server.repositories["me/sums"]
    files = repository.commits[repository.names["main"]]
    assert {
        "README.md",
        "config.json",
        "model.safetensors",
        "own/first/run.json",
        "own/pairs/final.safetensors",
    } <= set(files)
    assert not [name for name in files if "/." in name]
    data = ModelCard(files["README.md"].decode()).data
    assert (data.license, data.library_name) == ("cc-by-4.0", "modinterp")
    own = load("own/first", root=tmp_path / "trained")
    accuracies = {result.dataset_type: result.metric_value for result in data.eval_results}
    assert accuracies["own/first"] == pytest.approx(own.history["test_accuracy"].iloc[-1])
    again = load(f"hf://me/sums/own/first@{address.partition('@')[2]}")
    assert torch.equal(again.network.W_E, own.network.W_E)
    theirs = HubTransformer.from_pretrained("me/sums")
    tokens = TASK.inputs()
    assert torch.equal(theirs(tokens), own.network(tokens))
    assert main(["own/pairs", *runs, "--hub", "me/pairs"]) == 0
    pairs = load("own/pairs", root=tmp_path / "trained")
    assert torch.equal(HubPairMLP.from_pretrained("me/pairs")(PAIRS.inputs()), pairs.network(PAIRS.inputs()))


def test_who_may_not_write_is_told_so_in_one_line(
    server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_somebody_elses")
    assert main(["own/first", "--runs", str(tmp_path / "trained"), "--hub", "me/sums"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "hf://me/sums" in error
    assert not server.repositories
    assert main(["own/first", "--runs", str(tmp_path / "trained"), "--hub", "sums"]) == 2
    assert "is not an address on the Hub; addresses look like hf://OWNER/REPO" in capsys.readouterr().err


def test_claims_of_a_card_are_those_of_the_run(tmp_path: Path) -> None:
    assert claims_that_hold(load("own/first", root=_trained(tmp_path))) == ()


def _trained(folder: Path) -> Path:
    train({"own/first": SPECS["own/first"]}, folder, "cpu", progress=False)
    return folder
