"""Define the arguments of the commands `modinterp runs ...`."""

from __future__ import annotations

import argparse
from pathlib import Path

from modinterp.cluster.options import add_cluster_arguments
from modinterp.terminal.parser import folder

DEVICE = {"default": "auto", "help": "cpu, cuda, or auto for the GPU if there is one (default: auto)"}


def list_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `modinterp runs list`: names of runs, and the folder that contains them."""
    parser.add_argument("names", metavar="NAME", nargs="*", default=["*"],
                        help="runs, or patterns such as 'SOURCE/*' (default: all)")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", help="folder to look in, or hf://OWNER/REPO on the Hub "
                        "(default: checkpoints/)")  # fmt: skip


def _what_to_train(parser: argparse.ArgumentParser) -> None:
    """The arguments of all commands that train runs of the catalogue, or write down how."""
    parser.add_argument("names", metavar="NAME", nargs="+",
                        help="a run, or a pattern such as 'SOURCE/*' or '*'")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=folder, default=Path("trained"),
                        help="folder for the runs (default: trained/)")  # fmt: skip
    parser.add_argument("--device", **DEVICE)
    parser.add_argument("--together", metavar="N", type=int, help="how many runs of one shape train at once "
                        "(default: 64 on a GPU, 1 on a CPU)")  # fmt: skip
    parser.add_argument("--epochs", metavar="N", type=int,
                        help="number of epochs (default: as in the source)")  # fmt: skip
    parser.add_argument("--repair", action="store_true", help="train again the runs whose files are damaged")


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `modinterp runs check`: names of runs, and the folder that contains them."""
    parser.add_argument("names", metavar="NAME", nargs="*", default=["*"],
                        help="runs, or patterns such as 'SOURCE/*' (default: all)")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", type=folder, help="folder to look in (default: checkpoints/)")


def watch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `modinterp runs watch`: the run, its folder, and the folder for the page."""
    parser.add_argument("name", metavar="NAME", help="the name of the run, as in `runs train`")
    parser.add_argument("--runs", metavar="DIR", type=folder, default=Path("trained"),
                        help="folder in which the run trains (default: trained/)")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=folder, help="folder for the page "
                        "(default: reports/watch/NAME)")  # fmt: skip
    parser.add_argument("--every", metavar="S", type=float, default=5.0,
                        help=(
                            "seconds between two updates of the page (default: 5; training writes its state "
                            "every 20)"
                        ))  # fmt: skip
    parser.add_argument(
        "--once", action="store_true", help=("write the page once, and do not wait for the training to end")
    )


def train_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `modinterp runs train`: names of runs, settings of the training, and the cluster."""
    _what_to_train(parser)
    parser.add_argument("--threads", metavar="N", type=int, help=(
        "number of threads of one process on a CPU, which changes the last bits of the results (default: for "
        "one run torch's choice; for several runs one thread in each process, and one process for each free "
        "core)"
    ))  # fmt: skip
    add_cluster_arguments(parser, "a group of runs of one shape")


def sbatch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `modinterp runs sbatch`: names of runs, settings of the training, and resources of a job."""
    _what_to_train(parser)
    parser.add_argument("--script", metavar="FILE", type=Path, help="the script to write (default: standard output)")
    parser.add_argument("--time", metavar="T", default="4:00:00", help="time limit of a job (default: 4:00:00)")
    parser.add_argument("--cpus", metavar="N", type=int, default=1, help="cores of a job (default: 1)")
    parser.add_argument("--gpus", metavar="N", type=int, default=0, help="GPUs of a job (default: 0)")
    parser.add_argument("--sbatch", metavar="OPTION", action="append", default=[],
                        help="a further option of sbatch, such as --sbatch=--partition=short (default: "
                            "none)")  # fmt: skip


def search_arguments(parser: argparse.ArgumentParser, searchable: list[str]) -> None:
    """Add the arguments of `modinterp runs search`: the search space, the length of the search, and the cluster.

    Args:
        searchable: names of the sources that define a search space.
    """
    parser.add_argument("source", choices=searchable, help="the source whose hyper-parameters are searched")
    parser.add_argument("--p", metavar="P", type=int, default=23, help="modulus of the task (default: 23)")
    parser.add_argument("--trials", metavar="N", type=int, default=24,
                        help="trials of the study in total, with those already done (default: 24)")  # fmt: skip
    parser.add_argument("--epochs", metavar="E", type=int, default=4096, help="epochs of each trial (default: 4096)")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="seed of networks and search (default: 0)")
    parser.add_argument("--storage", metavar="FILE", type=Path, help="journal of the study; several processes and "
                        "machines may share it (default: study.journal in the folder of --out)")  # fmt: skip
    parser.add_argument(
        "--out", metavar="DIR", type=folder, help="folder for the results (default: trained/SOURCE/search-pP)"
    )
    parser.add_argument("--device", **DEVICE)
    add_cluster_arguments(parser, "a worker of the study")
