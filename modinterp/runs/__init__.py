"""What was trained: the catalogue of named runs, their place on disk, and a trained run as an object."""

from modinterp.runs.catalogue import CATALOGUE, named
from modinterp.runs.run import Snapshots, TrainedRun, load
from modinterp.runs.trainer import train

__all__ = ["CATALOGUE", "Snapshots", "TrainedRun", "load", "named", "train"]
