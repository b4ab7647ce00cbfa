"""What was trained: the catalogue of named runs, their place on disk, and a trained run as an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import lazy_names

if TYPE_CHECKING:
    from modinterp.runs.catalogue import CATALOGUE, matching, named
    from modinterp.runs.run import NotRecorded, Snapshots, TrainedRun, load
    from modinterp.runs.trainer import train

_HOMES = {
    "CATALOGUE": "modinterp.runs.catalogue",
    "NotRecorded": "modinterp.runs.run",
    "Snapshots": "modinterp.runs.run",
    "TrainedRun": "modinterp.runs.run",
    "matching": "modinterp.runs.catalogue",
    "load": "modinterp.runs.run",
    "named": "modinterp.runs.catalogue",
    "train": "modinterp.runs.trainer",
}

__all__ = ["CATALOGUE", "NotRecorded", "Snapshots", "TrainedRun", "load", "matching", "named", "train"]

__getattr__ = lazy_names(__name__, _HOMES)
