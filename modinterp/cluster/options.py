"""The options by which a command hands its work to a cluster."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

RAY = "ray"


@dataclass(frozen=True)
class Share:
    """Cores and GPUs of one piece of work.

    Attributes:
        cpus: cores; at least one thread, and a whole number of threads, compute on them.
        gpus: GPUs; a fraction lets several pieces share one.
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
        """How many threads compute."""
        return max(1, int(self.cpus))


def add_cluster_arguments(parser: argparse.ArgumentParser, piece: str) -> None:
    """Add `--on`, `--address`, `--cpus` and `--gpus` to a command.

    Args:
        piece: description of the work of one task, in words.
    """
    group = parser.add_argument_group("on a cluster (pip install 'modinterp[cluster]')")
    group.add_argument("--on", choices=[RAY], help=f"compute on Ray; one task is {piece} (default: this process alone)")
    group.add_argument("--address", metavar="HOST:PORT", help="the Ray cluster; auto finds one that runs here "
                       "(default: RAY_ADDRESS, else a Ray of this machine alone)")  # fmt: skip
    group.add_argument("--cpus", metavar="N", type=float, default=1.0, help="cores for each task (default: 1)")
    group.add_argument("--gpus", metavar="N", type=float,
                       help="GPUs for each task; 0.25 lets four tasks share a GPU (default: 1 on a GPU)")  # fmt: skip


def device_and_share(options: argparse.Namespace, has_gpus: bool) -> tuple[str, Share]:
    """The device of tasks, and the cores and GPUs of each, from the options of a command.

    Args:
        options: with `device`, beside those of `add_cluster_arguments`.
        has_gpus: whether the cluster has GPUs, which `auto` then takes.
    Raises:
        ValueError: less than nothing, or several GPUs and a fraction.
    """
    takes_one = options.device.startswith("cuda") or (options.device == "auto" and has_gpus)
    share = Share(options.cpus, float(takes_one) if options.gpus is None else options.gpus)
    return ("cuda" if share.gpus else "cpu") if options.device == "auto" else options.device, share


def check_cluster_arguments(options: argparse.Namespace) -> None:
    """Raise ValueError where options of a cluster are given without a cluster."""
    if options.on is None and (options.address is not None or options.gpus is not None or options.cpus != 1):
        raise ValueError("--address, --cpus and --gpus need a cluster; add --on ray")
