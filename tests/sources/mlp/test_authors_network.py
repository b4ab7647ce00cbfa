"""The network that the notebook's author trained: it gives the numbers that he printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference import REFERENCE

from modinterp.claims import VERDICTS
from modinterp.commands.reproduce import main
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources.mlp.claims import CLAIMS, CONTRADICTIONS
from modinterp.sources.mlp.claims.readoff import TABLE
from modinterp.tasks import addition

AUTHORS = REFERENCE / "modular_addition_2l_mlp_model.pt"


@pytest.mark.skipif(not AUTHORS.is_file(), reason="the reference networks are not at hand")
def test_the_authors_network_gives_his_printed_numbers(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["mlp", "--checkpoint", str(AUTHORS), "--out", str(tmp_path)]) == 0
    claims = {claim["id"]: claim for claim in json.loads((tmp_path / "claims.json").read_text())}
    assert {id for id, claim in claims.items() if claim["verdict"] != "holds"} == {"mlp.final_losses"}
    assert claims["mlp.final_losses"]["verdict"] == "open"
    norms = claims["mlp.wu_norm_ratio"]["measured"]
    assert norms["norm at the key frequencies"] == pytest.approx(36.2037, abs=5e-5)
    assert norms["norm of W_U"] == pytest.approx(36.8518, abs=5e-5)
    assert norms["ratio of norms"] == pytest.approx(0.98241, abs=5e-6)
    assert claims["mlp.key_freqs"]["measured"]["n_keys"] == 13
    assert claims["mlp.test_acc"]["measured"]["test accuracy"] == 1.0
    for freq, printed in TABLE.items():
        fve = claims[f"mlp.fve.k{freq}"]["measured"]
        assert [fve[f"FVE of {wave} {freq}"] for wave in ("sin", "cos")] == pytest.approx(list(printed), abs=5e-5)
    page = (tmp_path / "index.html").read_text()
    assert "one network that somebody else trained" in page
    assert "The training inputs of this network are not known" in page
    assert 'id="figure-readoff"' in page
    assert 'id="figure-curves"' not in page
    printed = capsys.readouterr().out
    assert (
        "36 claims, 35 measurements: 6 hold: mathematics and set-up, 28 hold in fewer than 8 seeds (29 statements), 1 open"
        in printed
    )
    assert "was recorded as" not in printed


def test_contradictions_of_the_notebook_are_all_settled() -> None:
    assert {c.id for c in CONTRADICTIONS} == {*(f"X-K{n}" for n in range(1, 7)), "X-A5", "X-A12"}


@pytest.mark.parametrize("shape", ["mlp", {}, {"d_mlp": None}, {"n_layers": 2}, {"mlp_biases": False}], ids=str)
def test_claims_take_any_architecture(shape: str | dict) -> None:
    task = addition(13, equals=False)
    sizes = {"d_model": 16, "d_mlp": 24}
    if shape == "mlp":
        config = MLPConfig.of(task, **sizes)
    else:
        config = TransformerConfig.of(task, **sizes | {"n_heads": 2, "d_head": 8} | shape)
    run = TrainedRun("mine", task, hooked(config, initial_weights(config, 0)))
    for claim in CLAIMS:
        if claim.needs:
            assert claim.check_foreign(run).verdict in VERDICTS, claim.id
