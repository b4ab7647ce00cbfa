"""Networks whose mechanism is known: by construction, by ablating every edge, and as others would read them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import torch

from modinterp.commands.publish import main
from modinterp.models import TransformerConfig, from_state_dict, hooked, initial_weights
from modinterp.models.planted import clock
from modinterp.publish.edges import EMBED, LOGITS, MLP, Graph, auc, edges
from modinterp.publish.ground_truth import case, write_ground_truth
from modinterp.runs import TrainedRun
from modinterp.tasks import addition

FREQS = (2, 5)
BUILT = {(EMBED, "a0.h0"), (EMBED, "a0.h1"), ("a0.h0", MLP), ("a0.h1", MLP), (MLP, LOGITS)}


def test_a_planted_network_has_the_edges_that_it_was_built_of(tmp_path: Path) -> None:
    task, network = clock(13, FREQS)
    (one,) = write_ground_truth([case("planted", TrainedRun("planted", task, network), FREQS)], tmp_path)
    assert set(one.matter) == BUILT
    assert one.truth["accuracy"] == 1.0
    assert one.truth["frequencies"] == list(FREQS)
    assert {int(k): len(rows) for k, rows in one.truth["neuron_clusters"].items()} == {2: 12, 5: 12}
    assert [head["attention_to_position"] for head in one.truth["heads"].values()] == [[1, 0, 0], [0, 1, 0]]
    assert one.score == 1.0
    folder = tmp_path / "planted"
    assert set(pickle.loads((folder / "edges.pkl").read_bytes())) == BUILT
    state = torch.load(folder / "ll_model.pth", weights_only=True)
    again = from_state_dict(state, task)
    assert torch.allclose(again(task.inputs()), network(task.inputs()), atol=1e-4)
    config = pickle.loads((folder / "ll_model_cfg.pkl").read_bytes())
    assert config["d_model"] == network.cfg.d_model
    listed = json.loads((tmp_path / "benchmark_metadata.json").read_text())["cases"]
    assert listed[0]["edges_that_matter"] == 5


def test_ablating_an_edge_is_what_a_network_without_it_does() -> None:
    """Of the edges into the logits: the direct computation from the parts of the residual stream."""
    task = addition(5)
    config = TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=16)
    network = hooked(config, initial_weights(config, seed=1)).double()
    graph = Graph(network, task)
    assert torch.allclose(graph.logits({}), network(task.inputs())[:, -1])
    _, cache = network.run_with_cache(task.inputs())
    out = cache["blocks.0.hook_mlp_out"][:, -1]
    resid = cache["blocks.0.hook_resid_post"][:, -1] - out + out.mean(dim=0)
    expected = graph.loss(resid @ network.W_U) - graph.loss(graph.logits({}))
    assert graph.effects()[MLP, LOGITS] == pytest.approx(float(expected))


def test_attributions_are_the_effects_to_first_order() -> None:
    task = addition(5)
    config = TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=16)
    graph = Graph(hooked(config, initial_weights(config, seed=1)).double(), task)
    attributed, step = graph.attributions(), 1e-5
    with torch.no_grad():
        whole = graph.loss(graph.logits({}))
        for edge in graph.edges:
            moved = graph.loss(graph.logits({edge: step * graph.changes[edge]}))
            assert attributed[edge] == pytest.approx(float(moved - whole) / step, rel=1e-2, abs=1e-6), edge


def test_the_score_is_the_area_under_the_curve() -> None:
    known = [("a", "b"), ("b", "c")]
    assert auc({("a", "b"): 3.0, ("b", "c"): 1.0, ("c", "d"): 2.0, ("d", "e"): 1.0}, known) == 0.625
    assert auc({("a", "b"): 1.0}, known) != auc({("a", "b"): 1.0}, known), "NaN where there is nothing to tell apart"


def test_what_cannot_be_certified_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    task, network = clock(13, FREQS)
    with pytest.raises(ValueError, match="was made with the frequencies"):
        case("wrong", TrainedRun("wrong", task, network), (1, 5))
    with pytest.raises(ValueError, match="different numbers from 1 to 6"):
        clock(13, (7,))
    two = TransformerConfig.of(task, n_layers=2, d_model=8, n_heads=1, d_head=8, d_mlp=8)
    with pytest.raises(ValueError, match="one layer with an MLP"):
        edges(hooked(two, initial_weights(two, seed=0)))
    assert main(["ground-truth", "own/none", "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
