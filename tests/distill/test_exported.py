"""The exported program: a module of numpy that runs where neither torch nor this package can be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from explain import planted

import modinterp
from modinterp.commands.distill import main
from modinterp.runs.store import write_weights

P = 23
ALONE = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("torch", "modinterp", "transformer_lens"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import runpy
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "clock.safetensors"
    write_weights(path, planted.clock(P, (3, 7)))
    return path


def alone(*arguments: str) -> str:
    """What a program prints in a process that refuses to import torch and this package."""
    done = subprocess.run([sys.executable, "-I", "-c", ALONE, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("rung", [None, "answers", "distance", "path", "attention", "compact"])
def test_the_program_answers_as_measured(file: Path, tmp_path: Path, rung: str | None) -> None:
    out = tmp_path / "clock.py"
    chosen = [] if rung is None else ["--rung", rung]
    assert main([str(file), "--p", str(P), "--out", str(out), *chosen]) == 0
    text = out.read_text()
    assert text.count("\n") <= 60
    assert "torch" not in text
    d = modinterp.distill(file, p=P)
    measured = d.shortest if rung is None else d[rung]
    assert measured is not None
    assert float(alone(str(out))) == pytest.approx(measured.faithfulness.accuracy, abs=1e-12)
    assert alone(str(out), "20", "9") == str(29 % P)


def test_the_programs_logits_are_those_of_the_rung(file: Path, tmp_path: Path) -> None:
    import runpy

    d = modinterp.distill(file, p=P)
    for rung in d.rungs:
        from modinterp.distill.exported import write_program

        module, _ = write_program(d, rung, tmp_path / f"{rung.key}.py")
        logits = runpy.run_path(str(module))["logits"]
        a, b = np.array([1, 5, 22]), np.array([0, 21, 22])
        assert np.allclose(logits(a, b), rung(a, b), atol=0.02 * np.abs(rung(a, b)).max()), rung.key


def test_the_program_of_each_nonlinearity(file: Path, tmp_path: Path) -> None:
    import runpy
    from dataclasses import replace

    from modinterp.distill.exported import ACTS, program
    from modinterp.formulas.waves import ACTIVATIONS

    assert set(ACTS) == set(ACTIVATIONS)
    d = modinterp.distill(file, p=P)
    for act_fn in ACTS:
        rung = replace(d["waves"], formula=replace(d["waves"].formula, act_fn=act_fn))
        (tmp_path / f"{act_fn}.json").write_text(json.dumps(rung.to_json()))
        (tmp_path / f"{act_fn}.py").write_text(text := program(d, rung, act_fn))
        assert text.count("\n") <= 60
        logits = runpy.run_path(str(tmp_path / f"{act_fn}.py"))["logits"](np.array([3]), np.array([5]))[0]
        # linear neurons cancel one another, all but rounding
        assert np.allclose(logits, rung(3, 5), atol=1e-3 * max(1.0, np.abs(logits).max())), act_fn


def test_a_file_of_others_stays(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.py"
    out.write_text("print('mine')\n")
    assert main([str(file), "--p", str(P), "--out", str(out)]) == 2
    assert "not written by" in capsys.readouterr().err
    assert out.read_text() == "print('mine')\n"
    assert not out.with_suffix(".json").exists()
    assert main([str(file), "--p", str(P), "--out", str(tmp_path / "two words.py")]) == 2
    assert main([str(file), "--p", str(P), "--out", str(tmp_path / "ok.py")]) == 0
    assert main([str(file), "--p", str(P), "--out", str(tmp_path / "ok.py")]) == 0, "its own files are replaced"


def test_a_table_has_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.safetensors"
    write_weights(path, planted.table(11))
    assert main([str(path), "--p", "11", "--out", str(tmp_path / "table.py")]) == 2
    assert "no formula to write" in capsys.readouterr().err
    assert not (tmp_path / "table.py").exists()
