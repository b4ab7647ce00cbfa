"""Runs and reference networks that several tests look at, each loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from modinterp import runs, tasks
from modinterp.runs import TrainedRun

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT.parent / "shared" / "reference"


@pytest.fixture(scope="session")
def mainline() -> TrainedRun:
    """The shipped run of the paper's set-up."""
    return runs.load("nanda/mainline-0")


def _reference(name: str, task: tasks.Task) -> TrainedRun:
    path = REFERENCE / name
    if not path.is_file():
        pytest.skip("the reference networks are not at hand")
    return runs.load(path, task)


@pytest.fixture(scope="session")
def low_precision() -> TrainedRun:
    """Modular addition by the paper's own code with a float32 loss: the left-facing layout."""
    return _reference("low_precision_mod_addition.pth", tasks.addition(113))


@pytest.fixture(scope="session")
def kissane() -> TrainedRun:
    """The network of the MLP notebook: the three-matrix layout."""
    return _reference("modular_addition_2l_mlp_model.pt", tasks.ModularArithmetic(113, equals=False))
