"""How the commands speak: one line for wrong usage, help that is read to its end, progress that a log can hold."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from modinterp import usage

COMMANDS = {
    "reproduce": ("modinterp.reproduce.__main__", []),
    "runs": ("modinterp.runs.__main__", []),
    "runs list": ("modinterp.runs.__main__", ["list"]),
    "runs train": ("modinterp.runs.__main__", ["train"]),
    "runs search": ("modinterp.runs.__main__", ["search"]),
    "publish": ("modinterp.publish", []),
    "explain": ("modinterp.explain.__main__", []),
}


def said(capsys: pytest.CaptureFixture, command: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    module, first = COMMANDS[command]
    try:
        code = import_module(module).main([*first, *arguments])
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_says_every_default(command: str, capsys: pytest.CaptureFixture) -> None:
    code, text, _ = said(capsys, command, "--help")
    assert code == 0
    assert "examples:\n" in text
    assert max(map(len, text.splitlines())) <= 120
    assert command.count(" ") or "exit code: 0 " in text
    for option in re.split(r"\n  (?=-)", text.partition("options:")[2].partition("examples:")[0])[1:]:
        takes_a_value = re.match(r"--\w+ [\[{A-Z]", option)
        assert not takes_a_value or "(default:" in option or option.startswith("--checkpoint"), option


@pytest.mark.parametrize(("command", "arguments", "words"), [
    ("reproduce", ["nada"], "invalid choice: 'nada'"),
    ("reproduce", [], "required: source"),
    ("runs", ["lsit"], "invalid choice: 'lsit'"),
    ("runs list", ["nanda/mainlin-0"], "did you mean 'nanda/mainline-0'?"),
    ("runs list", ["--runs", "none"], "none is not a folder"),
    ("runs train", ["mainline-0"], "did you mean 'nanda/mainline-0'?"),
    ("explain", ["nanda/mainlin-0"], "did you mean 'nanda/mainline-0'?"),
    ("explain", ["nanda/p401-decay-8-0"], "`python -m modinterp.runs train nanda/p401-decay-8-0` trains it"),
    ("explain", ["none.pt"], "there is no file none.pt"),
    ("explain", ["none.pt", "--op", "mul"], "invalid choice: 'mul'"),
    ("publish", ["nothing/*", "--out", "made"], "no trained run in trained fits 'nothing/*'"),
])  # fmt: skip
def test_wrong_usage_gets_one_line_and_exit_code_2(
    command: str, arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, printed, error = said(capsys, command, *arguments)
    assert code == usage.BAD_USAGE
    assert printed == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert words in error
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="--out .*file is not a folder"):
        usage.writable(file)
    with pytest.raises(ValueError, match="--out .*file/below cannot be made: .*file is not a folder"):
        usage.writable(file / "below")
    assert usage.writable(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "mine"


def shown(monkeypatch: pytest.MonkeyPatch, terminal: bool, seldom: float) -> str:
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(usage, "SELDOM", seldom)
    with usage.progress(40, "a run", "epoch", first=10) as bar:
        for _ in range(30):
            bar.update()
    return stream.getvalue()


def test_a_log_gets_lines_and_a_terminal_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, terminal=False, seldom=0).splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("a run: ") and " of 40 epochs after " in line for line in lines)
    assert "\r" not in "".join(lines)
    assert shown(monkeypatch, terminal=False, seldom=60) == ""  # over before there is anything to tell
    assert "\r" in shown(monkeypatch, terminal=True, seldom=60)


def test_make_names_what_it_can_do() -> None:
    make = Path(__file__).parents[1] / "make.py"

    def made(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, make, *arguments], capture_output=True, text=True, check=False)

    wrong = made("nnada")
    assert wrong.returncode == 2
    assert wrong.stderr == f"error: no 'nnada' to do; there are {', '.join(usage.SOURCES)}, all, test, docs\n"
    for arguments, code in (([], 2), (["--help"], 0)):
        done = made(*arguments)
        assert done.returncode == code
        assert set(re.findall(r"make\.py (\w+)", done.stdout)) >= {*usage.SOURCES, "all", "test", "docs"}
