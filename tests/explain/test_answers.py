"""The verdict in three sentences says what the numbers say."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import modinterp as mi
from modinterp.explain import Explanation
from modinterp.explain.short_answers import QUESTIONS, answers


def said(found: Explanation) -> tuple[tuple[str, str], ...]:
    return answers(found.measurements, found.verdict, found.warning)


SMALL = Path(__file__).parents[2] / "docs" / "trained"


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    return mi.load("sums-29", root=SMALL).model


def test_a_network_that_adds(network: torch.nn.Module) -> None:
    found = mi.explain(network, op="add", p=29, draws=99)
    does, how, sure = (answer for _, answer in said(found))
    assert [question for question, _ in said(found)] == list(QUESTIONS)
    assert does.startswith("Yes: the network answers a + b mod 29 correctly")
    assert all(str(k) in how for k in found.measurements.freqs)
    assert "changed inside" in sure
    assert f"{len(found.verdict.criteria)} numbers" in sure


def test_under_a_wrong_operation(network: torch.nn.Module) -> None:
    does, how, sure = (answer for _, answer in said(mi.explain(network, op="sub", p=29, draws=99)))
    assert does.startswith("No: the network answers a - b mod 29 correctly on ")
    assert "not known" in how
    assert sure == "Not certain: see the warning below."


def test_a_table_of_pairs() -> None:
    """No wave and no rule: the answers of one pair in three, and noise elsewhere."""
    torch.manual_seed(0)
    p, table = 13, torch.randn(13, 13, 13)
    pairs = torch.arange(p)[:, None].expand(p, p), torch.arange(p).expand(p, p)
    known = torch.rand(p, p) < 0.4
    table[(*pairs, (pairs[0] + pairs[1]) % p)] += 20.0 * known
    found = mi.explain(lambda tokens: table[tokens[:, 0], tokens[:, 1]], op="add", p=p, equals=False, draws=99)
    does, _, _ = (answer for _, answer in said(found))
    assert does.startswith("Partly: the network answers a + b mod 13 correctly on ")


def test_in_a_notebook_it_shows_answers_and_figures(network: torch.nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    found = mi.explain(network, op="add", p=29, draws=99)
    assert "<dt>How does it do the task?</dt>" in found._repr_html_()
    assert {"spectra", "single", "symmetry"} <= set(found.figures)
    pytest.importorskip("IPython")
    displayed: list[object] = []
    monkeypatch.setattr("IPython.display.display", displayed.append)
    found._ipython_display_()
    assert [type(each).__name__ for each in displayed[:2]] == ["HTML", "Figure"]
    assert len(displayed) == 1 + len({"dial", "dose_response", "spectra", "single", "symmetry"} & set(found.figures))
