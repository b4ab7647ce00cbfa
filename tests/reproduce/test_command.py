"""The command as a user runs it: what it prints, writes and returns, and what it says to bad input."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from reproduced import Reproduced

from modinterp import runs
from modinterp.claims import VERDICTS
from modinterp.commands.reproduce import main
from modinterp.commands.runs import main as runs_main
from modinterp.reproduce.report import terminal_table
from modinterp.runs import store
from modinterp.sources import source

FIELDS = {
    "id",
    "source",
    "statement",
    "reference",
    "expected",
    "measured",
    "verdict",
    "kind",
    "reason",
    "prevalence",
    "control",
    "finding",
    "runs",
    "seconds",
}


@pytest.fixture
def report(reproduced: Callable[[str], Reproduced]) -> Path:
    assert reproduced("nanda").code == 0
    return reproduced("nanda").folder


def test_every_figure_of_a_report_has_its_numbers_as_csv(report: Path) -> None:
    drawn = {key for page in report.glob("*.html") for key in re.findall(r'id="figure-([^"]+)"', page.read_text())}
    assert len(drawn) >= 40
    for key in drawn:
        rows = list(csv.reader((report / "data" / f"{key}.csv").open()))
        assert len(rows) > 1 or key == "algorithm", f"{key} has no numbers"  # that one is a drawing of the network


def test_recompute_counts_no_recorded_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["clock", "--only", "s71.o_sum_*", "--workers", "1"]
    assert main([*arguments, "--out", str(tmp_path / "all")]) == 0
    assert main([*arguments, "--out", str(tmp_path / "weights"), "--recompute"]) == 0
    assert "equal the recorded verdicts; 0 open" in capsys.readouterr().out
    whole, recomputed = (json.loads((tmp_path / x / "claims.json").read_text()) for x in ("all", "weights"))
    assert any(claim["runs_recorded"] for claim in whole)
    for before, after in zip(whole, recomputed, strict=True):
        assert after["runs_recorded"] == []
        assert set(before["runs"]) - set(before["runs_recorded"]) <= set(after["runs"]) <= set(before["runs"])


def test_claims_json_is_what_programs_expect(report: Path) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    claims = json.loads((report / "claims.json").read_text(), parse_constant=refuse)
    assert [c["id"] for c in claims] == list(source("nanda"))
    for claim in claims:
        assert set(claim) >= FIELDS
        assert claim["verdict"] in set(VERDICTS)
        assert claim["finding"]["verdict"] == claim["verdict"]
        if claim["verdict"] != "open":
            assert set(claim["measured"]) >= set(claim["expected"])


def test_claims_csv_says_the_same(report: Path) -> None:
    rows = list(csv.DictReader((report / "claims.csv").open()))
    claims = json.loads((report / "claims.json").read_text())
    assert [(r["id"], r["verdict"]) for r in rows] == [(c["id"], c["verdict"]) for c in claims]


def test_every_table_is_a_file_and_on_the_page(report: Path) -> None:
    page = (report / "index.html").read_text()
    assert {path.stem for path in (report / "tables").iterdir()} == {
        key for key, each in source("nanda").drawings.items() if each.table
    }
    tables = {key: each.table for key, each in source("nanda").drawings.items() if each.table}
    for key, table in tables.items():
        assert f"<summary>{table.title}</summary>" in page
        rows = list(csv.reader((report / "tables" / f"{key}.csv").open()))
        assert len(rows) > 2
        assert len({len(row) for row in rows}) == 1
    whole = re.findall(r"<table class=\"dataframe\">.*?</table>", page, re.DOTALL)
    assert len(whole) == len(tables) + 1  # and the numbers that the source prints
    assert not any("NaN" in text or "None" in text for text in whole)


def test_page_holds_everything_and_asks_nobody(report: Path) -> None:
    page = (report / "index.html").read_text()
    for claim in source("nanda").claims.values():
        assert f'id="{claim.id}"' in page
    assert page.count("class='plot'") >= 35
    assert len(page) < 3 * 2**20
    assert "<script src" not in page
    assert page.count('matchMedia("(prefers-color-scheme: dark)")') == 1
    assert "<link " not in page
    links = {source("nanda").link}  # which a reader may follow; the page itself asks for nothing
    assert set(re.findall(r"https?://[^\"'<> ]*", page)) <= links


def test_page_draws_in_a_real_browser(report: Path, browsed: Callable[..., str]) -> None:
    dom = browsed(report / "index.html", unfolded=True)
    drawn = [part.partition('"')[0] for part in dom.split('id="plot-')[1:]]
    assert len(drawn) >= 35
    assert dom.count("main-svg") >= len(drawn), "not every figure was drawn"


def test_only_measures_what_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["nanda", "--only", "B.*", "--out", str(tmp_path)]) == 0
    assert len(json.loads((tmp_path / "claims.json").read_text())) == 8
    printed = capsys.readouterr().out
    assert "nanda: 8 claims, 8 measurements: 6 hold: mathematics and set-up, 2 refuted" in printed
    assert f"report: {tmp_path / 'index.html'}" in printed


def test_list_shows_every_claim(capsys: pytest.CaptureFixture) -> None:
    assert main(["nanda", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(source("nanda"))


def test_a_verdict_that_changed_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    runs = tmp_path / "runs"
    command = ["nanda", "--only", "table4.*", "--runs", str(runs), "--out", str(tmp_path / "out")]
    runs.mkdir()
    assert main(command) == 2
    one_line(capsys, "none of the runs that these claims of nanda ask for is in")
    assert not (tmp_path / "out").exists()
    shutil.copytree(store.checkpoints() / "nanda/other-draw-2", runs / "nanda/other-draw-2")
    assert main(command) == 1
    assert "nanda.table4.seed3 is open (pending), but was recorded as mixed" in capsys.readouterr().out


def test_table_fits_its_width(report: Path) -> None:
    from modinterp.reproduce.reproduction import reproduction

    results = reproduction("nanda", "B.*").results
    assert all(len(line) <= 100 for line in terminal_table(results, 100).splitlines())


def one_line(capsys: pytest.CaptureFixture, *words: str) -> None:
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert all(word in error for word in ("error: ", *words)), error


def test_bad_input_gets_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert main(["nanda", "--only", "fig99", *out]) == 2
    one_line(capsys, "no claim of nanda matches 'fig99'", "--list")
    assert main(["nanda", "--runs", str(tmp_path / "none"), *out]) == 2
    one_line(capsys, "is not a folder")
    assert main(["nanda", "--device", "warp", *out]) == 2
    one_line(capsys, "device 'warp' is not available here")
    if not torch.cuda.is_available():
        assert main(["nanda", "--device", "cuda", *out]) == 2
        one_line(capsys, "device 'cuda' is not available here")
    (tmp_path / "file").write_text("mine")
    assert main(["nanda", "--only", "B.*", "--out", str(tmp_path / "file")]) == 2
    one_line(capsys, "file")
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "out").exists()
    for wrong in (["lasagne"], []):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)
    assert "invalid choice: 'lasagne'" in capsys.readouterr().err


def _cut(folder: Path) -> None:
    weights = (folder / store.FINAL).read_bytes()
    (folder / store.FINAL).write_bytes(weights[: len(weights) // 2])


def _without_a_snapshot(folder: Path) -> None:
    store.snapshot_path(folder, store.snapshot_epochs(folder)[0]).unlink()


def _with_another_snapshot(folder: Path) -> None:
    first, second, *_ = store.snapshot_epochs(folder)
    shutil.copyfile(store.snapshot_path(folder, first), store.snapshot_path(folder, second))


def _of_another_version(folder: Path) -> None:
    record = json.loads((folder / store.RECORD).read_text())
    record["spec"]["recipe"]["momentum2"] = 0.5
    (folder / store.RECORD).write_text(json.dumps(record))


@pytest.mark.parametrize(("damage", "words"), [
    (_cut, "final.safetensors is not the file that was written"),
    (_without_a_snapshot, "is missing, though run.json names it"),
    (_with_another_snapshot, "its sha256 differs from run.json"),
    (_of_another_version, "run.json, which another version wrote: Recipe has no field momentum2"),
])  # fmt: skip
def test_a_damaged_run_stops_itself_alone(
    damage: Callable[[Path], None], words: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    whole, damaged = "nanda/mainline-0", "nanda/mainline-1"
    for name in (whole, damaged):
        shutil.copytree(store.checkpoints() / whole, tmp_path / name)
    damage(tmp_path / damaged)
    assert main(["nanda", "--only", "fig3.left", "--runs", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {damaged} is left out: ")
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert "nanda: 1 claim, 1 measurement: 1 hold" in printed.out
    assert (tmp_path / "out/claims.json").is_file()


def test_load_notices_a_missing_snapshot(tmp_path: Path) -> None:
    shutil.copytree(store.checkpoints() / "nanda/mainline-0", tmp_path / "a")
    _without_a_snapshot(tmp_path / "a")
    with pytest.raises(ValueError, match=r"epoch-\d+.safetensors is missing, though run.json names it"):
        runs.load(tmp_path / "a")


def test_runs_command(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert runs_main(["list"]) == 0
    assert "nanda/mainline-0" in capsys.readouterr().out
    assert runs_main(["train", "nanda/nothing"]) == 2
    one_line(capsys, "unknown run 'nanda/nothing'")
    (tmp_path / "file").write_text("mine")
    assert (
        runs_main(["train", "nanda/mainline-0", "--epochs", "1", "--device", "cpu", "--out", str(tmp_path / "file")])
        == 2
    )
    assert "error: " in capsys.readouterr().err
    assert runs_main(["train", "nanda/mainline-0", "--epochs", "-1", "--out", str(tmp_path)]) == 2
    one_line(capsys, "epochs must be a whole number in [0, ")
    assert (
        runs_main(["train", "nanda/mainline-0", "--epochs", "1", "--device", "cpu", "--out", str(tmp_path / "own")])
        == 0
    )
    assert (tmp_path / "own/nanda/mainline-0/run.json").is_file()


@pytest.mark.parametrize("module", ["modinterp.reproduce", "modinterp.runs", "modinterp.publish", "modinterp.explain"])
def test_help_does_not_wait_for_torch(module: str) -> None:
    began = time.perf_counter()
    code = f"import sys, runpy; sys.argv = ['x', '--help']\ntry: runpy.run_module('{module}', run_name='__main__')\nexcept SystemExit: pass\nsys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, "torch was imported"
    assert "usage: python -m" in done.stdout
    assert time.perf_counter() - began < 5


def test_named_runs_are_looked_for_where_the_environment_says(tmp_path: Path) -> None:
    code = "import modinterp; modinterp.load('nanda/mainline-0')"
    environment = os.environ | {"MODINTERP_CHECKPOINTS": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert f"FileNotFoundError: no trained run in {tmp_path}/nanda/mainline-0" in done.stderr
