"""Types: pyright finds nothing, in a process of its own, beside which other tests run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_pyright_finds_nothing() -> None:
    pytest.importorskip("pyright")
    if not (ROOT / ".venv").exists():
        pytest.skip("it looks at the libraries of the environment that make.py makes")
    done = subprocess.run([sys.executable, "-m", "pyright"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
