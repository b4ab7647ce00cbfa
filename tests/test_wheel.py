"""The package installed from a wheel, somewhere else: nothing of the checkout is there, and nothing is written into it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from modinterp.models import TransformerConfig, initial_weights
from modinterp.runs import store
from modinterp.tasks import addition

ROOT = Path(__file__).parents[1]


def pip(*arguments: str | Path) -> None:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    done = subprocess.run([sys.executable, "-m", "pip", *arguments, *quiet], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (find_spec("pip") and find_spec("hatchling")):
        pytest.skip("pip and hatchling build a wheel")
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", ROOT, "--no-build-isolation", "--wheel-dir", folder)
    return next(folder.glob("modinterp-*.whl"))


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    pip("install", wheel, "--target", wheel.parent / "site", "--no-compile")
    return wheel.parent / "site"


def said(site: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command says, of the installed package alone: neither the checkout nor the current folder is on the path."""
    own = {name: x for name, x in os.environ.items() if not name.startswith(("MODINTERP", "PYTHON", "JAXTYPING"))}
    own |= {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-P", "-m", *arguments], cwd=cwd, env=own, capture_output=True, text=True)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"modinterp"}
    tracked = subprocess.run(["git", "ls-files", "modinterp"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:  # or this is no checkout, but an archive of one
        assert {name for name in names if ".dist-info/" not in name} >= set(tracked.stdout.split())


def test_an_installed_package_says_what_is_missing_and_works_from_any_folder(site: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    script = subprocess.run([sys.executable, site / "bin/modinterp", "explian"], cwd=tmp_path, capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"})  # fmt: skip
    assert script.returncode == 2
    assert (
        script.stderr == "error: no command 'explian'; did you mean 'explain'? `modinterp --help` lists all commands\n"
    )
    missing = said(site, tmp_path, "modinterp.reproduce", "nanda")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith(
        "error: published runs do not come with the package: set MODINTERP_CHECKPOINTS to "
    )
    assert "`python -m modinterp.runs train 'nanda/*' --out trained` trains them" in missing.stderr
    assert missing.stderr.count("\n") == 1
    trained = said(site, tmp_path, "modinterp.runs", "train", "mlp/kissane-0", "--epochs", "2")
    assert trained.returncode == 0, trained.stderr
    assert (tmp_path / "trained/mlp/kissane-0" / store.RECORD).is_file()
    nowhere = said(site, tmp_path, "modinterp.publish", "mlp/kissane-0")
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (2, 1)
    assert "name a folder with --out" in nowhere.stderr
    published = said(site, tmp_path, "modinterp.publish", "mlp/kissane-0", "--out", "published")
    assert published.returncode == 0, published.stderr
    checked = said(site, tmp_path, "modinterp.runs", "check", "--runs", "published")
    assert checked.returncode == 0, checked.stderr
    assert "whole" in checked.stdout
    config = TransformerConfig.of(addition(7), d_model=8, n_heads=2, d_head=4, d_mlp=6)
    store.write_weights(tmp_path / "m.safetensors", initial_weights(config, 0))
    explained = said(site, tmp_path, "modinterp.explain", "m.safetensors", "--draws", "99")
    assert explained.returncode == 0, explained.stderr
    assert list((tmp_path / "reports").rglob("*.html"))
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before
    assert {path.name for path in tmp_path.iterdir()} == {"trained", "published", "reports", "m.safetensors"}
