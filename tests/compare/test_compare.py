"""Several networks side by side: what is planted differs, and the table says where."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pandas as pd
import pytest
from explain import planted

import modinterp
from modinterp import tasks
from modinterp.commands.compare import main
from modinterp.compare import Comparison, compare
from modinterp.models import from_state_dict
from modinterp.runs import TrainedRun
from modinterp.runs.store import write_weights

P = 17
FREQS = {"first": (3, 5), "second": (5, 7)}
NETWORKS = {name: from_state_dict(planted.clock(P, freqs), tasks.addition(P)) for name, freqs in FREQS.items()}


@pytest.fixture(scope="module")
def planted_ones() -> Comparison:
    runs = {name: TrainedRun(name, tasks.addition(P), network) for name, network in NETWORKS.items()}
    hidden = {"hidden": lambda tokens: NETWORKS["first"](tokens)}
    return compare(runs | hidden, op="add", p=P, draws=99)


def test_the_table_says_what_differs(planted_ones: Comparison) -> None:
    table = planted_ones.table()
    assert list(table.columns) == ["first", "second", "hidden"]
    assert table.loc["frequencies"].tolist() == ["3, 5", "5, 7", "3, 5"]
    assert table.loc["accuracy"].tolist() == [1, 1, 1]
    assert table.loc["neurons_explained", "hidden"] == ""
    numbers = planted_ones.numbers()
    assert numbers.loc["logit_fve", "first"] == planted_ones["first"]["logit_fve"]
    assert pd.isna(numbers.loc["neurons_explained", "hidden"])
    agreement = planted_ones.agreement()
    assert agreement.loc["first", "hidden"] == 1
    assert agreement.loc["first", "second"] == pytest.approx(1 / 3)
    shares = planted_ones.frequencies().set_index("freq")
    assert shares.loc[3, "second"] == pytest.approx(0, abs=1e-9)
    assert shares["first"].sum() == pytest.approx(1)
    losses = planted_ones.losses_without().set_index("freq")
    assert losses["first"].idxmax() in FREQS["first"]
    assert losses["second"].idxmax() in FREQS["second"]
    with pytest.raises(KeyError, match="no network 'third'; choose one of first, second, hidden"):
        planted_ones["third"]


def test_a_network_of_zeros_has_no_share_of_anything() -> None:
    zeros = from_state_dict({n: 0 * w for n, w in planted.clock(P, (3, 5)).items()}, tasks.addition(P))
    shares = compare({"first": NETWORKS["first"], "zeros": zeros}, op="add", p=P).frequencies()
    assert shares["zeros"].isna().all()
    assert shares["first"].sum() == pytest.approx(1)


def test_the_command_writes_one_page(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for name, freqs in FREQS.items():
        write_weights(tmp_path / f"{name}.safetensors", planted.clock(P, freqs))
    files = [str(tmp_path / f"{name}.safetensors") for name in FREQS]
    assert main([*files, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "agreement of the key frequencies" in printed
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())[files[0]]["key_frequencies"] == [3, 5]
    page = html.unescape((tmp_path / "out" / "index.html").read_text())
    assert page.count("class='plot'") == 3
    assert "How well formulas reproduce each network" in page
    assert str(tmp_path) not in page  # which may be shown to others
    for word in ("first.safetensors", "second.safetensors", "3, 5", "5, 7", "Fourier multiplication"):
        assert word in page
    assert main([files[0], "--act", "square", "--out", str(tmp_path / "out")]) == 0
    assert "probably trained with act_fn='relu'" in capsys.readouterr().out
    assert main([files[0], files[0], "--out", str(tmp_path / "out")]) == 2
    assert "two networks are called" in capsys.readouterr().err
    assert main([files[0], "--epochs", "3", "--out", str(tmp_path / "out")]) == 2
    assert "epochs needs a run with snapshots" in capsys.readouterr().err


def test_snapshots_of_one_training_and_nothing(mainline: TrainedRun) -> None:
    with pytest.raises(ValueError, match="has no snapshot of epoch 3; it has snapshots of epochs 0, "):
        modinterp.compare([mainline], epochs=(3,))
    with pytest.raises(ValueError, match="there is no network to compare"):
        modinterp.compare([])


def test_frequencies_of_other_moduli_are_not_compared() -> None:
    runs = {
        f"mod {p}": TrainedRun(
            f"mod {p}", tasks.addition(p), from_state_dict(planted.clock(p, (3, 5)), tasks.addition(p))
        )
        for p in (P, 23)
    }
    agreement = compare(runs, draws=99).agreement()
    assert agreement.isna().to_numpy().tolist() == [[False, True], [True, False]]
