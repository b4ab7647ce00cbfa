"""Runs trained by a cluster of three machines, of which one is lost, end with the bytes of undisturbed ones."""

from __future__ import annotations

import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from modinterp.cluster.on_ray import carried_out, has_gpus, places
from modinterp.cluster.options import Share, device_and_share
from modinterp.cluster.pieces import Answer, Piece, Report
from modinterp.commands.runs import main
from modinterp.models import TransformerConfig
from modinterp.runs import load, states, store, train
from modinterp.runs.lease import RunIsHeld, leased
from modinterp.runs.same_shape import groups, unfinished_groups
from modinterp.runs.search import Question, Search, objective, searches
from modinterp.runs.study import open_study
from modinterp.sources import source
from modinterp.tasks import addition
from modinterp.training import OutcomeKind, Recipe, RunSpec, training_states

TASK = addition(5)
MEMORY = 80 * 2**20  # of a node, for what is handed over
CONFIG = TransformerConfig.of(TASK, d_model=8, n_heads=1, d_head=8, d_mlp=8)


def spec(seed: int, epochs: int = 400) -> RunSpec:
    return RunSpec(TASK, CONFIG, Recipe(epochs=epochs, log_every=50, snapshot_every=100), seed)


SWEEP = {f"own/{seed}": spec(seed) for seed in range(24)}


