"""Commands where the shell is not a friendly one: closed pipes, terminals without UTF-8, full disks, wild names."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import modinterp
from modinterp import runs
from modinterp.files import folder_name, write_atomically, write_together
from modinterp.models import TransformerConfig, initial_weights
from modinterp.tasks import addition
from modinterp.terminal.errors import BAD_USAGE, BROKEN_PIPE, one_line_errors, printable
from modinterp.training import Recipe, RunSpec

ROOT = Path(__file__).parents[2]
TASK = addition(5)
MODEL = TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12)
WILD = ["", ".", "..", "../../x", "/tmp/x", "a/../../x", "a//b", "a/", "/", "a\0b", "a\nb", "a\x1b[2J", "a\\b",
        "x" * 300, "con\r", " ", "a/.", "..\\x", "a/b/../../../c"]  # fmt: skip


def small(epochs: int = 2) -> RunSpec:
    return RunSpec(TASK, MODEL, Recipe(epochs=epochs), seed=0)


@pytest.mark.parametrize("name", WILD)
def test_a_name_that_is_a_path_or_holds_control_characters_is_refused(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out" / "here"
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        runs.train({name: small()}, out, device="cpu", progress=False)
    assert printable(str(caught.value)) == str(caught.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", [name for name in WILD if name])
def test_no_run_is_read_from_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        runs.load(name, root=tmp_path)
    assert "\n" not in str(caught.value)


def test_folders_of_files_never_collide_or_leave_their_root(tmp_path: Path) -> None:
    files = [tmp_path / part for part in ("...pt", "..pt", "a/m.pt", "b/m.pt", "m.safetensors", "m.pt", "\x1b[2J.pt", "ü.pt",
                                          "x" * 300 + ".pt", ".hidden.pt", "a b.pt", "a/../m.pth", "~.pt", "-rf.pt")]  # fmt: skip
    names = [folder_name(path) for path in files]
    assert len(set(names)) == len(names)
    for name in names:
        assert (tmp_path / name).parent == tmp_path
        assert (tmp_path / name).resolve().parent == tmp_path.resolve()
        assert printable(name) == name
        assert name[0] not in ".~-"
        assert len(name) < 120


def guarded(error: BaseException | None = None, text: str = "") -> int:
    @one_line_errors("stopped")
    def command() -> int:
        print(text)
        if error is not None:
            raise error
        return 0

    return command()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
def test_a_terminal_without_a_letter_gets_its_escape(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding=encoding))
    assert guarded(text="Syrkis & Søgaard: R² → 1 – ✓") == 0
    written = screen.getvalue().decode(encoding)
    assert "Syrkis & S" in written
    assert ("✓" in written) == (encoding == "utf-8")


def test_a_pipe_that_is_closed_ends_a_command_in_silence() -> None:
    command = [sys.executable, "-u", "-m", "modinterp"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    assert (process.wait(), said) == (BROKEN_PIPE, b"")


def test_a_full_disk_is_told_with_the_file_and_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "state.safetensors"
    write_atomically(file, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_atomically(file, b"new")
    assert guarded(caught.value) == BAD_USAGE
    assert capsys.readouterr().err == f"error: {file}: No space left on device\n"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert file.read_bytes() == b"old"


def test_a_disk_that_fills_in_between_keeps_all_files_of_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {tmp_path / "claims.csv": b"old", tmp_path / "tables" / "a.csv": b"old", tmp_path / "index.html": b"old"}
    write_together(old)
    synced: list[int] = []

    def fills(file: int) -> None:
        synced.append(file)
        if len(synced) == len(old):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fills)
    with pytest.raises(OSError, match=r"No space left on device: .*index\.html"):
        write_together(dict.fromkeys(old, b"new"))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == old


@pytest.mark.parametrize("device", ["meta", "cuda:99", "tpu", "", "cpu:x", "cpu "])
def test_a_device_that_computes_nothing_is_refused(device: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="device"):
        runs.train({"own/0": small()}, tmp_path, device=device, progress=False)
    assert not list(tmp_path.rglob("*.safetensors"))
    file = str(tmp_path / "m.pt")
    torch.save(dict(initial_weights(MODEL, 0)), file)
    with pytest.raises(ValueError, match="device"):
        modinterp.explain(file, op="add", p=TASK.p, device=device)


def test_a_tensor_of_tensors_in_a_file_is_refused(tmp_path: Path) -> None:
    weights = dict(initial_weights(MODEL, 0))
    nested = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])
    torch.save(weights | {"blocks.0.mlp.b_in": nested}, tmp_path / "m.pt")
    with pytest.raises(ValueError, match=r"^(?!.*\n)"):
        runs.load(tmp_path / "m.pt", TASK)


def test_too_little_memory_is_one_line(capsys: pytest.CaptureFixture) -> None:
    for error in (MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")):
        assert guarded(error) == BAD_USAGE
        assert capsys.readouterr().err.count("\n") == 1


def test_a_file_whose_name_holds_control_characters_is_called_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J.safetensors"
    runs.store.write_weights(path, initial_weights(MODEL, 0))
    assert runs.load(path, TASK).name == str(path).replace("\x1b", "\\x1b")
