"""`modinterp COMMAND ...` is every command under one name, and says how the user called it."""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

import modinterp
from modinterp.commands import overview
from modinterp.commands.overview import COMMANDS, main
from modinterp.terminal.errors import BAD_USAGE

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _called_by_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Help names the program by `sys.argv[0]`, which `python -m pytest` sets otherwise."""
    monkeypatch.setattr(sys, "argv", ["modinterp"])


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def ended(*arguments: str) -> int:
    """The exit code of a command that may end by SystemExit, as argparse's `--help` does."""
    try:
        return main([*arguments])
    except SystemExit as end:
        return int(end.code or 0)


def test_the_script_is_the_overview() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert {name: resolve_name(where) for name, where in scripts.items()} == {"modinterp": main}


def test_every_package_that_is_a_command_is_in_the_overview() -> None:
    packages = {path.parent.name for path in Path(overview.__file__).parents[1].glob("*/__main__.py")}
    assert set(COMMANDS) == packages | {"train"}  # a package of that name would hide the function


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_the_overview_has_a_line_and_an_example_for_each_command(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments]) == 0
    text = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name:<10} {command.purpose}\n" in text
        assert f"  modinterp {name} {command.example}\n" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"modinterp {modinterp.__version__}\n"


@pytest.mark.parametrize(("name", "line"), [
    ("explian", "error: no command 'explian'; did you mean 'explain'? `modinterp --help` lists all commands\n"),
    ("--oops", "error: no command '--oops'; `modinterp --help` lists all commands\n"),
])  # fmt: skip
def test_an_unknown_command_gets_one_line(name: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "model.pt"]) == BAD_USAGE
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_reached_and_calls_itself_what_was_typed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(name, "--help") == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: modinterp {name} ")
    assert f"\n  modinterp {name} " in text.partition("examples:")[2]
    assert f"python -m modinterp.{name}" not in text
    assert ended(name, "--oops") == BAD_USAGE
    assert f"`modinterp {name} --help` says more" in capsys.readouterr().err


def test_a_command_of_a_command_calls_itself_what_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    for name, second in (("runs", "train"), ("sources", "new"), ("publish", "ground-truth")):
        assert ended(name, second, "--help") == 0
        text = capsys.readouterr().out
        assert text.startswith(f"usage: modinterp {name} {second} ")
        assert f"\n  modinterp {name} {second} " in text.partition("examples:")[2]


@pytest.mark.parametrize("typed", ["-m modinterp explain", "-m modinterp.explain"])
def test_the_module_forms_call_themselves_what_was_typed(typed: str) -> None:
    shown = python(*typed.split(), "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"usage: python {typed} ")
    wrong = python(*typed.split(), "--oops")
    assert wrong.returncode == BAD_USAGE
    assert wrong.stderr.endswith(f"; `python {typed} --help` says more\n")


def test_the_arguments_of_the_process_reach_the_command() -> None:
    listed = python("-m", "modinterp", "sources", "list")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout == python("-m", "modinterp.sources", "list").stdout


def test_help_is_there_within_half_a_second() -> None:
    """The fastest of three times, as other work may hold the cores meanwhile."""

    def seconds(*arguments: str) -> float:
        began = time.perf_counter()
        assert python(*arguments).returncode == 0
        return time.perf_counter() - began

    for arguments in (("--help",), ("explain", "--help"), ("runs", "train", "--help")):
        assert min(seconds("-m", "modinterp", *arguments) for _ in range(3)) < 0.5, arguments


def test_nothing_heavy_is_imported_for_help() -> None:
    code = (
        "import sys\nfrom modinterp.commands.overview import main\nassert main(['--help']) == 0\n"
        "heavy = {'torch', 'numpy', 'pandas', 'plotly', 'transformer_lens', 'modinterp.sources'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
