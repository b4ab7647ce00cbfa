"""The live table, and the options that name a cluster."""

from __future__ import annotations

import io
import sys

import pytest

from modinterp.cluster import table
from modinterp.cluster.options import Share
from modinterp.commands.runs import main
from modinterp.terminal import progress_bars

ROWS = {
    "a": {"state": "done"},
    "b": {"state": "running", "epoch": "20 of 100"},
    "c": {"state": "failed"},
    "d": {"state": "waiting"},
}


def test_what_went_wrong_stands_first() -> None:
    assert [name for name, _ in table.ordered(ROWS)] == ["c", "b", "d", "a"]
    assert table.summary("run", ROWS) == "4 runs: 1 failed, 1 running, 1 waiting, 1 done; b: epoch 20 of 100"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_table_and_a_log_a_line(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress_bars, "SECONDS_BETWEEN_LOG_LINES", 0.0)
    with table.LiveTable("run") as shown:
        shown.show(ROWS)
        shown.show(ROWS)
    said = stream.getvalue()
    if terminal:
        assert "20 of 100" in said
        assert "\x1b" in said
    else:
        assert said == f"{table.summary('run', ROWS)}\n", "the same line is not said twice"


@pytest.mark.parametrize(
    ("cpus", "gpus", "words"), [(-1, 0, "--cpus"), (1, float("nan"), "--gpus"), (1, 1.5, "--gpus")]
)
def test_shares_are_numbers(cpus: float, gpus: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Share(cpus, gpus)
    assert Share(0.5).threads == 1
    assert Share(4.0).threads == 4


def test_a_cluster_is_named_only_where_work_is_handed_to_one(capsys: pytest.CaptureFixture) -> None:
    assert main(["train", "nothing", "--gpus", "1"]) == 2
    assert "need a cluster; add --on ray" in capsys.readouterr().err
