"""Figures and tables of the appendices, drawn from planted trainings: what is there is drawn, and drawn right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from sources.nanda.planted import GROKKING, fractions, trained

from modinterp.measurements import CyclicMeasurements, measure
from modinterp.runs import TrainedRun
from modinterp.sources import source

Measured = dict[str, CyclicMeasurements]


def measured(*runs: TrainedRun) -> Measured:
    return {run.name: measure(run) for run in runs}


def drawn(key: str, of: Measured) -> go.Figure | None:
    return source("nanda").drawings[key].figure(of, "nanda/mainline-0")


def made(key: str, of: Measured) -> pd.DataFrame | None:
    return source("nanda").drawings[key].made_table(of, "nanda/mainline-0")


def test_thresholds_that_are_never_reached_are_left_out() -> None:
    figure = drawn("thresholds", measured(*fractions()))
    assert figure is not None
    shown = {trace.name: trace for trace in figure.data}
    assert len(shown["train loss below 1e-06"].x) == 9
    np.testing.assert_allclose(shown["test loss below 1e-06"].x, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], rtol=1e-6)
    assert (np.diff(shown["test loss below 1e-06"].y) < 0).all()


def test_figures_draw_the_part_that_is_there() -> None:
    main = measured(trained("nanda/mainline-0", grokked=9_000))
    for key in ("fractions", "thresholds", "decays", "precision", "two_layers", "digits_each", "composition",
                "readoff_seeds", "keys_and_others", "table5", "table6"):  # fmt: skip
        assert drawn(key, main) is None, key
        assert made(key, main) is None, key
    figure = drawn("fractions", measured(*fractions({percent: GROKKING[percent] for percent in (30, 60)})))
    assert figure is not None
    assert [trace.name for trace in figure.data if trace.showlegend] == ["30%", "60%"]


@pytest.fixture(scope="module")
def described() -> Measured:
    names = ("nanda/fraction-60-0", "nanda/p53-decay-5-1", "nanda/dropout-0.2-0")
    return measured(*(trained(name, grokked=500) for name in names))


def test_table_5_puts_ours_beside_the_papers(described: Measured) -> None:
    table = made("table5", described)
    assert table is not None
    table = table.set_index("row")
    assert len(table) == 27
    assert table.loc["60pct_data", "the paper: key frequencies"] == "2, 23, 34, 51"
    assert table.loc["60pct_data", "the paper: logit FVE"] == pytest.approx(0.964)
    summary = described["nanda/fraction-60-0"].summary
    assert table.loc["60pct_data", "ours: Gini of W_L"] == pytest.approx(summary.gini_W_L)
    assert table["ours: logit FVE"].notna().sum() == 3


def test_table_6_takes_means_over_the_networks_that_are_there(described: Measured) -> None:
    table = made("table6", described)
    assert table is not None
    table = table.set_index("setting")
    assert table["our networks"].tolist() == [1, 0, 1, 0, 1, 0]
    summary = described["nanda/p53-decay-5-1"].summary
    assert table.loc["P53", "ours: mean ablated loss"] == pytest.approx(summary.without_skip.loss)
    assert table.loc["P53", "the paper: mean ablated loss"] == "1.5e-4 (2.70e-4)"


@pytest.mark.parametrize("key", ["table5", "table6"])
def test_networks_are_drawn_beside_the_papers(key: str, described: Measured) -> None:
    figure = drawn(key, described)
    assert figure is not None
    points = sum(len(trace.x) for trace in figure.data)
    assert points == (27 + 3 if key == "table5" else 2 * (6 + 3))
