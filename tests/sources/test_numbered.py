"""Figures by their numbers in the paper, from the runs that are shipped, and as a PNG."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
import pytest
from widths import browser

import modinterp as mi
from modinterp.sources.numbered import key_of
from modinterp.sources.registry import sources


@pytest.mark.parametrize(
    ("number", "key"),
    [("2", "curves"), ("Figure 5", "neurons"), ("fig. 7", "progress"), ("fig3", "spectra"), ("table 1", "readoff"),
     ("film", "film"), ("Figure 29 top", "digits"), ("l1", "l1")],
)  # fmt: skip
def test_numbers_lead_to_figures(number: str, key: str) -> None:
    assert key_of(mi.source("nanda"), number) == key


def test_several_numbers_and_parts() -> None:
    assert key_of(mi.source("he"), "6") == "phases"  # Figures 5 and 6
    with pytest.raises(ValueError, match="Figure 28 of nanda has several parts; name one: dropout, l1"):
        key_of(mi.source("nanda"), "Figure 28")
    with pytest.raises(ValueError, match=r"nanda has no figure 'curvse', did you mean 'curves'|did you mean"):
        key_of(mi.source("nanda"), "curvse")


@pytest.mark.parametrize("name", sources())
def test_every_key_is_a_number_of_its_source(name: str) -> None:
    assert all(key_of(mi.source(name), key) == key for key in mi.source(name).drawings)


def test_a_figure_is_drawn_and_written_as_png(tmp_path: Path) -> None:
    browser()
    figure = mi.source("nanda").figure("3")
    assert isinstance(figure, go.Figure)
    assert "14" in str(figure.layout.title.text) + str([trace.name for trace in figure.data]) + str(figure.layout)
    figure.write_image(tmp_path / "figure3.png")
    content = (tmp_path / "figure3.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 10_000


def test_where_no_run_is_here_it_says_how_to_train_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODINTERP_CHECKPOINTS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="trains the run"):
        mi.source("nanda").figure("3")
