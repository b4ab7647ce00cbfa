"""Records of other versions: fields that are missing or unknown are named, with the file and the version."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modinterp.models import TransformerConfig
from modinterp.runs import load, train
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

TASK = addition(5)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=8, n_heads=1, d_head=8, d_mlp=8), Recipe(2, log_every=1))

CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "Recipe has no field momentum2": lambda r: r["spec"]["recipe"].update(momentum2=0.5),
    "TransformerConfig has no field gates": lambda r: r["spec"]["model"].update(gates=2),
    "ModularArithmetic has no field base": lambda r: r["spec"]["task"].update(base=3),
    "a run has no field curriculum": lambda r: r["spec"].update(curriculum="easy"),
    "Recipe lacks the field weight_decay": lambda r: r["spec"]["recipe"].pop("weight_decay"),
    "TransformerConfig lacks the field n_heads": lambda r: r["spec"]["model"].pop("n_heads"),
    "ModularArithmetic lacks the field op": lambda r: r["spec"]["task"].pop("op"),
}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    train({"mine/first": SPEC}, tmp_path, device="cpu", progress=False)
    return tmp_path / "mine/first/run.json"


@pytest.mark.parametrize("words", CHANGES)
@pytest.mark.parametrize("writer", ["9.8.7", None])
def test_a_field_of_another_version_is_named_with_the_file_and_the_version(
    words: str, writer: str | None, record: Path
) -> None:
    content = json.loads(record.read_text(encoding="utf-8"))
    assert content["versions"].pop("modinterp")
    if writer is not None:
        content["versions"]["modinterp"] = writer
    CHANGES[words](content)
    record.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        load(record.parent)
    assert str(record) in str(error.value)
    assert ("another version" if writer is None else f"version {writer}") in str(error.value)


def test_records_of_the_first_versions_are_read(record: Path) -> None:
    content = json.loads(record.read_text(encoding="utf-8"))
    content["spec"]["task"].pop("vocabularies")
    content["spec"]["recipe"].pop("spectra_every")
    for name in ("attention_rate", "causal", "unlabelled_outputs"):
        content["spec"]["model"].pop(name)
    record.write_text(json.dumps(content), encoding="utf-8")
    assert load(record.parent).spec == SPEC
