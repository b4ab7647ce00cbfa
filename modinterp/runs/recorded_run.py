"""Open a run that a recorder writes, from the run's folder alone, during the training or afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import torch

from modinterp.models import Network, from_state_dict
from modinterp.runs.own_run import own_split
from modinterp.runs.run import TrainedRun
from modinterp.runs.snapshots import Snapshots
from modinterp.runs.weights import read_weights
from modinterp.tasks.description import task_from_description

MARK, HISTORY = "recorded.json", "history.csv"


def is_recorded(folder: Path) -> bool:
    """Return True if a folder was written by a recorder."""
    return (folder / MARK).is_file()


def recorded_run(folder: Path, name: str) -> TrainedRun:
    """Return the run that a recorder has written so far; the user's module is not needed.

    If modinterp knows the layout of the weights, the run has a network. If modinterp does not know the layout, the run
    has only its history.

    Raises:
        ValueError: the folder is damaged, or the class of its task cannot be imported.
    """
    try:
        mark = json.loads((folder / MARK).read_text(encoding="utf-8"))
        task, train = task_from_description(mark["task"]), torch.tensor(mark["train"], dtype=torch.long)
        history = pd.read_csv(folder / HISTORY) if (folder / HISTORY).is_file() else pd.DataFrame()
    except (KeyError, TypeError, json.JSONDecodeError, pd.errors.ParserError) as error:
        raise ValueError(f"{folder} is not a complete record of a training: {error}") from error
    files = {int(path.stem.removeprefix("step_")): path for path in folder.glob("step_*.safetensors")}
    snapshots = Snapshots(sorted(files), lambda step: read_weights(files[step]))
    network: Network | None = None
    if files:
        try:
            network = from_state_dict(snapshots[max(files)], task)
        except ValueError:  # a layout that is not read: its curves are there all the same
            snapshots = {}
    return TrainedRun(
        name, task, network, history=history, snapshots=snapshots, in_training=not mark.get("over", False),
        own_split=own_split(task, train), reopened=lambda weights: from_state_dict(weights, task),
    )  # fmt: skip
