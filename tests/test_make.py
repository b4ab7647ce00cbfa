"""What make.py installs and when, with a pip that only takes notes; and that it recovers from every interruption."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path

import pytest

MAKE = Path(__file__).parents[1] / "make.py"
COMMANDS, ALL = "requirements.lock", "requirements-test.lock"
SIDE_BY_SIDE = "pip . + pip {} + pip torch"
INSTALLED = f"{SIDE_BY_SIDE} + pip torch".format(COMMANDS)
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are links and signals of POSIX")

# `python -m` looks into the current folder first, so that these modules stand in for venv, pip and what is run
STAND_INS = {
    "venv.py": """
        import pathlib, sys, time
        folder = pathlib.Path(sys.argv[1]) / "bin"
        folder.mkdir(parents=True)
        wait("venv")
        (folder / "python").symlink_to(sys.executable)
        (folder.parent / "pip").touch()
        note("venv")
    """,
    "pip.py": """
        import pathlib, sys
        if not pathlib.Path(".venv/pip").exists():
            sys.exit("No module named pip")
        if "--version" not in sys.argv:
            assert "--no-compile" in sys.argv
            locks = [each for each in sys.argv if each.endswith(".lock")]
            half = pathlib.Path(".venv/site-packages/half-1.dist-info")
            half.mkdir(parents=True, exist_ok=True)
            wait("pip")
            (half / "RECORD").touch()
            note("pip", *(locks or sys.argv[-1:]))
            if locks and pathlib.Path("broken").exists():
                sys.exit("no matching distribution")
    """,
    "modinterp/reproduce.py": """
        import sys
        note("reproduce", *sys.argv[1:])
        wait("reproduce")
    """,
    "modinterp/sources.py": "def sources(): return dict.fromkeys(['tiny'])",
    "modinterp/__init__.py": "",
    "sphinx.py": "note('sphinx')",
}
SHARED = """
import pathlib, time
def note(*words):
    with open("notes", "a") as file:
        print(*words, file=file)
def wait(where):
    pathlib.Path("at").write_text(where)
    while pathlib.Path("stop at").exists() and pathlib.Path("stop at").read_text() == where:
        time.sleep(0.01)
