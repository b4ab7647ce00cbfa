"""A folder is replaced as a whole: a kill, Ctrl-C or full disk leaves the old one or the new one, complete."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modinterp.publish import replacing as module
from modinterp.publish.replacing import recover, replacing

SCRIPT = """
import sys
from itertools import count
from pathlib import Path
from modinterp.publish.replacing import replacing
print("ready", flush=True)
for n in count():
    with replacing(Path(sys.argv[1])) as new:
        for file in range(20):
            (new / str(file)).write_text(str(n))
"""


def content(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.iterdir()]


def write(folder: Path, text: str) -> None:
    with replacing(folder) as new:
        (new / "a").write_text(text)
        (new / "b").write_text(text)


@pytest.fixture(params=["at once", "in two steps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "in two steps":
        monkeypatch.setattr(module, "_exchanged_at_once", lambda one, other: False)
    return request.param


@pytest.mark.usefixtures("way")
def test_the_new_folder_replaces_the_old_and_nothing_else_stays(tmp_path: Path) -> None:
    for text in ("old", "new"):
        write(tmp_path / "own/x", text)
        assert content(tmp_path / "own/x") == [text] * 2
        assert [path.name for path in (tmp_path / "own").iterdir()] == ["x"]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_what_breaks_off_leaves_the_old_folder(error: type[BaseException], tmp_path: Path) -> None:
    write(tmp_path / "x", "old")

    def broken() -> None:
        with replacing(tmp_path / "x") as new:
            (new / "a").write_text("new")
            raise error

    with pytest.raises(error):
        broken()
    assert content(tmp_path / "x") == ["old"] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_stop_between_two_renames_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "x", "old")

    def stopped_between(new: Path, target: Path, old: Path) -> None:
        target.rename(old)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_exchange", stopped_between)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "x", "new")
    assert content(tmp_path / "x") == ["old"] * 2


def test_a_kill_between_two_renames_is_put_right_by_the_next_start(tmp_path: Path) -> None:
    write(tmp_path / "own/x", "old")
    left = tmp_path / "own/.x.publishing"
    (left / "0123").mkdir(parents=True)
    (tmp_path / "own/x").rename(left / "old")
    recover(tmp_path)
    assert content(tmp_path / "own/x") == ["old"] * 2
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["x"]


def test_two_cannot_replace_a_folder_at_once(tmp_path: Path) -> None:
    with replacing(tmp_path / "x") as new:
        (new / "a").write_text("first")
        with pytest.raises(ValueError, match="x is being published by another process"):
            write(tmp_path / "x", "second")
        recover(tmp_path)
    assert content(tmp_path / "x") == ["first"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two folders in one step")
def test_a_kill_at_any_moment_leaves_one_whole_folder(tmp_path: Path) -> None:
    target = tmp_path / "x"
    write(target, "0")
    for kill in range(12):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(target)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * (kill + 1))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert len(set(content(target))) == 1
    recover(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
