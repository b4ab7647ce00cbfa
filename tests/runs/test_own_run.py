"""A network that was trained in a loop of one's own, with its snapshots and its split."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch
from torch import Tensor, nn

import modinterp as mi
from modinterp.runs import NotRecorded, TrainedRun, own_split
from modinterp.tasks import addition

P = 11
TASK = addition(P)


class Mine(nn.Module):
    """A network of torch alone."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.embed, self.fc1, self.fc2 = nn.Embedding(P + 1, 16), nn.Linear(32, width), nn.Linear(width, P)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.fc2(self.fc1(self.embed(tokens)[:, :2].flatten(1)).relu())


def trained(steps: int = 300) -> tuple[Mine, dict[int, dict[str, Tensor]], Tensor]:
    """A module after some steps in a plain loop of torch, snapshots of it, and the mask of what it was trained on."""
    torch.manual_seed(0)
    model, inputs, labels = Mine(), TASK.inputs(), TASK.labels()[:, 0]
    mask = torch.rand(len(inputs)) < 0.7
    optimiser, snapshots = torch.optim.AdamW(model.parameters(), lr=1e-2), {}
    for step in range(steps + 1):
        if step % 100 == 0:
            snapshots[step] = {name: w.clone() for name, w in model.state_dict().items()}
        loss = nn.functional.cross_entropy(model(inputs[mask]), labels[mask])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.load_state_dict(snapshots[steps])
    return model, snapshots, mask


MODEL, SNAPSHOTS, MASK = trained()


@pytest.fixture(scope="module")
def mine() -> TrainedRun:
    return mi.run(MODEL, TASK, snapshots=SNAPSHOTS, train=MASK, name="mine")


def test_snapshots_split_and_history_are_those_of_the_loop(mine: TrainedRun) -> None:
    assert list(mine.snapshots) == [0, 100, 200, 300]
    assert set(mine.split.train.tolist()) == set(MASK.nonzero().flatten().tolist())
    labels, inputs = TASK.labels()[:, 0], TASK.inputs()
    other = Mine()
    other.load_state_dict(SNAPSHOTS[200])
    with torch.no_grad():
        logits = other(inputs).double()
    row = mine.history.set_index("epoch").loc[200]
    assert row["train_loss"] == pytest.approx(float(nn.functional.cross_entropy(logits[MASK], labels[MASK])), rel=1e-5)
    right = (logits.argmax(1) == labels)[~MASK].double().mean()
    assert row["test_accuracy"] == pytest.approx(float(right))
    assert torch.allclose(mine.at(200)(inputs)[:, -1].double(), logits, atol=1e-5)


def test_what_works_on_a_run_works_on_it(mine: TrainedRun) -> None:
    m = mi.measure(mine)
    assert m["test_accuracy"] == pytest.approx(float(mine.history["test_accuracy"].iloc[-1]))
    assert m["excluded_loss_train"] > 0
    progress = m.progress
    assert progress["epoch"].tolist() == [0, 100, 200, 300]
    assert {"restricted_loss_all", "excluded_loss_train"} <= set(progress)
    assert m.without(frequencies=[1]).after.keys() == {"all", "train", "test"}
    assert mi.explain(mine, draws=99).name == "mine"
    assert list(mi.compare({"a": mine, "b": mine}, draws=99).table().columns) == ["a", "b"]
    with pytest.raises(NotRecorded, match="the training settings of mine are not known"):
        _ = m.recipe


def test_files_and_folders_of_snapshots(tmp_path: Path, mine: TrainedRun) -> None:
    for step, weights in SNAPSHOTS.items():
        torch.save({"model": weights, "step": step}, tmp_path / f"step_{step}.pt")
    (tmp_path / "notes.txt").write_text("mine")
    again = mi.run(Mine, TASK, snapshots=tmp_path, train=MASK.nonzero().flatten())
    assert list(again.snapshots) == list(mine.snapshots)
    assert torch.equal(again.snapshots[100]["fc1.weight"], SNAPSHOTS[100]["fc1.weight"])
    pd.testing.assert_frame_equal(again.history, mine.history)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"train": torch.ones(5, dtype=torch.bool)}, "the mask `train` has 5 entries"),
        ({"train": [0, P * P]}, "inputs are 0 to 120"),
        ({"train": [1, 1]}, "lists a row twice"),
        ({"snapshots": {0: Mine(width=7).state_dict()}}, "the snapshot of epoch 0 does not fit"),
        ({"snapshots": {0: {"fc1.weight": torch.zeros(1)}}}, "the snapshot of epoch 0 does not fit"),
        ({"history": pd.DataFrame({"loss": [1.0]})}, "the history has no column `epoch`"),
    ],
)
def test_bad_input_is_one_line(said: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        mi.run(MODEL, TASK, **said)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("shape", ["under state_dicts", "by epoch", "a list"])
def test_a_file_with_several_state_dicts(tmp_path: Path, mine: TrainedRun, shape: str) -> None:
    path, epochs = tmp_path / "all.pth", list(SNAPSHOTS)
    content = {
        "under state_dicts": {"state_dicts": list(SNAPSHOTS.values()), "epochs": epochs, "config": {"p": P}},
        "by epoch": SNAPSHOTS,
        "a list": list(SNAPSHOTS.values()),
    }[shape]
    torch.save(content, path)
    opened = mi.run(MODEL, TASK, snapshots=path, train=MASK)
    assert list(opened.snapshots) == (epochs if shape != "a list" else [0, 1, 2, 3])
    last = opened.snapshots[list(opened.snapshots)[-1]]
    assert all(torch.equal(w, SNAPSHOTS[300][name]) for name, w in last.items())
    with pytest.raises(ValueError, match=r"holds 4 state dicts; open them with mi\.run\(.*snapshots='all\.pth'\)"):
        mi.explain(path, op="add", p=P)
    torch.save({"model": MODEL.state_dict()}, path)
    with pytest.raises(ValueError, match="holds no list of state dicts"):
        mi.run(MODEL, TASK, snapshots=path, train=MASK)


def test_folders_without_snapshots_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        mi.run(MODEL, TASK, snapshots=tmp_path / "none")
    with pytest.raises(ValueError, match=r"holds no snapshots such as step_1000\.pt"):
        mi.run(MODEL, TASK, snapshots=tmp_path)


def test_a_mask_over_the_grid_will_do() -> None:
    assert len(own_split(TASK, torch.eye(P).bool()).train) == P


def test_explain_takes_the_rows_it_was_trained_on() -> None:
    x = mi.explain(MODEL, "add", P, train=MASK, draws=99)
    assert x["test_accuracy"] < x["accuracy"]


def test_an_embedding_that_is_indexed_and_never_called_is_seen_from_outside() -> None:
    class Indexed(Mine):
        def forward(self, tokens: Tensor) -> Tensor:
            return self.fc2(self.fc1(self.embed.weight[tokens[:, :2]].flatten(1)).relu())

    x = mi.explain(Indexed(), "add", P, draws=99)
    assert "the place at which the network embeds its numbers is not known" in x.row("accuracy_without").note
