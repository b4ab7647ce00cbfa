"""A source in a package of its own: installed beside modinterp, it is found by every command."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = {
    "tinypaper/__init__.py": '"""A paper that says that parity can be learned."""',
    "tinypaper/source.py": '''
        """The source."""
        from modinterp.sources import Source

        SOURCE = Source(name="tinypaper", package=__package__, title="Parity is learned", citation="Nobody 2024",
                        main_run="tinypaper/first-0")
        ''',
    "tinypaper/tasks.py": '''
        """A task of its own."""
        from dataclasses import dataclass

        import torch
        from modinterp.tasks import Task


        @dataclass(frozen=True)
        class Parity(Task):
            """Whether a + b is even, for all pairs below n."""

            n: int = 6

            @property
            def name(self):
                return f"parity of two numbers below {self.n}"

            @property
            def d_vocab(self):
                return self.n

            @property
            def d_vocab_out(self):
                return 2

            @property
            def n_ctx(self):
                return 2

            @property
            def grid(self):
                return (self.n, self.n)

            def inputs(self):
                return torch.cartesian_prod(torch.arange(self.n), torch.arange(self.n))

            def labels(self):
                return self.inputs().sum(dim=1, keepdim=True) % 2
        ''',
    "tinypaper/runs.py": '''
        """One run."""
        from modinterp.models import TransformerConfig
        from modinterp.runs.family import family
        from modinterp.training import Recipe
        from tinypaper.tasks import Parity

        TASK = Parity()
        RUNS = family("tinypaper/first", TASK, TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=32),
                      Recipe(epochs=150, fraction=0.8, lr=1e-2, weight_decay=0.0, log_every=10, snapshot_every=50))
        ''',
    "tinypaper/claims.py": '''
        """Three claims."""
        from modinterp.claims import Claim, at_least, at_most, equals

        TRAIN, LOSS, PAIRS = "train accuracy", "train loss", "pairs"
        RUN = ("tinypaper/first-0",)


        def _end(m):
            last = m.history.iloc[-1]
            return {TRAIN: last["train_accuracy"], LOSS: last["train_loss"]}


        CLAIMS = (
            Claim(id="tinypaper.learned", where="section 1", statement="Parity is learned.", source_says="100%",
                  measure=_end, expected={TRAIN: at_least(0.99, "as the paper says")}, needs=RUN, figure="curves"),
            Claim(id="tinypaper.loss", where="section 1", statement="The loss is small.", source_says="small",
                  measure=_end, expected={LOSS: at_most(0.1, "small")}, needs=RUN, figure="curves"),
            Claim(id="tinypaper.pairs", where="section 2", statement="There are 36 pairs.", source_says="36",
                  measure=lambda m: {PAIRS: len(m.labels)}, expected={PAIRS: equals(36)}, needs=RUN, scope="any network"),
        )
        ''',
    "tinypaper/drawings.py": '''
        """One figure."""
        from modinterp.figures import history
        from modinterp.sources import Drawing

        FIGURES = {"curves": Drawing(number="Figure 1", draw=lambda m: history.curves({m.name: m.history}))}
        ''',
    "tinypaper-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinypaper\nVersion: 1.0\n",
    "tinypaper-1.0.dist-info/entry_points.txt": "[modinterp.sources]\ntinypaper = tinypaper.source:SOURCE\n",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip would fill it, with one trained run in the package."""
    site = tmp_path_factory.mktemp("site")
    for name, text in PACKAGE.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip())
    done = command(site, "modinterp.runs", "train", "tinypaper/first-0", "--device", "cpu",
                   "--out", str(site / "tinypaper" / "checkpoints"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    return site


def command(site: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of modinterp where the package is installed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=site, env=environment, capture_output=True,
                          text=True, check=False, timeout=300)  # fmt: skip


def test_it_is_reproduced_like_any_other(installed: Path, tmp_path: Path) -> None:
    done = command(installed, "modinterp.reproduce", "tinypaper", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "tinypaper: 3 claims, 3 measurements: 1 hold: mathematics and set-up, 2 hold in fewer than 8 seeds"
        in done.stdout
    )
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert [(c["id"], c["verdict"]) for c in claims] == [
        ("tinypaper.learned", "holds"), ("tinypaper.loss", "holds"), ("tinypaper.pairs", "holds")]  # fmt: skip
    page = (tmp_path / "index.html").read_text()
    assert "<h1>Parity is learned" in page
    assert "Nobody 2024" in page
    assert "class='plot'" in page
    assert len(list(csv.reader((tmp_path / "claims.csv").open()))) == 4


def test_its_runs_are_listed_with_what_needs_them(installed: Path) -> None:
    done = command(installed, "modinterp.runs", "list", "tinypaper/*")
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[1]
    assert "trained, " in row
    assert "3 claims: tinypaper.learned tinypaper.loss tinypaper.pairs; tinypaper: Figure 1" in row
    assert "tinypaper  Parity is learned (Nobody 2024)" in command(installed, "modinterp.reproduce", "--help").stdout


def test_its_run_is_loaded_with_its_own_task(installed: Path) -> None:
    code = (
        "import modinterp as mi; r = mi.load('tinypaper/first-0'); print(r); print(mi.measure(r).grokking is not None)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tinypaper/first-0: parity of two numbers below 6, ")


@pytest.mark.parametrize(("old", "new", "words"), [
    ('figure="curves"', 'figure="curve"', "is shown by the figure 'curve', which tinypaper does not have"),
    ('RUN = ("tinypaper/first-0",)', 'RUN = ("tinypaper/second-0",)', "needs tinypaper/second-0, which tinypaper does not have"),
    ('id="tinypaper.loss"', 'id="tinypaper.learned"', "tinypaper.learned is not a valid new claim id"),
])  # fmt: skip
def test_a_wrong_name_fails_when_the_source_is_used(tmp_path: Path, old: str, new: str, words: str) -> None:
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip().replace(old, new))
    done = command(tmp_path, "modinterp.reproduce", "tinypaper", "--list")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def broken(folder: Path, file: str, old: str, new: str) -> Path:
    for name, text in PACKAGE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            dedent(text).lstrip().replace(old, new) if name == f"tinypaper/{file}.py" else dedent(text).lstrip()
        )
    return folder


