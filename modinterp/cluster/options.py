"""Define the command-line options that send the work of a command to a cluster."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

RAY = "ray"


@dataclass(frozen=True)
class Share:
    """The cores and GPUs that one piece of work uses.

    Attributes:
        cpus: number of cores; the number of threads is this number rounded down, at least one.
        gpus: number of GPUs; with a fraction, several pieces of work share one GPU.
    """

    cpus: float = 1.0
    gpus: float = 0.0

    def __post_init__(self) -> None:
        for name in ("cpus", "gpus"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"--{name} must be a number of at least 0, got {getattr(self, name)}")
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise ValueError(f"--gpus must be a fraction of one GPU or a whole number of them, got {self.gpus}")

    @property
    def threads(self) -> int:
        """Return the number of threads that compute one piece of work."""
        return max(1, int(self.cpus))


def add_cluster_arguments(parser: argparse.ArgumentParser, piece: str) -> None:
    """Add `--on`, `--address`, `--cpus` and `--gpus` to a command.

    Args:
        piece: description of the work of one task, for the help text.
    """
    group = parser.add_argument_group("on a cluster (pip install 'modinterp[cluster]')")
    group.add_argument("--on", choices=[RAY], help=f"compute on Ray; one task is {piece} (default: this process alone)")
    group.add_argument("--address", metavar="HOST:PORT", help="the Ray cluster; auto finds one that runs here "
                       "(default: RAY_ADDRESS, else a Ray of this machine alone)")  # fmt: skip
    group.add_argument("--cpus", metavar="N", type=float, default=1.0, help="cores for each task (default: 1)")
    group.add_argument("--gpus", metavar="N", type=float,
                       help="GPUs for each task; 0.25 lets four tasks share a GPU (default: 1 on a GPU)")  # fmt: skip


def device_and_share(options: argparse.Namespace, has_gpus: bool) -> tuple[str, Share]:
    """Return the device of tasks, and the cores and GPUs of each task, from a command's options.

    Args:
        options: the command's options: `device`, and those of `add_cluster_arguments`.
        has_gpus: True if the cluster has GPUs; the device `auto` then uses them.
    Raises:
        ValueError: a number of cores or GPUs is negative, or more than one GPU is not a whole number.
    """
    takes_one = options.device.startswith("cuda") or (options.device == "auto" and has_gpus)
    share = Share(options.cpus, float(takes_one) if options.gpus is None else options.gpus)
    return ("cuda" if share.gpus else "cpu") if options.device == "auto" else options.device, share


def check_cluster_arguments(options: argparse.Namespace) -> None:
    """Raise ValueError if cluster options are given without a cluster."""
    if options.on is None and (options.address is not None or options.gpus is not None or options.cpus != 1):
        raise ValueError("--address, --cpus and --gpus need a cluster; add --on ray")
