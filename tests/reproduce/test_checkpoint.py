"""A source's claims on somebody's file: what it tells is measured, what it cannot tell is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import REFERENCE

from modinterp.claims import mlp, nanda
from modinterp.claims.mlp.readoff import TABLE
from modinterp.models import initial_weights
from modinterp.reproduce.__main__ import main
from modinterp.runs import load, named, store

AUTHORS = REFERENCE / "modular_addition_2l_mlp_model.pt"


def measured(out: Path) -> dict[str, dict]:
    return {claim["id"]: claim for claim in json.loads((out / "claims.json").read_text())}


@pytest.mark.skipif(not AUTHORS.is_file(), reason="the reference networks are not at hand")
def test_the_authors_network_gives_his_printed_numbers(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["mlp", "--checkpoint", str(AUTHORS), "--out", str(tmp_path)]) == 0
    claims = measured(tmp_path)
    assert {id for id, claim in claims.items() if claim["verdict"] != "holds"} == {"mlp.final_losses"}
    assert claims["mlp.final_losses"]["verdict"] == "not measured"
    norms = claims["mlp.wu_norm_ratio"]["measured"]
    assert norms["norm at the key frequencies"] == pytest.approx(36.2037, abs=5e-5)
    assert norms["norm"] == pytest.approx(36.8518, abs=5e-5)
    assert norms["ratio of norms"] == pytest.approx(0.98241, abs=5e-6)
    assert claims["mlp.key_freqs"]["measured"]["key frequencies"] == 13
    assert claims["mlp.test_acc"]["measured"]["test accuracy"] == 1.0
    for freq, printed in TABLE.items():
        found = claims[f"mlp.fve.k{freq}"]["measured"]
        assert [found[f"FVE of {wave} {freq}"] for wave in ("sin", "cos")] == pytest.approx(list(printed), abs=5e-5)
    page = (tmp_path / "index.html").read_text()
    assert "one network that somebody else trained" in page
    assert 'id="figure-readoff"' in page
    assert 'id="figure-curves"' not in page
    printed = capsys.readouterr().out
    assert "36 claims: 35 hold, 0 refuted, 1 not measured" in printed
    assert "was recorded as" not in printed


def test_a_network_that_learned_nothing_is_refuted(tmp_path: Path) -> None:
    path = tmp_path / "start.safetensors"
    store.write_weights(path, initial_weights(named("mlp/kissane-0").model, seed=0))
    assert main(["mlp", "--checkpoint", str(path), "--out", str(tmp_path / "out")]) == 1
    claims = measured(tmp_path / "out")
    assert claims["mlp.test_acc"]["verdict"] == claims["mlp.neurons_9_terms"]["verdict"] == "refuted"
    assert claims["mlp.arch"]["verdict"] == "holds"


def test_our_own_weights_without_their_history(tmp_path: Path) -> None:
    path = tmp_path / "mainline.safetensors"
    store.write_weights(path, load("nanda/mainline-0").model.state_dict())
    main(["nanda", "--checkpoint", str(path), "--out", str(tmp_path / "out")])
    claims = measured(tmp_path / "out")
    for id, claim in claims.items():
        if claim["verdict"] != "not measured":
            assert claim["verdict"] == nanda[id].finding.verdict, id
    needs_training = [f"nanda.{x}" for x in ("fig2.left.accuracy", "fig7.tl", "fig7.br", "fig14")]
    assert all(claims[id]["verdict"] == "not measured" for id in needs_training)
    assert sum(claim["verdict"] == "holds" for claim in claims.values()) > 40


def test_bad_input_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "model.pt"
    for words, arguments in {
        "there is no file": ["mlp", "--checkpoint", str(path)],
        "one network of one source": ["all", "--checkpoint", str(path)],
        "without --runs": ["mlp", "--checkpoint", str(path), "--runs", str(tmp_path)],
    }.items():
        assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert words in error
    store.write_weights(tmp_path / "other.safetensors", load("nanda/mainline-0").model.state_dict())
    assert main(["mlp", "--checkpoint", str(tmp_path / "other.safetensors"), "--out", str(tmp_path / "out")]) == 2
    assert "needs d_vocab 113, but the weights have 114" in capsys.readouterr().err


def test_contradictions_of_the_notebook_are_all_settled() -> None:
    assert {c.id for c in mlp.contradictions} == {*(f"X-K{n}" for n in range(1, 7)), "X-A5", "X-A12"}
