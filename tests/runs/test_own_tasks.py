"""Anybody's task: restored by its import path, and refused before training where it could not be."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from modinterp.models import TransformerConfig
from modinterp.runs import load, store, train
from modinterp.tasks import ModularArithmetic, Task, addition
from modinterp.tasks.description import class_of_kind, description, kind_of, task_from_description
from modinterp.training import Recipe, RunSpec

PACKAGE = """
from dataclasses import dataclass
import torch
from modinterp.tasks import Task

@dataclass(frozen=True)
class Xor(Task):
    n: int = 5
    weights: tuple[int, ...] = (1, 2)
    name = property(lambda self: f"xor below {self.n}")
    d_vocab = property(lambda self: 9)
    d_vocab_out = property(lambda self: 8)
    n_ctx = property(lambda self: 3)
    grid = property(lambda self: (self.n, self.n))
    def inputs(self):
        pairs = torch.cartesian_prod(torch.arange(self.n), torch.arange(self.n))
        return torch.cat([pairs, torch.full((len(pairs), 1), 8)], dim=1)
    def labels(self):
        a, b = self.inputs()[:, :2].unbind(dim=1)
        return (a ^ b).unsqueeze(1)

class Outer:
    @dataclass(frozen=True)
    class Inner(Xor):
        pass

@dataclass(frozen=True)
class WithList(Xor):
    weights: object = None

class Undecorated(Xor):
    pass

@dataclass(frozen=True)
class Renamed(Xor):
    pass
Renamed.__qualname__ = "Xor"

make = lambda: Xor()
number = 3
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's package with a few tasks, importable while the test runs."""
    folder = tmp_path / "packages"
    (folder / "users_package").mkdir(parents=True)
    (folder / "users_package" / "__init__.py").write_text("")
    (folder / "users_package" / "tasks.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    yield folder
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "users_package"]:
        del sys.modules[name]


def users(name: str) -> Task:
    return getattr(importlib.import_module("users_package.tasks"), name)()


def spec(task: Task) -> RunSpec:
    model = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=24)
    return RunSpec(task, model, Recipe(epochs=20, log_every=5, snapshot_every=10))


def trained(task: Task, out: Path) -> None:
    train({"mine/0": spec(task)}, out, device="cpu", progress=False)


def test_tasks_of_this_package_are_described_by_their_bare_names() -> None:
    assert kind_of(ModularArithmetic) == "ModularArithmetic"
    assert class_of_kind("ModularArithmetic") is ModularArithmetic
    assert task_from_description(description(addition(5))) == addition(5)


def test_a_users_task_comes_back_in_another_process(package: Path, tmp_path: Path) -> None:
    trained(users("Xor"), tmp_path)
    record = store.read_record(tmp_path / "mine/0")
    assert record["spec"]["task"] == {"kind": "users_package.tasks:Xor", "n": 5, "weights": [1, 2]}
    run = load("mine/0", root=tmp_path)
    assert run.task == users("Xor")
    assert run.activations()["logits"].shape == (5, 5, 8)
    script = f"from modinterp.runs import load; print(load('mine/0', root={str(tmp_path)!r}))"
    path = [str(package), *filter(None, sys.path)]
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                           env={"PYTHONPATH": ":".join(path), "PATH": ""}).stdout  # fmt: skip
    assert shown.startswith("mine/0: xor below 5, ")
    trained(users("Xor"), tmp_path)  # nothing more to do


def test_a_class_within_a_class_comes_back(package: Path, tmp_path: Path) -> None:
    task = importlib.import_module("users_package.tasks").Outer.Inner()
    trained(task, tmp_path)
    assert load("mine/0", root=tmp_path).task == task


def test_a_task_whose_package_is_gone_can_be_given(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = users("Xor")
    trained(task, tmp_path)
    forget()
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(package)])
    importlib.invalidate_caches()
    with pytest.raises(
        ValueError, match="users_package.tasks:Xor cannot be imported: .*can be given in its place$"
    ) as e:
        load("mine/0", root=tmp_path)
    assert "\n" not in str(e.value)
    assert load("mine/0", task, root=tmp_path).task == task
    with pytest.raises(ValueError, match=r"cannot be imported: .*; a \+ b mod 5 is another task"):
        load("mine/0", addition(5), root=tmp_path)
    with pytest.raises(ValueError, match="xor below 4 is another task"):
        load("mine/0", type(task)(4), root=tmp_path)
    refused(task, tmp_path, "could not be loaded again: .*No module named 'users_package'")


def test_local_classes_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Local(ModularArithmetic):
        pass

    refused(Local(5), tmp_path, "is not the import path of a task")


def refused(task: Task, out: Path, match: str) -> None:
    with pytest.raises(ValueError, match=match) as error:
        trained(task, out / "out")
    assert "define its class in a module that can be imported" in str(error.value)
    assert "\n" not in str(error.value)
    assert not (out / "out").exists()


def test_classes_of_a_script_are_refused(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = users("Xor")
    monkeypatch.setattr(type(task), "__module__", "__main__")
    refused(task, tmp_path, "could not be loaded by another program")


@pytest.mark.parametrize(
    ("name", "match"),
    [("Undecorated", "is not a task: it should be"), ("Renamed", "would be loaded as one of another")],
)
def test_classes_that_would_come_back_as_others_are_refused(
    package: Path, tmp_path: Path, name: str, match: str
) -> None:
    refused(users(name), tmp_path, match)


@pytest.mark.parametrize("value", [[1, 2], {1: 2}, print, {1, 2}])
def test_fields_that_json_does_not_keep_are_refused(package: Path, tmp_path: Path, value: object) -> None:
    task = importlib.import_module("users_package.tasks").WithList(weights=value)
    refused(task, tmp_path, "could not be loaded again|would be loaded as one of another")


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("users_package.tasks:number", "is not a task"),
        ("users_package.tasks:make", "is not a task"),
        ("users_package.tasks:Undecorated", "is not a task"),
        ("users_package.tasks:Nothing", "cannot be imported: module 'users_package.tasks' has no attribute 'Nothing'"),
        ("users_package.nothing:Xor", "cannot be imported: No module named 'users_package.nothing'"),
        ("os:system", "is not a task"),
        ("modinterp.tasks:Task", "has no field|not the description"),
        ("os;import this:x", "is not the import path"),
        (":", "is not the import path"),
        ("Quantum", "unknown kind 'Quantum'; known are .*ModularArithmetic"),
    ],
)
def test_kinds_that_are_no_tasks_are_refused_in_one_line(package: Path, tmp_path: Path, kind: str, match: str) -> None:
    trained(addition(5), tmp_path)
    path = tmp_path / "mine/0" / store.RECORD
    record = json.loads(path.read_text())
    record["spec"]["task"]["kind"] = kind
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=match) as error:
        load("mine/0", root=tmp_path)
    assert "\n" not in str(error.value)
