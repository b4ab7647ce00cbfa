"""A source written from the template: it trains, is measured and reported, and each of its claims is a test."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from modinterp.commands.sources import main

ROOT = Path(__file__).parents[2]


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command where the new source is installed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-m", *arguments], cwd=folder, env=environment, capture_output=True,
                          text=True, check=False, timeout=300)  # fmt: skip


def test_from_nothing_to_a_report_and_tests(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    folder = tmp_path / "repository"
    assert main(["new", "tiny_paper", "--out", str(folder)]) == 0
    assert str(folder / "tiny_paper" / "claims.py") in capsys.readouterr().out
    entry = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]["modinterp.sources"]
    installed = folder / "tiny_paper-0.1.0.dist-info"  # what `pip install -e` writes
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny_paper\nVersion: 0.1.0\n")
    (installed / "entry_points.txt").write_text(f"[modinterp.sources]\ntiny_paper = {entry['tiny_paper']}\n")
    untrained = ran(folder, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert "3 skipped" in untrained.stdout, untrained.stdout
    done = ran(folder, "modinterp.runs", "train", "tiny_paper/*", "--device", "cpu", "--together", "2",
               "--out", "tiny_paper/checkpoints")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = ran(folder, "modinterp.reproduce", "tiny_paper")
    assert done.returncode == 0, done.stdout + done.stderr
    counted = "1 hold: mathematics and set-up, 1 hold in fewer than 8 seeds, 1 hold, also of controls"
    assert f"3 claims, 3 measurements: {counted}" in done.stdout
    assert "The title of your paper" in (folder / "reports/tiny_paper/index.html").read_text()
    claims = folder / "tiny_paper/claims.py"
    claims.write_text(claims.read_text().replace("equals(169", "equals(170"))
    wrong = ran(folder, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert "1 failed, 2 passed" in wrong.stdout, wrong.stdout
    assert "There are 13 x 13 pairs. refuted: pairs 169 (expected pairs 170" in wrong.stdout


@pytest.mark.parametrize(("name", "words"), [
    ("Your-Paper", "lower case letters, digits and underscores"), ("nanda", "exists already"), ("json", "exists already"), ("torch", "exists already"),
    ("../up", "lower case letters"), ("class", "lower case letters"),
])  # fmt: skip
def test_names_are_names(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", name]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "precious").write_text("mine")
    assert main(["new", "tiny_paper", "--out", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
