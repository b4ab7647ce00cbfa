"""The command as a user runs it, and the function beside it."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest
import torch
from explain import planted

import modinterp
from modinterp.commands.explain import main
from modinterp.explain import Explanation
from modinterp.measurements import CyclicMeasurements, measure
from modinterp.models import from_state_dict, to_hooked_transformer_state_dict
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.runs.store import write_weights
from modinterp.runs.weights import read_weights
from modinterp.tasks import PrimeRemainders, addition

P = 23


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("foreign") / "clock.safetensors"
    write_weights(path, planted.clock(P, (3, 7)))
    return path


@pytest.fixture(scope="module")
def explained(file: Path) -> Explanation:
    return modinterp.explain(file, draws=99)


@pytest.fixture(scope="module")
def written(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("explained")
    assert main([str(file), "--op", "add", "--p", str(P), "--out", str(out)]) == 0
    return out


def test_json_and_csv_say_the_same_as_the_function(file: Path, written: Path, tmp_path: Path) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    explanation = modinterp.explain(file, op="add", p=P, out=tmp_path)
    content = json.loads((written / "explanation.json").read_text(), parse_constant=refuse)
    assert content == json.loads(json.dumps(explanation.to_json()))
    assert content["verdict"] == "Fourier multiplication"
    assert content["key_frequencies"] == [3, 7]
    assert content["numbers"]["accuracy"] == 1
    assert content["numbers"]["test_accuracy"] is None
    assert "not known" in content["notes"]["test_accuracy"]
    table = pd.read_csv(written / "explanation.csv")
    assert table["key"].tolist() == list(content["numbers"])
    assert table.set_index("key")["value"]["logit_fve"] == pytest.approx(explanation["logit_fve"])
    assert set(explanation.table().columns) == {"stage", "key", "title", "value", "unit", "definition", "note"}
    for name in ("explanation.json", "explanation.csv", "index.html"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes(), name
    for name in ("explanation.csv", "index.html"):
        assert str(file.parent) not in (written / name).read_text(), f"{name} names a folder of this machine"


def test_page_holds_everything_and_asks_nobody(written: Path) -> None:
    page = html.unescape((written / "index.html").read_text())
    assert page.count('matchMedia("(prefers-color-scheme: dark)")') == 1
    content = json.loads((written / "explanation.json").read_text())
    for key in content["numbers"]:
        assert f'id="{key}"' in page
    assert content["words"] in page
    assert page.count("class='plot'") == 12  # the ladder of formulas among them
    assert page.index("verdict") < page.index("class='plot'") < page.index('<table class="numbers">')
    assert "<script src" not in page
    assert "<link " not in page
    assert "https://" not in page.partition("</head>")[2]


def test_page_draws_in_a_real_browser(written: Path, browsed: Callable[..., str]) -> None:
    dom = browsed(written / "index.html", unfolded=True)
    assert dom.count("main-svg") >= 11, "not every figure was drawn"


def test_terminal_shows_every_number_and_the_verdict(file: Path, written: Path, capsys: pytest.CaptureFixture) -> None:
    assert main([str(file), "--out", str(written / "again"), "--draws", "99"]) == 0
    printed = capsys.readouterr().out
    for words in ("Does it do the task?", "Clock or pizza?", "verdict: ", "distance irrelevance", "absent"):
        assert words in printed
    assert f"report: {written / 'again' / 'index.html'}" in printed


@pytest.mark.parametrize("pickled", [True, False])
@pytest.mark.parametrize("layout", ["modinterp", "left-facing", "hooked transformer"])
def test_three_layouts_give_the_same_numbers(
    file: Path, explained: Explanation, tmp_path: Path, layout: str, pickled: bool
) -> None:
    layouts = {"modinterp": lambda w: w, "left-facing": left_facing, "hooked transformer": hooked_transformer}
    weights = layouts[layout](read_weights(file))
    path = tmp_path / f"model{'.pth' if pickled else '.safetensors'}"
    if pickled:
        torch.save({"model": weights, "train_losses": [1.0], "test_losses": [2.0]}, path)
    else:
        write_weights(path, weights)
    first, second = explained, modinterp.explain(path, draws=99)
    assert second.measurements.task == addition(P)
    for row, other in zip(first.rows, second.rows, strict=True):
        assert row.key == other.key
        if row.value is None or other.value is None:
            assert row.value is other.value
        else:
            assert row.value == pytest.approx(other.value, rel=1e-6, abs=1e-9, nan_ok=True), row.key
    assert first.verdict.label == second.verdict.label


def left_facing(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights in the layout of the grokking paper's code, which has a column of logits for "="."""
    turned = {}
    for name, w in weights.items():
        last = name.rpartition(".")[2]
        if last in ("W_E", "W_in", "W_out"):
            w = w.T
        elif last in ("W_Q", "W_K", "W_V"):
            w = w.transpose(1, 2)
        elif last == "W_O":
            w = w.permute(2, 0, 1).flatten(1)
        elif last == "W_U":
            w = torch.cat([w, torch.ones(len(w), 1)], dim=1)
        turned[name] = w.contiguous()
    return turned | {"blocks.0.attn.mask": torch.ones(3, 3).tril()}


