"""The catalogue lists every run of the sources, and each can be trained."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from loops import check_each

from modinterp.commands.runs import main
from modinterp.models import TransformerConfig
from modinterp.runs import load, train
from modinterp.sources import sources
from modinterp.sources.registry import catalogue, claims_of, figures_of, specs
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec, shape_of

FAMILIES = {  # the sources' runs and how many of each
    "nanda/mainline-*": 15, "nanda/other-draw-*": 5, "nanda/rounding-*": 8,
    "nanda/fraction-*": 8, "nanda/two-layers-*": 8, "nanda/p53-decay-5-*": 5, "nanda/p53-[0-2]": 3,
    "nanda/p109-*": 8, "nanda/p401-decay-*": 6, "nanda/p401-fraction-*": 9, "nanda/no-decay-*": 3, "nanda/decay-*": 7,
    "nanda/dropout-*": 9, "nanda/l1-*": 18, "nanda/float*": 6, "nanda/digits-*": 11, "nanda/repeated-*": 3,
    "nanda/trigram-*": 11, "nanda/random-labels-*": 1, "nanda/multiplication-*": 1, "validity/*": 4, "clock/no-pos-*": 8, "clock/no-relu-*": 3, "clock/decay-until-5000-*": 3, "clock/one-head-*": 1, "clock/random-labels-*": 1, "clock/multiplication-*": 1, "mlp/random-labels-*": 1,
    "mlp/multiplication-*": 1, "pizza/random-labels-*": 1, "pizza/multiplication-*": 1,
    "mlp/kissane-*": 10, "mlp/other-draw-*": 5,
    "miiii/p113*": 4, "miiii/basis-*": 1, "miiii/masked-*": 1, "miiii/nanda-*": 10, "miiii/p[235]?-*": 4,
    "circuits/add-[0-9]": 10, "circuits/add-width-*": 21, "circuits/median-width-*": 21, "circuits/max-[0-2]": 3, "circuits/max-balanced-*": 10,
    "circuits/median-[0-2]": 3, "circuits/sort-[0-9]": 10, "circuits/sort-[so]*": 9, "groups/*-mlp-[0-9]": 24, "groups/*-width-64-*": 3, "groups/*-t-*": 11,
    "he/std-*": 20, "he/embed-*": 20, "he/sgd-*": 20, "he/quad-*": 20, "he/quad1-*": 20, "he/relu1-*": 20, "he/p97-*": 1,
    "he/grok-[0-9]*": 20, "he/grok-wd0-*": 20, "he/random-labels-*": 1, "arena/cumsum-*": 8, "arena/sort-*": 8, "arena/palindrome-*": 8,
    "arena/unique-*": 8, "arena/sum-*": 8, "arena/sum1-*": 8,
    "pizza/attention-*": 43, "pizza/linear-*": 7, "pizza/width-*": 20, "pizza/layers-2-*": 1,
}  # fmt: skip
SHAPES = {shape_of(each): name for name, each in catalogue().items()}


def test_every_family_is_there() -> None:
    def check(family: str) -> None:
        assert len(specs(family)) == FAMILIES[family]
        controls = {name for about in sources().values() for name in about.controls}
        assert any(name in controls or claims_of(name) or figures_of(name) for name in specs(family))

    check_each(FAMILIES, check)


def test_every_run_belongs_to_a_family() -> None:
    assert set(specs(*FAMILIES)) == set(catalogue()) == set(specs("*"))


def test_choices_of_ours_are_marked_by_the_name_of_a_field() -> None:
    def check(name: str) -> None:
        spec = catalogue()[name]
        data = spec.to_json()
        assert RunSpec.from_json(json.loads(json.dumps(data))) == spec
        assert RunSpec.from_json(data).unstated == spec.unstated
        for field in spec.unstated:
            place = data
            for part in field.split("."):
                place = place[part]

    check_each(SHAPES.values(), check)


def test_the_mark_is_no_part_of_what_is_trained() -> None:
    spec = catalogue()["clock/no-pos-0"]
    assert replace(spec, unstated=()) == spec
    assert "recipe.lr" in spec.unstated


def test_listing_shows_what_is_trained_and_what_needs_it(capsys: pytest.CaptureFixture) -> None:
    assert main(["list", "nanda/*", "mlp/*"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["run", "task", "shape"]
    assert len(lines) == len(specs("nanda/*", "mlp/*"))
    (mainline,) = (line for line in lines if line.startswith("nanda/mainline-0 "))
    assert "trained" in mainline
    assert "40,000" in mainline
    (needed,) = (line for line in lines if line.startswith("nanda/p401-decay-8-0 "))
    assert "nanda.fig25" in needed


def test_a_pending_run_says_what_it_would_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("MODINTERP_CHECKPOINTS", str(tmp_path))
    assert main(["list", "nanda/p401-fraction-5-1", "nanda/p401-decay-8-0"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    few, many = sorted(lines, key=lambda line: "decay" in line)
    assert "pending" in many
    assert "nanda.fig25" in many
    cost = re.compile(r"pending, (\d[\d,]*) min")
    one, other = (int(cost.search(line)[1].replace(",", "")) for line in (few, many))
    assert 1 <= one < other / 8, "twice as many epochs of six times as many pairs"


def test_runs_of_ones_own_are_listed_too(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    task = addition(3)
    spec = RunSpec(task, TransformerConfig.of(task, d_model=4, n_heads=1, d_head=4, d_mlp=4), Recipe(epochs=2))
    train({"mine/sums": spec}, out=tmp_path, progress=False)
    assert main(["list", "mine/*", "mlp/*", "--runs", str(tmp_path)]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    own = lines[-1]
    assert own.startswith("mine/sums ")
    assert len(lines) == len(specs("mlp/*")) + 1
    assert own.index("a + b mod 3") == header.index("task")
    assert own.index("trained") == header.index("state") == lines[0].index("pending")
    assert main(["list", "mine/none*", "--runs", str(tmp_path)]) == 2
    with pytest.raises(FileNotFoundError, match="did you mean 'mine/sums'"):
        load("mine/sum", root=tmp_path)


def test_unknown_runs_are_named(capsys: pytest.CaptureFixture) -> None:
    for command in ("list", "train"):
        assert main([command, "nanda/mainline-0", "nanda/nothing-*"]) == 2
        assert "unknown run 'nanda/nothing-*'" in capsys.readouterr().err
