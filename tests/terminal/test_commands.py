"""How the commands speak: one line for wrong usage, help that is read to its end, progress that a log can hold."""

from __future__ import annotations

import gc
import io
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch

from modinterp.files import writable_folder
from modinterp.sources import sources
from modinterp.terminal import progress_bars
from modinterp.terminal.errors import BAD_USAGE, CRASHED, INTERRUPTED, one_line_errors
from modinterp.terminal.suggestions import suggestion

COMMANDS = {
    "reproduce": ("modinterp.commands.reproduce", []),
    "runs": ("modinterp.commands.runs", []),
    "runs list": ("modinterp.commands.runs", ["list"]),
    "runs train": ("modinterp.commands.runs", ["train"]),
    "runs search": ("modinterp.commands.runs", ["search"]),
    "runs sbatch": ("modinterp.commands.runs", ["sbatch"]),
    "runs watch": ("modinterp.commands.runs", ["watch"]),
    "sources": ("modinterp.commands.sources", []),
    "sources new": ("modinterp.commands.sources", ["new"]),
    "publish ground-truth": ("modinterp.commands.publish", ["ground-truth"]),
    "publish": ("modinterp.commands.publish", []),
    "train": ("modinterp.commands.train", []),
    "explain": ("modinterp.commands.explain", []),
    "distill": ("modinterp.commands.distill", []),
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
    ("reproduce", [], "required: SOURCE"),
    ("runs", ["lsit"], "invalid choice: 'lsit'"),
    ("runs list", ["nanda/mainlin-0"], "did you mean 'nanda/mainline-0'?"),
    ("runs list", ["--runs", "none"], "none is not a folder"),
    ("runs train", ["mainline-0"], "did you mean 'nanda/mainline-0'?"),
    ("explain", ["nanda/mainlin-0"], "did you mean 'nanda/mainline-0'?"),
    ("explain", ["nanda/p401-decay-8-0"], "`python -m modinterp.runs train nanda/p401-decay-8-0` trains the run"),
    ("explain", ["none.pt"], "there is no file none.pt; this folder holds no .pt file; check the path"),
    ("explain", ["none/mine.pt"], "there is no file none/mine.pt, and no folder none to look in"),
    ("explain", ["none.pt", "--draws", "5"], "give 99 draws or more"),
    ("explain", ["nanda/mainline-0", "--p", "97"], "which contradicts p 97; leave p out"),
    ("explain", ["none.pt", "--op", "power"], "unknown operation 'power'; known are add"),
    ("explain", ["none.pt", "--op", "quadratc"], "did you mean 'quadratic'?"),
    ("explain", ["none.pt", "--op", "+"], "there is no file"),
    ("explain", ["."], "is a folder without a trained run; it holds no file of weights; name another"),
    ("reproduce", ["nana"], "invalid choice: 'nana'; did you mean 'nanda'?"),
    ("train", ["--op", "ad"], "invalid choice: 'ad'; did you mean 'add'?"),
    ("publish", ["nothing/*", "--out", "made"], "no trained run in trained fits 'nothing/*'; `python -m modinterp.runs list"),
    ("reproduce", ["nanda", "--as", "nanda/mainline-0"], "--as belongs to --checkpoint; add --checkpoint FILE"),
    ("reproduce", ["all", "--checkpoint", "a.pt"], "measures one network on one source; name one source"),
    ("reproduce", ["nanda", "--runs", "none"], "--runs none is not a folder; name a folder with runs"),
    ("runs", ["check", "none/*"], "matches 'none/*'; without a name, the command reads all runs"),
    ("sources new", ["torch"], "a source named 'torch' exists already; choose another name"),
])  # fmt: skip
def test_wrong_usage_gets_one_line_and_exit_code_2(
    command: str, arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, printed, error = said(capsys, command, *arguments)
    assert code == BAD_USAGE
    assert printed == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert words in error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("file", "content", "words"), [
    ("dict.pt", {"a": 1}, "holds no named tensors, but dict of 'a'; save model.state_dict() instead"),
    ("cut.pt", b"hello", "is not a whole file of weights"),
    ("cut.pt", b"hello", "; copy the file, or save it, again"),
    ("cut.safetensors", b"hello", "; copy the file, or save it, again"),
    ("model.onnx", b"hello", "weights come in .safetensors, .pt, .pth, .ckpt, .bin; save model.state_dict() by torch.save"),
    ("script.py", b"hello", "; in a script, call `mi.explain(module)` on the module itself"),
    ("mine58.pt", b"hello", "there is no file mine59.pt; did you mean 'mine58.pt'?"),
    ("other.pt", b"hello", "there is no file mine59.pt; this folder holds other.pt"),
])  # fmt: skip
def test_a_file_that_is_not_weights_gets_the_next_step(
    file: str, content: dict[str, int] | bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    torch.save(content, file) if isinstance(content, dict) else Path(file).write_bytes(content)
    code, _, error = said(capsys, "explain", "mine59.pt" if "mine59" in words else file)
    assert code == BAD_USAGE
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert words in error


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="--out .*file is not a folder"):
        writable_folder(file)
    with pytest.raises(ValueError, match="--out .*file/below cannot be made: .*file is not a folder"):
        writable_folder(file / "below")
    assert writable_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "mine"