def hooked_transformer(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights in the layout of TransformerLens."""
    return to_hooked_transformer_state_dict(from_state_dict(weights, addition(P)))


IMPORTED_ANEW = """
import sys

for first in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] == "modinterp"]:
        del sys.modules[name]
    exec(f"import {first}, modinterp as mi")
    try:
        mi.explain("none.pt")
    except FileNotFoundError as error:
        print(error)
"""


def test_the_function_is_there_whatever_was_imported_before() -> None:
    """In one process, as importing torch anew for each takes seconds."""
    assert callable(modinterp.explain)
    first = ("modinterp", "modinterp.commands.explain", "modinterp.explain.page", "modinterp.explain.entry")
    command = [sys.executable, "-c", IMPORTED_ANEW, *first]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("there is no file none.pt") == len(first), done.stdout


def test_a_run_is_explained_with_its_split(mainline: TrainedRun) -> None:
    x = modinterp.explain(mainline)
    assert isinstance(x, Explanation)
    assert x.verdict.label == "Fourier multiplication"
    assert (x.verdict.clock_or_pizza, x.verdict.algorithm) == ("3 clock, 2 pizza", "circles")
    assert x.measurements.freqs == (14, 35, 41, 42, 52)
    assert x["test_accuracy"] > 0.999
    assert x["excluded_loss_train"] == pytest.approx(mainline.progress["excluded_loss_train"].iloc[-1], rel=1e-3)
    assert x["restricted_loss"] == pytest.approx(mainline.progress["restricted_loss_all"].iloc[-1], rel=1e-3)


def test_measurements_of_a_stranger_are_those_of_a_run_that_is_known(mainline: TrainedRun) -> None:
    own, strangers = CyclicMeasurements(mainline), CyclicMeasurements(mainline, draws=99)
    assert strangers.keys == own.keys
    assert strangers.readoff == own.readoff
    assert strangers.logit_fit == own.logit_fit
    assert strangers.low_rank == own.low_rank
    assert strangers.accuracy == own.accuracy
    assert strangers.test_losses == pytest.approx(own.test_losses, rel=1e-12)
    assert measure(strangers) is strangers
    sums = own.loss_without_each["sums"]
    torch.testing.assert_close(strangers.loss_without_each_block, sums, rtol=0, atol=0)
    torch.testing.assert_close(strangers.loss_without_each["sums"], sums, rtol=0, atol=0)


@lru_cache
def alone(mainline: TrainedRun, epoch: int) -> Explanation:
    """The network of an epoch, whose split and history are not known."""
    return modinterp.explain(TrainedRun("alone", mainline.task, mainline.at(epoch)), draws=99)


@pytest.mark.usefixtures("numbers_when_asked")
def test_what_memorises_first_and_adds_later(mainline: TrainedRun) -> None:
    assert {epoch: alone(mainline, epoch).verdict.label for epoch in (0, 1400, 13_400)} == {
        0: "not solved",
        1400: "memorised",
        13_400: "Fourier multiplication",
    }


@pytest.mark.usefixtures("numbers_when_asked")
def test_a_training_that_is_not_over_is_no_alarm(mainline: TrainedRun) -> None:
    found = {}
    for epoch in (1400, 8400):
        run = replace(mainline, model=mainline.at(epoch))
        found[epoch] = modinterp.explain(run, draws=99)
        assert found[epoch].warning is alone(mainline, epoch).warning is None
    assert (found[1400].verdict.label, found[8400].verdict.label) == ("memorised", "partly solved")
    assert found[8400]["train_accuracy"] == 1
    assert 0.05 < found[8400]["half_turn"] < 0.3, "some pairs are added by circles already"
    assert "The network answers 100.00% of its training pairs correctly, and 28.05% of all other pairs" in str(
        found[8400]
    )


@pytest.mark.usefixtures("numbers_when_asked")
def test_reference_networks_are_explained(low_precision: TrainedRun, kissane: TrainedRun) -> None:
    first, second = modinterp.explain(low_precision, draws=99), modinterp.explain(kissane, draws=99)
    assert first.verdict.label == second.verdict.label == "Fourier multiplication"
    assert first["accuracy"] == pytest.approx(0.99945, abs=5e-6)
    assert first["neurons_explained"] == pytest.approx(405 / 512)
    assert second["n_keys"] == 13
    assert second["logit_fve"] == pytest.approx(0.916, abs=5e-4)


def one_line(capsys: pytest.CaptureFixture, *words: str) -> None:
    """Asserts that stderr has become one line with these words."""
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert all(word in error for word in ("error: ", *words)), error


def test_bad_input_gets_one_line_and_exit_code_2(
    file: Path, mainline: TrainedRun, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert main([str(tmp_path / "none.pt"), *out]) == 2
    one_line(capsys, "there is no file")
    assert main(["no-source/no-run", *out]) == 2
    one_line(capsys, "no trained run in")
    assert main([str(file), "--p", "113", *out]) == 2
    one_line(capsys, "24 tokens with one for = mean p = 23, not 113; give p = 23, or leave p out")
    assert main([str(file), "--draws", "0", *out]) == 2
    one_line(capsys, "0 draws give no p-value")
    assert main([str(file), "--draws", "1000000000000", *out]) == 2
    one_line(capsys, "draws must be at most 100,000")
    assert main([mainline.name, "--op", "sub", *out]) == 2
    one_line(capsys, "was trained on a + b mod 113, which contradicts op sub")
    assert main([mainline.name, "--p", "97", *out]) == 2
    one_line(capsys, "which contradicts p 97")
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(file.read_bytes()[:-9])
    assert main([str(broken), *out]) == 2
    one_line(capsys, "is not a complete safetensors file")
    (tmp_path / "taken").write_text("mine")
    assert main([str(file), "--out", str(tmp_path / "taken")]) == 2
    one_line(capsys, "is not a folder")
    assert (tmp_path / "taken").read_text() == "mine"
    assert not (tmp_path / "out").exists()
    assert main([str(file), "--op", "power", *out]) == 2
    one_line(capsys, "unknown operation 'power'; known are add")
    for wrong in ([str(file), "--act", "swish"], []):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)


def test_more_pairs_than_memory_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "wide.safetensors"
    write_weights(path, {"W_E": torch.ones(4000, 2), "W_in": torch.ones(2, 2), "W_U": torch.ones(2, 4000)})
    assert main([str(path), "--out", str(tmp_path / "out")]) == 2
    one_line(capsys, "all 16,000,000 inputs of", "GiB of memory, more than the ")
    assert main([str(path), "--op", "group", "--out", str(tmp_path / "out")]) == 2
    one_line(capsys, "all 16,000,000 inputs of", "GiB of memory, more than the ")


def test_other_tasks_are_refused(file: Path, mainline: TrainedRun) -> None:
    with pytest.raises(ValueError, match="unknown operation 'power'; known are add, sub, mul"):
        modinterp.explain(file, op="power")
    other = TrainedRun("mine", PrimeRemainders(113), mainline.model)
    with pytest.raises(
        ValueError, match="explain takes networks with one kind of answer; this network learned remainders"
    ):
        modinterp.explain(other)
    with pytest.raises(ValueError, match="give the modulus p: <lambda> does not contain"):
        modinterp.explain(lambda tokens: tokens)


def test_a_run_without_its_weights_is_refused(file: Path) -> None:
    with pytest.raises(NotRecorded, match="mine came with its history, not with its weights"):
        modinterp.explain(TrainedRun("mine", addition(P), None))


def test_a_wrong_operation_is_not_solved(file: Path) -> None:
    x = modinterp.explain(file, op="sub", draws=99)
    assert x["accuracy"] < 0.1
    assert x.verdict.label == "doubtful"
    assert x.verdict.words.startswith(
        "The network answers 4.35% of the inputs correctly under the assumptions made here, but all of the inputs with op=add"
    )
    assert x.warning is not None
    assert x.warning.trials[0].assumption == "op=add"


def test_a_hint_where_the_neurons_are_of_another_kind(file: Path, explained: Explanation) -> None:
    wrong = modinterp.explain(file, act_fn="none", draws=99)
    assert wrong["accuracy"] < 0.9
    assert wrong.warning is not None
    assert "act_fn='relu'" in wrong.warning.words
    assert {t.assumption: t.score.accuracy for t in wrong.warning.trials}["act_fn='relu'"] == 1
    assert wrong.verdict.label == "doubtful"
    assert explained.warning is None


def test_help_does_not_wait_for_torch() -> None:
    code = (
        "import sys, runpy; sys.argv = ['x', '--help']\n"
        "try: runpy.run_module('modinterp.explain', run_name='__main__')\n"
        "except SystemExit: pass\nsys.exit('torch' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, "torch was imported"
    assert "usage: python -m modinterp.explain" in done.stdout