"""


class Checkout:
    """A folder with make.py and the stand-ins."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.environment, self.stamp = folder / ".venv", folder / ".venv" / "installed"
        shutil.copy(MAKE, folder)
        for name, text in STAND_INS.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            lines = text.strip("\n").splitlines()
            indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
            path.write_text("\n".join([SHARED, *(line[indent:] for line in lines)]))
        for name in ("pyproject.toml", "constraints.txt", COMMANDS, ALL):
            (folder / name).write_text("")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [sys.executable, "make.py", *arguments]
        return subprocess.Popen(command, cwd=self.folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit code, and what it printed as an error."""
        process = self.start(*arguments)
        _, errors = process.communicate(timeout=30)
        return process.returncode, errors

    def stopped(self, where: str, number: signal.Signals, group: bool = True) -> tuple[int, str]:
        """The same of a command that got a signal in a step, as did the step itself if it is one to the group."""
        (self.folder / "at").unlink(missing_ok=True)
        (self.folder / "stop at").write_text(where)
        process = self.start("tiny")
        try:
            until(lambda: (self.folder / "at").exists() and (self.folder / "at").read_text() == where)
            (os.killpg if group else os.kill)(process.pid, number)
            process.wait(timeout=30)
        finally:
            (self.folder / "stop at").unlink()
        _, errors = process.communicate(timeout=30)
        return process.returncode, errors

    def notes(self) -> list[str]:
        """What was done since the last look; what pip did side by side is one entry."""
        path = self.folder / "notes"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        grouped = [(kind, list(group)) for kind, group in groupby(lines, lambda line: line.split()[0])]
        joined = {"pip": lambda group: [" + ".join([*sorted(group[:3]), *group[3:]])]}
        return [line for kind, group in grouped for line in joined.get(kind, list)(group)]


def until(condition) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_source_installs_less_than_the_tests_and_what_is_there_is_enough(checkout: Checkout) -> None:
    assert checkout.run("tiny", "--list") == (0, "")
    assert checkout.notes() == ["venv", INSTALLED, "reproduce tiny --list"]
    assert checkout.run("all") == (0, "")
    assert checkout.notes() == ["reproduce all"]
    assert checkout.run("docs") == (0, "")
    assert checkout.notes() == [INSTALLED.replace(COMMANDS, f"{COMMANDS} {ALL}"), "sphinx"]
    assert checkout.run("tiny") == (0, "")  # everything includes what a source needs
    assert checkout.notes() == ["reproduce tiny"]
    for name in ("pyproject.toml", "constraints.txt", COMMANDS, ALL):
        (checkout.folder / name).write_text("# changed")
        assert checkout.run("tiny") == (0, "")
        assert checkout.notes() == [INSTALLED, "reproduce tiny"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda each: each.name)
@pytest.mark.parametrize("where", ["venv", "pip"])
def test_an_interrupted_installation_is_made_anew(checkout: Checkout, where: str, number: signal.Signals) -> None:
    code, errors = checkout.stopped(where, number)
    if number is signal.SIGINT:
        assert (code, errors) == (130, "interrupted; run the same command to go on\n")
    checkout.notes()
    assert checkout.run("tiny") == (0, "")
    assert checkout.notes() == ["venv", INSTALLED, "reproduce tiny"]
    assert checkout.run("tiny") == (0, "")
    assert checkout.notes() == ["reproduce tiny"]


def test_an_interrupted_update_is_not_taken_for_what_was_there_before(checkout: Checkout) -> None:
    """Back at the first commit, the packages of the second one would be used."""
    checkout.run("tiny")
    (checkout.folder / COMMANDS).write_text("# the second commit")
    checkout.stopped("pip", signal.SIGKILL)
    (checkout.folder / COMMANDS).write_text("")
    checkout.notes()
    assert checkout.run("tiny") == (0, "")
    assert checkout.notes() == ["venv", INSTALLED, "reproduce tiny"]


def test_removing_a_broken_environment_may_be_interrupted_too(checkout: Checkout) -> None:
    checkout.stopped("pip", signal.SIGKILL)
    shutil.rmtree(checkout.environment / "bin")  # as far as it came: the stamp goes last
    assert checkout.stamp.read_text() == "unfinished"
    assert checkout.run("tiny") == (0, "")


@pytest.mark.parametrize(
    "left", ["nothing", "an empty folder", "a folder bin", "no pip", "no Python", "an empty stamp"]
)
def test_whatever_is_left_without_a_stamp_or_a_python_is_made_anew(checkout: Checkout, left: str) -> None:
    """`make.py` once took a folder `bin` for an environment: pip was missing from then on."""
    if left in ("no pip", "no Python", "an empty stamp"):
        checkout.run("tiny")
        checkout.notes()
        shutil.rmtree(checkout.environment / "site-packages")
    if left == "no pip":
        (checkout.environment / "pip").unlink()
        checkout.stamp.unlink()
    elif left == "no Python":  # such as one that was updated away
        (checkout.environment / "bin" / "python").unlink()
    elif left == "an empty stamp":
        checkout.stamp.write_text("")
    elif left == "an empty folder":
        checkout.environment.mkdir()
    elif left == "a folder bin":
        (checkout.environment / "bin").mkdir(parents=True)
    assert checkout.run("tiny") == (0, "")
    assert checkout.notes() == ["venv", INSTALLED, "reproduce tiny"]


def test_an_environment_that_somebody_else_made_is_not_removed(checkout: Checkout) -> None:
    theirs = checkout.environment / "site-packages" / "torch-2.9.dist-info"
    theirs.mkdir(parents=True)
    code, errors = checkout.run("tiny")
    assert (code, errors.count("\n")) == (2, 1)
    assert "make.py did not make .venv" in errors
    assert theirs.is_dir()


def test_a_pip_that_fails_says_why_and_leaves_the_environment(checkout: Checkout) -> None:
    (checkout.folder / "broken").touch()
    code, errors = checkout.run("tiny")
    assert (code, errors) == (
        2,
        "no matching distribution\nerror: python -m pip install failed; its messages stand above\n",
    )
    (checkout.folder / "broken").unlink()
    checkout.notes()
    assert checkout.run("tiny") == (0, "")
    assert checkout.notes() == [INSTALLED, "reproduce tiny"]


def test_a_second_make_waits_for_a_pip_that_outlived_the_first(checkout: Checkout) -> None:
    (checkout.folder / "stop at").write_text("pip")
    first = checkout.start("tiny")
    until(lambda: (checkout.folder / "at").exists() and (checkout.folder / "at").read_text() == "pip")
    first.kill()  # alone: its pip goes on
    second = checkout.start("tiny")
    assert second.stdout
    assert second.stdout.readline() == "waiting for another make.py, which is installing\n"
    (checkout.folder / "stop at").unlink()
    assert second.wait(timeout=30) == 0
    assert checkout.notes() == ["venv", SIDE_BY_SIDE.format(COMMANDS), "venv", INSTALLED, "reproduce tiny"]
    first.communicate()
    second.communicate()


def test_a_command_that_is_interrupted_speaks_for_itself(checkout: Checkout) -> None:
    checkout.run("tiny")
    (checkout.folder / "modinterp" / "reproduce.py").write_text(
        f"{SHARED}\ntry: wait('reproduce')\nexcept KeyboardInterrupt: raise SystemExit('stopped by its user')"
    )
    assert checkout.stopped("reproduce", signal.SIGINT) == (1, "stopped by its user\n")


def test_a_python_without_ensurepip_says_what_to_install(checkout: Checkout) -> None:
    """As on an Ubuntu without the package python3-venv."""
    without = "import sys, runpy; sys.modules['ensurepip'] = None; sys.argv = ['make.py', 'tiny']; "
    command = [sys.executable, "-c", f"{without}runpy.run_path('make.py', run_name='__main__')"]
    done = subprocess.run(command, cwd=checkout.folder, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"apt install python3.{sys.version_info[1]}-venv" in done.stderr


def test_an_older_python_is_told_so_before_anything_is_imported(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Every statement of the file is one of Python 3.9, and the package is imported after the version was looked at."""
    tree = ast.parse(MAKE.read_text(encoding="utf-8"), feature_version=(3, 9))
    modules = {
        name for node in tree.body if isinstance(node, ast.Import) for name in (each.name for each in node.names)
    }
    modules |= {str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names
    specification = importlib.util.spec_from_file_location("make", MAKE)
    assert specification
    assert specification.loader
    make = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(make)
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    monkeypatch.setattr(sys, "version", "3.9.18 (main)")
    with pytest.raises(SystemExit) as stop:
        make.main(["tiny"])
    assert stop.value.code == 2
    assert capsys.readouterr().err == "error: Python 3.11 or newer is needed, this is 3.9.18\n"


@pytest.mark.skipif(not shutil.which("python3.9"), reason="no Python 3.9 here")
def test_python_3_9_itself_prints_the_sentence() -> None:
    if subprocess.run(["python3.9", "-c", ""], capture_output=True).returncode:
        pytest.skip("python3.9 does not start here")
    done = subprocess.run(["python3.9", MAKE, "nanda"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: Python 3.11 or newer is needed, this is 3.9")
