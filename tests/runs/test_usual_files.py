"""Files that users give instead of the right ones get words that help; what can be read is read, whatever its name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

from modinterp.commands.explain import main
from modinterp.explain import explain
from modinterp.models import TransformerConfig, initial_weights
from modinterp.runs.weights import read_weights
from modinterp.tasks import Group, addition
from modinterp.tasks.group import elements_in

TASK = addition(5)
WEIGHTS = dict(initial_weights(TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12), seed=0))


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".pth", ".ckpt", ".bin"])
@pytest.mark.parametrize("kind", ["safetensors", "archive", "legacy", "lightning"])
def test_the_content_decides_how_weights_are_read(kind: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    if kind == "safetensors":
        path.write_bytes(save(WEIGHTS))
    else:
        content = {"state_dict": WEIGHTS, "epoch": 3, "hyper_parameters": {}} if kind == "lightning" else WEIGHTS
        torch.save(content, path, _use_new_zipfile_serialization=kind != "legacy")
    assert set(read_weights(path)) == set(WEIGHTS)


@pytest.mark.parametrize(("content", "words"), [
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n", "git lfs pull"),
    (b"\n<!DOCTYPE html><html><body>not found</body></html>", "is a web page"),
    (b"\x89HDF\r\n\x1a\n" + bytes(50), "is a file of HDF5"),
    (b"\x1f\x8b\x08" + bytes(50), "is packed by gzip"),
])  # fmt: skip
@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".ckpt"])
def test_a_file_of_another_kind_is_told_as_what_it_is(content: bytes, words: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_weights(path)


@pytest.mark.parametrize("beside", [torch.device("cpu"), torch.Size([3]), torch.float32, np.float64(0.5)])
def test_what_is_no_weight_beside_the_weights_is_ignored(beside: object, tmp_path: Path) -> None:
    torch.save(WEIGHTS | {"beside": beside}, tmp_path / "model.pt")
    assert set(read_weights(tmp_path / "model.pt")) == set(WEIGHTS)


@pytest.mark.parametrize("name", ["model.h5", "model.ckpt", "none.pt"])
def test_a_file_that_is_not_there_or_not_read_is_told_as_such(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    if name != "none.pt":
        (tmp_path / name).write_bytes(b"")
    assert main([str(tmp_path / name), "--p", "13"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--out" not in error
    assert name in error


def test_an_embedding_of_width_0_is_refused(tmp_path: Path) -> None:
    zeros = torch.zeros
    torch.save({"W_E": zeros(13, 0), "W_in": zeros(0, 0), "W_U": zeros(0, 13)}, tmp_path / "m.pt")
    with pytest.raises(ValueError, match="not a multiple of the width 0"):
        explain(tmp_path / "m.pt", p=13)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is Unicode")
def test_a_name_that_is_not_utf_8_is_written_as_escapes(tmp_path: Path) -> None:
    from modinterp.models.planted import clock

    _, network = clock(13, (2, 5))
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.pt")
    with open(path, "wb") as file:
        torch.save(dict(network.state_dict()), file)
    explain(path, p=13, draws=99, out=tmp_path / "out")
    assert "caf\\udce9.pt" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_a_byte_order_mark_is_no_part_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("0,1\n1,0\n", encoding="utf-8-sig")
    (tmp_path / "plain.csv").write_text("0,1\n1,0\n", encoding="utf-8")
    assert Group.of(str(tmp_path / "table.csv")).products == Group.of(str(tmp_path / "plain.csv")).products
    (tmp_path / "elements").write_text("e\na\n", encoding="utf-8-sig")
    assert elements_in(tmp_path / "elements") == ("e", "a")


def test_a_long_list_of_elements_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "elements").write_bytes(b"a\n" * 2**20)
    with pytest.raises(ValueError, match="too many for the elements of a group"):
        elements_in(tmp_path / "elements")


def test_an_out_of_many_levels_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "m.pt").write_bytes(b"")
    assert main([str(tmp_path / "m.pt"), "--p", "13", "--out", "/".join("a" * 1500)]) == 2
    assert "nested folders, more than" in capsys.readouterr().err


def test_an_unknown_hook_is_refused() -> None:
    network = torch.nn.Sequential(torch.nn.Embedding(6, 8), torch.nn.Flatten(), torch.nn.Linear(16, 5))
    with pytest.raises(ValueError, match=r"there is no hook 'hook_embd'; did you mean 'hook_embed'\?"):
        explain(network, "add", 5, hooks={"hook_embd": "0"}, draws=99)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is UTF-8 or its like")
@pytest.mark.parametrize("ending", [b"safetensors", b"pt"])
def test_a_file_whose_name_is_not_utf8_is_read(ending: bytes, tmp_path: Path) -> None:
    weights = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(2, dtype=torch.float16)}
    plain = tmp_path / f"m.{ending.decode()}"
    if ending == b"pt":
        torch.save(weights, plain)
    else:
        plain.write_bytes(save(weights))
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/m\xff." + ending))
    plain.rename(strange)
    found = read_weights(strange)
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[name], w) for name, w in weights.items())