@pytest.fixture(scope="module")
def machines() -> Iterator[tuple[Any, Any]]:
    """Ray, and a cluster of three nodes with one core each, beside a head that carries nothing out."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY})
    for _ in range(3):
        cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    yield ray, cluster
    ray.shutdown()
    cluster.shutdown()


def same_files(ours: Path, theirs: Path) -> bool:
    names = (store.FINAL, store.HISTORY, str(store.snapshot_path(Path(), 300)))
    return all((ours / name).read_bytes() == (theirs / name).read_bytes() for name in names)


def test_a_machine_is_lost_and_nothing_else(machines: tuple[Any, Any], tmp_path: Path) -> None:
    """24 runs over three nodes; one is killed in the middle, another run is held by this process for a while."""
    from modinterp.runs.distributed import train_on_cluster

    ray, cluster = machines
    out, alone = tmp_path / "shared", tmp_path / "alone"
    (out / "own/23").mkdir(parents=True)
    lost_at: list[int] = []

    def lose_one() -> None:
        with leased(out / "own/23"):
            while sum(1 for _ in out.rglob(states.STATE)) < 8 or not list(out.rglob("epoch-000200*")):
                time.sleep(0.05)
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
            lost_at.append(sum(1 for _ in out.rglob(store.RECORD)))

    killer = threading.Thread(target=lose_one, daemon=True)
    killer.start()
    ended = train_on_cluster(ray, SWEEP, out, "cpu", Share(), 4, state_every=0.0, seconds_until_tried_again=1.0)
    killer.join(timeout=60)
    assert lost_at
    assert lost_at[0] < 24, "lost when all was done, which tests nothing"
    assert {name: outcome.kind for name, outcome in ended.items()} == dict.fromkeys(SWEEP, OutcomeKind.EPOCHS_OVER)
    train(SWEEP, alone, "cpu", progress=False, together=24)
    assert all(same_files(out / name, alone / name) for name in SWEEP)
    assert not unfinished_groups(SWEEP, 4, out)
    began = time.monotonic()
    assert train_on_cluster(ray, SWEEP, out, "cpu", Share(), together=4) == ended
    assert time.monotonic() - began < 5, "what is finished is skipped"


def test_a_run_that_cannot_be_trained_does_not_stop_the_others(machines: tuple[Any, Any], tmp_path: Path) -> None:
    from modinterp.runs.distributed import train_on_cluster

    train({"own/1": spec(9, 100)}, tmp_path, "cpu", progress=False)  # another training lies there
    wanted = {f"own/{seed}": spec(seed, 100) for seed in range(3)}
    refused: dict[str, ValueError] = {}
    ended = train_on_cluster(machines[0], wanted, tmp_path, "cpu", Share(), 3, refused.__setitem__)
    assert "holds a training with other settings" in str(refused.pop("own/1"))
    assert not refused
    assert {name: outcome.epoch for name, outcome in ended.items()} == {"own/0": 100, "own/2": 100}
    assert load("own/2", root=tmp_path).history["epoch"].iloc[-1] == 100


def test_groups_do_not_depend_on_what_is_finished(tmp_path: Path) -> None:
    specs = {f"own/{seed}": spec(seed, 20) for seed in range(5)}
    assert [list(group) for group in groups(specs, 2)] == [["own/0", "own/1"], ["own/2", "own/3"], ["own/4"]]
    train({name: specs[name] for name in ("own/1", "own/4")}, tmp_path, "cpu", progress=False)
    assert [list(group) for group in unfinished_groups(specs, 2, tmp_path)] == [["own/0"], ["own/2", "own/3"]]
    longer = {"own/4": spec(4, 40)}
    assert unfinished_groups(longer, 2, tmp_path) == [longer], "one that is to go on is not finished"


def test_four_tasks_share_a_gpu_and_no_fifth(machines: tuple[Any, Any], tmp_path: Path) -> None:
    """A node says that it has a GPU, which Ray believes: eight tasks that ask for a quarter of one are placed on it."""
    ray, cluster = machines
    node, begun = cluster.add_node(num_cpus=8, num_gpus=1, object_store_memory=MEMORY), tmp_path / "begun"
    begun.mkdir()

    def task(*, report: Report) -> tuple[float, float, str, list[str]]:  # sent by value: no task can import this file
        import ray

        here, began = ray.get_runtime_context(), time.time()
        (begun / here.get_task_id()).touch()
        while len(list(begun.iterdir())) < 4 and time.time() < began + 60:
            time.sleep(0.05)
        time.sleep(0.5)
        return began, time.time(), here.get_node_id(), here.get_accelerator_ids()["GPU"]

    try:
        device, share = device_and_share(Namespace(device="auto", cpus=1.0, gpus=0.25), has_gpus(ray))
        assert (device, share, places(ray, share)) == ("cuda", Share(1.0, 0.25), 4)
        pieces = [Piece(task, (), (f"piece {i}",)) for i in range(8)]
        answers = [answer.value for answer in carried_out(ray, pieces, share, RunIsHeld, "piece")]
        at_once = [sum(began <= moment < ended for began, ended, *_ in answers) for moment, *_ in answers]
        assert max(at_once) == 4
        assert [(where, gpus) for *_, where, gpus in answers] == [(node.node_id, ["0"])] * 8
    finally:
        cluster.remove_node(node)


def test_a_task_with_a_share_of_a_gpu_computes_on_a_gpu(
    machines: tuple[Any, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The node has none in truth, and says so by name of the device that it was asked for."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    node = machines[1].add_node(num_cpus=1, num_gpus=1, object_store_memory=MEMORY)
    try:
        asked = ["train", "circuits/max-0", "--on", "ray", "--gpus", "0.25", "--out", str(tmp_path)]
        assert main(asked) == 2
        assert "cuda" in capsys.readouterr().err
    finally:
        machines[1].remove_node(node)


def test_a_source_is_measured_a_run_a_task(machines: tuple[Any, Any]) -> None:
    from modinterp.reproduce.ensemble import measured_in_pieces
    from modinterp.reproduce.reproduction import reproduction

    def on_ray(pieces: list[Piece]) -> Iterator[Answer]:
        return carried_out(machines[0], pieces, Share(), RunIsHeld, "run")

    only = "mlp.neuron_norm_map"
    measured, evidence, made, _ = measured_in_pieces("mlp", only, None, "cpu", 1, on_ray)()
    here, there = reproduction("mlp", only), reproduction("mlp", only, measured=measured, evidence=evidence, made=made)
    assert len(measured) == 5
    assert [r.measured for r in here.results] == [r.measured for r in there.results]
    assert here.as_recorded
    assert there.as_recorded


def test_a_study_is_shared_by_the_machines_and_goes_on(machines: tuple[Any, Any], tmp_path: Path) -> None:
    """By its command, which finds the cluster that this process is connected to."""
    pytest.importorskip("optuna")
    space, question, journal = source("miiii").search.SPACE, Question(p=5, epochs=32), tmp_path / "study.journal"

    def searched(n_trials: int) -> Search:
        asked = ["search", "miiii", "--p", "5", "--epochs", "32", "--trials", str(n_trials), "--on", "ray"]
        assert main([*asked, "--storage", str(journal), "--out", str(tmp_path / "miiii/search-p5")]) == 0
        (result,) = searches(space, tmp_path)
        return result

    begun, whole = searched(4), searched(8)
    assert len(begun.trials) == 4
    assert whole.trials[:4].equals(begun.trials), "what is done is not done again"
    assert whole.trials["trial"].tolist() == list(range(8))
    trials = open_study(space, question, journal).trials
    assert len({trial.user_attrs["worker"] for trial in trials}) > 2, "two calls, and more than one task in one of them"
    best = whole.best
    alone = space.spec({name: best[name] for name in space.choices}, question)
    *_, (_, last) = training_states([alone], device="cpu")
    assert objective(last.history) == pytest.approx(best["loss"], rel=1e-6)
