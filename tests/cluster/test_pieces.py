"""Processes of this machine that carry out pieces of work, and what is said when one of them is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from modinterp.cluster.pieces import Piece, processes
from modinterp.terminal.errors import CRASHED, INTERRUPTED, TERMINATED, WorkLost, one_line_errors

SCRIPT = """
import signal, sys
from test_pieces import sleep
from modinterp.cluster.pieces import Piece, processes
from modinterp.terminal.errors import one_line_errors

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background begins without

@one_line_errors("stopped")
def command():
    with processes(2) as carried_out:
        answers = carried_out([Piece(sleep, (60,), (str(n),)) for n in range(3)])
        print("begun", flush=True)
        return len(list(answers))

if __name__ == "__main__":
    sys.exit(command())
"""


def sleep(seconds: float, report: Any) -> None:
    time.sleep(seconds)


def end_at_once(signal_number: int, report: Any) -> None:
    os.kill(os.getpid(), signal_number)


def test_a_killed_process_is_told_in_one_line(capsys: pytest.CaptureFixture) -> None:
    killed = Piece(end_at_once, (signal.SIGKILL,), ("second",))

    @one_line_errors("stopped")
    def command() -> int:
        with processes(2) as carried_out:
            list(carried_out([Piece(sleep, (0,), ("first",)), killed]))
        return 0

    assert command() == CRASHED
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "was killed" in error
    assert "--workers 1" in error


def test_answers_that_came_before_a_kill_are_given() -> None:
    given = []
    with processes(1) as carried_out:
        assert [a.failure for a in carried_out([Piece(sleep, (0,), ("a",))])] == [""]
        with pytest.raises(WorkLost):
            given.extend(carried_out([Piece(end_at_once, (signal.SIGKILL,), ("b",))]))
    assert not given


def ends(group: int) -> bool:
    """Whether the last process of a group ends within five seconds."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="there a console has no groups of processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_a_signal_to_all_is_one_line_and_leaves_no_process(number: signal.Signals, tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])}
    process = subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    began = time.monotonic()
    os.killpg(process.pid, number)
    _, error = process.communicate(timeout=120)
    assert process.returncode == {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}[number]
    assert error == "stopped\n"
    assert time.monotonic() - began < 10
    assert ends(process.pid)