@pytest.mark.parametrize(("error", "code", "line"), [
    (ValueError("p must be odd, got 4"), BAD_USAGE, "error: p must be odd, got 4\n"),
    (FileNotFoundError(2, "No such file or directory", "a.pt"), BAD_USAGE, "error: a.pt: No such file or directory\n"),
    (OSError("no file has a name here"), BAD_USAGE, "error: no file has a name here\n"),
    (KeyboardInterrupt(), INTERRUPTED, "stopped; nothing was written\n"),
])  # fmt: skip
def test_an_error_of_the_user_is_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture
) -> None:
    @one_line_errors("stopped; nothing was written")
    def command() -> int:
        raise error

    assert command() == code
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("error", [None, ValueError("x"), KeyboardInterrupt()])
def test_a_command_leaves_torch_on_its_threads(error: BaseException | None) -> None:
    before = torch.get_num_threads()

    @one_line_errors("stopped")
    def command() -> int:
        torch.set_num_threads(before + 1)
        if error is not None:
            raise error
        return 0

    command()
    assert torch.get_num_threads() == before


def test_an_error_of_ours_keeps_its_traceback(capsys: pytest.CaptureFixture) -> None:
    @one_line_errors("stopped")
    def command() -> int:
        return {}["missing"]

    assert command() == CRASHED
    assert "KeyError: 'missing'" in capsys.readouterr().err


def test_a_suggestion_is_the_nearest_name_or_the_folder() -> None:
    names = ["paper/first-0", "paper/second-0"]
    assert suggestion("paper/frist-0", names) == "; did you mean 'paper/first-0'?"
    assert suggestion("paper", names) == "; `python -m modinterp.runs list 'paper/*'` shows the runs of paper"
    assert suggestion("nothing like it", names) == ""


def written_to_stderr(monkeypatch: pytest.MonkeyPatch, terminal: bool, seconds_between_lines: float) -> str:
    gc.collect()  # a bar that an earlier test has left writes its last line when it is collected
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress_bars, "SECONDS_BETWEEN_LOG_LINES", seconds_between_lines)
    with progress_bars.progress_bar(40, "a run", "epoch", first=10) as bar:
        for _ in range(30):
            bar.update()
    return stream.getvalue()


def test_a_log_gets_lines_and_a_terminal_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = written_to_stderr(monkeypatch, terminal=False, seconds_between_lines=0).splitlines()
    assert len(lines) >= 2
    assert not [line for line in lines if not re.match(r"a run: \d+ of 40 epochs after ", line)]
    assert "\r" not in "".join(lines)
    # over before there is anything to tell
    assert written_to_stderr(monkeypatch, terminal=False, seconds_between_lines=60) == ""
    assert "\r" in written_to_stderr(monkeypatch, terminal=True, seconds_between_lines=60)


def test_make_names_what_it_can_do() -> None:
    make = Path(__file__).parents[2] / "make.py"

    def made(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, make, *arguments], capture_output=True, text=True, check=False)

    wrong = made("nnada")
    assert wrong.returncode == 2
    assert (
        wrong.stderr
        == f"error: no 'nnada' to do; there are {', '.join(sources())}, all, test, docs, notebooks, gallery\n"
    )
    for arguments, code in (([], 2), (["--help"], 0)):
        done = made(*arguments)
        assert done.returncode == code
        assert set(re.findall(r"make\.py (\w+)", done.stdout)) >= {"SOURCE", "all", "test", "docs"}
        assert {line.split()[0] for line in done.stdout.partition("Sources:\n")[2].splitlines() if line} == set(
            sources()
        )


@pytest.mark.parametrize("module", ["reproduce", "runs", "publish", "explain", "sources"])
def test_help_imports_nothing_heavy(module: str) -> None:
    code = f"import runpy, sys\nsys.argv = ['x', '--help']\n" \
        f"try: runpy.run_module('modinterp.{module}', run_name='__main__')\n" \
        "except SystemExit as end: assert not end.code\n" \
        "heavy = {'torch', 'numpy', 'pandas', 'plotly', 'transformer_lens'} & set(sys.modules)\n" \
        "assert not heavy, heavy"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [
    ("runs", "train", "nanda/mainline-0", "--out", "hf://me/x"), ("runs", "check", "--runs", "hf://me/x"),
    ("runs", "watch", "nanda/mainline-0", "--runs", "hf://me/x"), ("publish", "x/y", "--out", "hf://me/x"),
    ("explain", "m.pt", "--out", "hf://me/x"),
])  # fmt: skip
def test_an_address_is_no_folder(arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                 capsys: pytest.CaptureFixture) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        import_module(f"modinterp.commands.{arguments[0]}").main(list(arguments[1:]))
    assert "hf://me/x is an address on the Hub; name a folder on this machine" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
