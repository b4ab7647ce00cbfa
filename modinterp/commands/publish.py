"""`modinterp publish NAME ...` measures the progress of finished trainings and copies the runs into the checkpoints."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from modinterp.cluster.cores import set_threads
from modinterp.files import writable_folder
from modinterp.publish.publishing import has_both, measure_again, publish
from modinterp.publish.replacing import recover
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser, folder

GROUND_TRUTH = "ground-truth"  # in place of names of runs


def _arguments(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="""Copy finished runs to the checkpoints that a checkout ships.

Measures the progress of each run at all its snapshots, if it is not measured yet. Copies weights, history and
progress. Replaces a published run of the same name. Keeps the epochs of the old snapshots, unless --snapshots names
other epochs.""",
        epilog="""examples:
  %(prog)s mine/sums-0 --snapshots             with a dozen snapshots across the phases
  %(prog)s mine/sums-0 --snapshots 5000 20000
  %(prog)s 'mine/p53-*' --float16 --out shared  into a folder of your own
  %(prog)s ground-truth --help                 networks whose mechanism is known, for methods
  %(prog)s 'mine/p53-*' --hub me/sums          onto the Hub, for load("hf://me/sums/mine/p53-0")
  %(prog)s '*' --again                         after a measure was changed

exit code: 0 when all runs were published, 2 on bad usage, 130 after Ctrl-C.""",
    )
    option = parser.add_argument
    option("names", metavar="NAME", nargs="+", help="a run, such as SOURCE/RUN, or 'SOURCE/*' for all trained runs")
    runs_help = "where the runs were trained (default: trained/)"
    option("--runs", metavar="DIR", type=folder, default=Path("trained"), help=runs_help)
    out_help = "folder for the published runs (default: checkpoints/; with --hub a temporary folder)"
    option("--out", metavar="DIR", type=folder, help=out_help)
    snapshots_help = (
        "also publish the snapshots of these epochs, or of a dozen epochs (default: the epochs already published)"
    )
    option("--snapshots", metavar="EPOCH", type=int, nargs="*", help=snapshots_help)
    option("--no-spectra", action="store_true", help="leave out the logged spectra of the training")
    option("--hub", metavar="OWNER/REPO", help="upload to this repository of the Hugging Face Hub, with a card; needs "
           "HF_TOKEN (default: none)")  # fmt: skip
    option("--licence", metavar="NAME", default="mit", help="licence of the weights on the Hub (default: mit)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--float16", action="store_true", help=("publish the final weights as float16, in half the size"))
    size.add_argument("--tables", action="store_true",
                      help="publish history, progress and the measurements of claims, without the weights")  # fmt: skip
    option("--measured", action="store_true", help="publish the measurements of claims in addition to the weights")
    option(
        "--device",
        default="cpu",
        help="where networks are measured: cpu, cuda, or auto for a GPU if there is one (default: cpu)",
    )
    option("--again", action="store_true", help="measure published runs again, if they have weights and "
           "measurements, and replace the measurements")  # fmt: skip
    return parser


@one_line_errors("stopped; runs that were published earlier are unchanged")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.publish") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == [GROUND_TRUTH]:
        from modinterp.commands.publish_ground_truth import ground_truth

        return ground_truth(given[1:], f"{prog} {GROUND_TRUTH}")
    options = _arguments(prog).parse_args(given)
    from modinterp.runs import hub
    from modinterp.training import prepare_cpu

    if arguments is None:  # the process is the command's own
        prepare_cpu()
        set_threads()
    if options.hub is not None:  # before anything is measured
        hub.Address.parsed(f"{hub.SCHEME}{options.hub}")
    if options.again:
        beside = ("snapshots", "no_spectra", "hub", "float16", "tables", "measured")
        if given_too := [
            f"--{name.replace('_', '-')}" for name in beside if getattr(options, name) not in (None, False)
        ]:
            raise ValueError(
                f"--again measures runs with the settings of their publication; it takes no {given_too[0]}"
            )
        out = options.out or _checkpoints()
        recover(out)
        for name in _finished(options.names, out, has_both):
            print(measure_again(name, out))
        return 0
    names = _finished(options.names, options.runs)
    what = (options.snapshots, options.float16, options.tables, not options.no_spectra, options.measured,
            options.device)  # fmt: skip
    with ExitStack() as kept:
        if options.out is not None:
            out = writable_folder(options.out)
        elif options.hub:
            out = Path(kept.enter_context(TemporaryDirectory()))
        else:
            out = _checkpoints()
        recover(out)
        for name in names:
            folder = publish(name, options.runs, out, *what)
            if options.out is not None or not options.hub:
                print(folder)
        if options.hub:
            from modinterp.publish.repository import upload, write_repository

            write_repository(options.hub, names, out, options.licence)
            print(upload(options.hub, out, names))
    return 0


def _checkpoints() -> Path:
    """The folder that published runs go to where nothing names another."""
    from modinterp.runs import store

    try:
        out = store.checkpoints()
    except store.NoCheckpoints:
        raise ValueError("there is no checkout to publish into; name a folder with --out") from None
    if not out.is_dir():
        raise ValueError(f"there is no folder {out} to publish into; name another folder with --out")
    return out


def _finished(
    patterns: Sequence[str], runs: Path, is_meant: Callable[[str, Path], bool] = lambda name, runs: True
) -> list[str]:
    """The names of the finished runs that patterns fit; a name without a star is that of one run, finished or not.

    Args:
        is_meant: which of the runs that a pattern with a star fits, by name and folder.
    """
    from modinterp.runs import store

    found = []
    for pattern in patterns:
        names = [pattern]
        if "*" in pattern:
            names = [name for name in fnmatch.filter(store.run_names(runs), pattern) if is_meant(name, runs)]
        if not names:
            shown = f"`python -m modinterp.runs list --runs {runs}` shows what is trained"
            raise ValueError(f"no trained run in {runs} fits {pattern!r}; {shown}")
        found += names
    return found
