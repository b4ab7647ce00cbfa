"""Every benchmark runs to its end at its smallest setting, and says what it compares."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import modinterp

ROOT = Path(__file__).parents[1]
NEEDS = {"cluster": "ray"}  # what does not come with the package, nor with its tests
PROGRAMS = sorted(path for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_benchmark_runs_and_says_what_it_compares(path: Path, tmp_path: Path) -> None:
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, path, "--smallest"], cwd=tmp_path, env=environment, capture_output=True,
                          text=True, check=False, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(rf"modinterp {modinterp.__version__}, Python 3\.\d+\.\d+, torch \d", done.stdout)
    assert not list(tmp_path.iterdir())
    assert not re.search(r"\b(nan|inf)\b", done.stdout)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_benchmark_documents_its_smallest_setting(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text()))
    assert text is not None
    assert f"python benchmarks/{path.name}" in text
    assert "[--smallest]" in text
