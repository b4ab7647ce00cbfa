"""Build, train, store and load runs; a run is a trained network with its training history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import lazy_names

if TYPE_CHECKING:
    from modinterp.runs.loading import load
    from modinterp.runs.own_run import own_split
    from modinterp.runs.run import NotRecorded, TrainedRun
    from modinterp.runs.snapshots import Snapshots
    from modinterp.runs.trainer import train

_HOMES = {
    "NotRecorded": "modinterp.runs.run",
    "Snapshots": "modinterp.runs.snapshots",
    "TrainedRun": "modinterp.runs.run",
    "load": "modinterp.runs.loading",
    "own_split": "modinterp.runs.own_run",
    "train": "modinterp.runs.trainer",
}

__all__ = ["NotRecorded", "Snapshots", "TrainedRun", "load", "own_split", "train"]

__getattr__ = lazy_names(__name__, _HOMES)
