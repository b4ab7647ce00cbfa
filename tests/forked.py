"""Programs that are forked from one process, which has imported what they need: importing torch takes seconds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SERVER = """
import json, os, sys, traceback

for line in sys.stdin:
    arguments, errors, ended = json.loads(line)
    if os.fork():
        continue
    if program := os.fork():
        print(program, flush=True)
        code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
        with open(ended + ".part", "w") as file:
            file.write(str(code))
        os.replace(ended + ".part", ended)
        os._exit(0)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    try:
        run(*arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
"""


@dataclass(frozen=True)
class Forked:
    """A forked program.

    Attributes:
        pid: number of its process.
        errors: file of what it writes to stderr.
        ended: file of its exit code, which appears when it has ended.
    """

    pid: int
    errors: Path
    ended: Path

    @property
    def runs(self) -> bool:
        """True until the program has ended."""
        return not self.ended.exists()

    def wait(self, timeout: float = 300) -> int:
        """Return the exit code, or the negative number of the signal that ended the program."""
        deadline = time.monotonic() + timeout
        while self.runs:
            assert time.monotonic() < deadline, f"still runs after {timeout} seconds"
            time.sleep(0.01)
        return int(self.ended.read_text())

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> int:
        self.send(signal.SIGKILL)
        return self.wait()


class Forks:
    """A process that forks programs.

    Args:
        code: imports, and a function `run`, which gets the arguments of each program.
        folder: where stderr and exit codes of the programs go.
        environment: variables of the process, beside those of this one.
    """

    def __init__(self, code: str, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder, self.count = folder, 0
        command = [sys.executable, "-c", code + SERVER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        env=os.environ | dict(environment or {}))  # fmt: skip

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def begun(self, *arguments: object) -> Forked:
        """Start a program with arguments that fit in JSON."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.count += 1
        errors, ended = self.folder / f"errors-{self.count}", self.folder / f"ended-{self.count}"
        self.process.stdin.write(json.dumps([arguments, str(errors), str(ended)]) + "\n")
        return Forked(int(self.process.stdout.readline()), errors, ended)
