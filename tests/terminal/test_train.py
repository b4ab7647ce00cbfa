"""A training of one's own from the command line, and from files of specs."""

from __future__ import annotations

from pathlib import Path

import pytest

import modinterp as mi
from modinterp.commands.overview import main
from modinterp.runs.own_specs import FAST, PAPER, own_spec, specs_in
from modinterp.training import Recipe


def test_a_few_words_train_a_network_and_say_what_to_type_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--op", "sub", "--p", "11", "--seed", "1", "--arch", "mlp", "--epochs", "30"]
    assert main([*words, "--out", str(tmp_path), "--device", "cpu", "--threads", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    name = "mine/sub-11-mlp-fast-1"
    assert lines[-3].endswith(f"modinterp explain {name} --runs {tmp_path}")
    assert lines[-1].endswith(f"modinterp runs watch {name} --runs {tmp_path}")
    run = mi.load(name, root=tmp_path)
    assert (run.task.op, run.task.p, run.spec.seed, run.history.epoch.iloc[-1]) == ("sub", 11, 1, 30)
    assert len(run.snapshots) >= 3
    assert main([*lines[-3].partition("modinterp ")[2].split(), "--draws", "99", "--out", str(tmp_path / "page")]) == 0
    assert (tmp_path / "page" / "index.html").is_file()


def test_the_paper_s_recipe_is_the_default_one_and_the_fast_one_changes_what_it_says() -> None:
    assert own_spec(recipe="paper").recipe == PAPER == Recipe()
    for arch, changes in FAST.items():
        fast = own_spec(arch=arch).recipe
        differing = {name for name in Recipe.__dataclass_fields__ if getattr(fast, name) != getattr(PAPER, name)}
        assert differing == {*changes, "snapshot_every"} - {"fraction"}


def test_files_of_specs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("mine/a: {p: 7, arch: mlp, epochs: 3, lr: 0.01}\nmine/b: {p: 5, epochs: 2}\n")
    found = specs_in(tmp_path / "mine.yaml")
    assert {name: (s.task.p, s.recipe.epochs) for name, s in found.items()} == {"mine/a": (7, 3), "mine/b": (5, 2)}
    (tmp_path / "mine.py").write_text(
        "from modinterp.runs.own_specs import own_spec\nSPECS = {f'mine/{s}': own_spec(p=7, seed=s) for s in range(2)}\n"
    )
    assert [s.seed for s in specs_in(tmp_path / "mine.py").values()] == [0, 1]
    arguments = ["train", str(tmp_path / "mine.yaml"), "--out", str(tmp_path), "--device", "cpu", "--threads", "1"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "explain mine/a --runs" in printed
    assert printed.count("% of the training pairs") == 2


def test_a_training_that_memorised_says_what_to_try(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("mine/a: {p: 7, arch: mlp, epochs: 200, lr: 0.01, fraction: 0.4}\n")
    arguments = ["train", str(tmp_path / "mine.yaml"), "--out", str(tmp_path), "--device", "cpu", "--threads", "1"]
    assert main(arguments) == 0
    assert "The network memorised its training pairs and does not generalise" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mine/a: {op: add, q: 7}", "mine/a in .*: there is no setting 'q'"),
        ("mine/a: {batchsize: 7}", "no setting 'batchsize'; did you mean 'batch_size'"),
        ("mine/a: {op: plus}", "unknown op 'plus'; known are add"),
        ("mine/a: {p: 1}", "mine/a in .*: p must be"),
        ("- a", "should map names of runs to settings"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "mine.yaml").write_text(content)
    with pytest.raises(ValueError, match=message):
        specs_in(tmp_path / "mine.yaml")
    (tmp_path / "mine.py").write_text("x = 1")
    with pytest.raises(ValueError, match="has no dict SPECS"):
        specs_in(tmp_path / "mine.py")
    with pytest.raises(ValueError, match="is not a file of runs"):
        specs_in(Path(__file__).with_suffix(".py").parents[1] / ".." / "pyproject.toml")
    with pytest.raises(FileNotFoundError):
        specs_in(tmp_path / "other.yaml")
