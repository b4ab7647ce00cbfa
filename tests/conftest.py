"""Runs and reference networks that several tests look at, each loaded once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from modinterp.lazy import staying
from modinterp.sources import sources

if TYPE_CHECKING:  # what is heavy is imported where tests run, and not by the process that hands them out
    from reproduced import Reproduced

    from modinterp.runs import TrainedRun
    from modinterp.tasks import Task

ROOT = Path(__file__).parents[1]
REPORT_OF = {  # files that look at the report of a source, where no parameter says which
    "tests/figures/test_figures.py": "nanda",
    "tests/reproduce/test_command.py": "nanda",
    "tests/sources/clock/test_pages.py": "clock",
    "tests/sources/nanda/test_printed.py": "nanda",
}
LONG = (  # what starts processes, trains for long or looks at networks of full size
    *(f"tests/{folder}" for folder in ("cluster", "compare", "distill", "explain", "publish", "reproduce", "sources", "terminal")),
    *(f"tests/runs/test_{name}.py" for name in ("damage", "foreign_files", "fuzz", "hub", "kill", "lease", "own_tasks", "sbatch", "search",
                                                "shipped", "slurm", "trainer", "unfinished", "watched")),
    *(f"tests/analyses/test_{name}.py" for name in ("bounds", "laws", "nothing_there", "nulls", "ordering", "planted",
                                                    "reference")),
    *(f"tests/test_{name}.py" for name in ("api_reference", "benchmarks", "types", "wheel")),
    *(f"tests/training/test_{name}.py" for name in ("architectures", "company")),
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the long tests, too")
    parser.addoption("--quick", action="store_true", help="run what takes a minute, before a commit")


def is_long(path: Path) -> bool:
    return bool({ROOT / name for name in LONG} & {path, *path.parents})


def looks_at_a_report(item: pytest.Item) -> bool:
    return "reproduced" in getattr(item, "fixturenames", ())


def pytest_collectstart() -> None:
    _prepare()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with staying():  # thousands of tests, and all that they import
        return (yield)


@cache
def _prepare() -> None:
    """What all tests need, in each process that collects them.

    First what modinterp stands on: what one of its modules is the first to import is compiled anew, as jaxtyping's hook
    gives the files of bytecode other names meanwhile.
    """
    import plotly.graph_objects  # noqa: F401
    import transformer_lens  # noqa: F401
    from hypothesis import settings

    from modinterp.training import prepare_cpu

    os.fsync = lambda _: None  # no test cuts the power, and waiting for the disk takes a third of a short training
    prepare_cpu()  # as every command does; a fifth of the time that reports take is the system handing out memory
    settings.register_profile("shared machine", deadline=None)
    settings.load_profile("shared machine")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("--quick") and is_long(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        long = {each for each in items if looks_at_a_report(each) or each.get_closest_marker("long")}
        config.hook.pytest_deselected(items=list(long))
        items[:] = [each for each in items if each not in long]
    # what takes long comes first, so that no process is left alone with it in the end
    items.sort(key=lambda each: (not looks_at_a_report(each), each.path.suffix == ".py" and not is_long(each.path)))
    if not config.getoption("--nightly"):
        for item in items:
            if item.get_closest_marker("nightly"):
                item.add_marker(pytest.mark.skip(reason="one of the long tests, which --nightly takes"))


class ByReport(LoadScopeScheduling):
    """Gives the tests of a file to one process, and so all that look at the report of one source, which is made once."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        return next((name for name in sources() if re.search(rf"\[{name}[].-]", test)), REPORT_OF.get(file, file))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByReport:
    config.option.loadscopereorder = False  # the order is that of `pytest_collection_modifyitems`
    return ByReport(config, log)


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Reproduced]:
    """Reproduces a source by its command, once for all tests that look at what it measures, draws or writes.

    Of two processes each is given the tests of one source after the other (`ByReport`), and lets the last report go.
    """
    from reproduced import reproduce

    kept = 1 if "PYTEST_XDIST_WORKER" in os.environ else None
    return lru_cache(kept)(lambda name: reproduce(name, tmp_path_factory.mktemp(name)))


@pytest.fixture
def as_for_users() -> Iterator[None]:
    """The annotations are checked by our tests alone, and would find most of what is wrong before the package does."""
    from jaxtyping import config as annotations

    annotations.update("jaxtyping_disable", True)
    yield
    annotations.update("jaxtyping_disable", False)


UNFOLDED = """
<script>
addEventListener("load", async () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  for (const { dataset } of document.querySelectorAll("script[data-plot]")) await drawing.draw(dataset.plot);
});
</script>
"""


@pytest.fixture
def browsed(tmp_path: Path) -> Callable[..., str]:
    """Opens a page in a headless Chromium and gives what it has become; no error may stand in its console.

    With `unfolded=True` everything on it is unfolded and drawn.
    """
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium here")

    def opened(page: Path, unfolded: bool = False) -> str:
        if unfolded:
            content = page.read_text().replace("</body>", f"{UNFOLDED}</body>")
            page = tmp_path / "unfolded.html"
            page.write_text(content)
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                   "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
                   "--virtual-time-budget=30000", "--window-size=1300,900", "--dump-dom", f"file://{page}"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
        errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "Error" in line]
        assert not errors, errors
        return done.stdout

    return opened


@pytest.fixture(scope="session")
def mainline() -> TrainedRun:
    """The shipped run of the paper's set-up."""
    from modinterp import runs

    return runs.load("nanda/mainline-0")


def _reference(name: str, task: Task) -> TrainedRun:
    from reference import REFERENCE

    from modinterp import runs

    path = REFERENCE / name
    if not path.is_file():
        pytest.skip("the reference networks are not at hand")
    return runs.load(path, task)


@pytest.fixture(scope="session")
def low_precision() -> TrainedRun:
    """Modular addition by the paper's own code with a float32 loss: the left-facing layout."""
    from modinterp import tasks

    return _reference("low_precision_mod_addition.pth", tasks.addition(113))


@pytest.fixture(scope="session")
def kissane() -> TrainedRun:
    """The network of the MLP notebook: the three-matrix layout."""
    from modinterp import tasks

    return _reference("modular_addition_2l_mlp_model.pt", tasks.ModularArithmetic(113, equals=False))


def _tiny(ask: str, folder: Path) -> TrainedRun:
    from modinterp import models, runs, tasks, training

    task = tasks.Ordering(ask, n=3, limit=8, size=500, small_limit=4)
    model = models.TransformerConfig.of(task, d_model=32, n_heads=2, d_head=8, d_mlp=32)
    recipe = training.Recipe(epochs=400, fraction=0.7, batches="shuffled", batch_size=128, lr=3e-3, weight_decay=0.1)
    runs.train({ask: training.RunSpec(task, model, recipe, seed=0)}, out=folder, progress=False)
    return runs.load(ask, root=folder)


@pytest.fixture(scope="session")
def tiny_max(tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    """The largest of three numbers below 8, learned in a second."""
    return _tiny("max", tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tiny_sort(tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    """Three numbers below 8 in order, said token by token."""
    return _tiny("sort", tmp_path_factory.mktemp("tiny"))