@pytest.mark.parametrize(("file", "old", "new", "words"), [
    ("source", 'name="tinypaper"', 'name="nanda"', "registers the source nanda, but another source has this name"),
    ("source", "SOURCE = Source(", "SOURCE = dict(", "does not name a Source"),
    ("source", "from modinterp.sources import Source", "import nothing_there", "No module named 'nothing_there'"),
    ("source", "from modinterp.sources import Source", "raise SystemExit(7)", "SystemExit: 7"),
    ("runs", "TASK = Parity()", "TASK = Party()", "tinypaper.runs cannot be imported: NameError"),
    ("runs", "RUNS = ", "RUN = ", "has no attribute 'RUNS'"),
])  # fmt: skip
def test_a_broken_source_is_named_in_one_line_and_skipped(
    file: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    site = broken(tmp_path, file, old, new)
    for module, *arguments in (
        ("modinterp.runs", "list", "nanda/mainline-0"),
        ("modinterp.sources", "list"),
        ("modinterp.reproduce", "nanda", "--only", "fig3.left"),
    ):
        done = command(site, module, *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("\n") <= 1
        if module != "modinterp.sources" or file == "source":
            assert done.stderr.startswith("warning: the installed source tinypaper")
            assert words in done.stderr


def test_a_source_whose_claims_break_is_named_where_all_are_asked(tmp_path: Path) -> None:
    site = broken(tmp_path, "claims", "RUN = (", "RUN = oops(")
    done = command(site, "modinterp.reproduce", "all", "--only", "fig3.left", "--list")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "is skipped: tinypaper.claims cannot be imported: NameError" in done.stderr
    done = command(site, "modinterp.reproduce", "tinypaper", "--list")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
