"""Text is read and written as UTF-8 wherever the package runs: each call that opens text says so."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]


def unnamed(tree: ast.AST) -> list[int]:
    """Lines of the calls that open text without saying how it is encoded."""
    lines = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        modes = [x.value for x in (*call.args, *(k.value for k in call.keywords)) if isinstance(x, ast.Constant)]
        is_text = name in ("read_text", "write_text") or (
            name == "open"
            and isinstance(call.func, ast.Name)
            and not any(isinstance(mode, str) and "b" in mode for mode in modes)
        )
        if is_text and "encoding" not in [keyword.arg for keyword in call.keywords]:
            lines.append(call.lineno)
    return lines


def test_every_text_names_its_encoding() -> None:
    found = {
        str(path): lines
        for path in (ROOT / "make.py", *(ROOT / "modinterp").rglob("*.py"))
        if (lines := unnamed(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert not found


def test_a_locale_without_letters_beyond_ascii_is_enough(tmp_path: Path) -> None:
    from modinterp.models.planted import clock

    torch.save(dict(clock(13, (2, 5))[1].state_dict()), tmp_path / "clock.pt")
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-W", "error", "-m", "modinterp.explain", "clock.pt", "--p", "13", "--draws", "99"]
    done = subprocess.run([*command, "--out", "out"], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [("nanda", "--only", "fig3.left", "--workers", "1"), ("nanda", "--list")])
def test_reproduce_warns_of_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "modinterp.reproduce", *arguments, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
