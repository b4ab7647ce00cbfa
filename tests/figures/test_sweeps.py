"""Figures of sweeps and sequences, drawn from planted trainings: what is there is drawn, and drawn right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from claims.test_appendix import GROKKING, fractions, trained

from modinterp.claims import evidence
from modinterp.figures import history, sequences, sweeps
from modinterp.reproduce.nanda_appendix import FIGURES, TABLES
from modinterp.runs import TrainedRun


def table(epochs: list[int], loss: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"epoch": epochs, "train_loss": loss, "test_loss": loss})


def test_a_training_that_ended_counts_with_its_last_row() -> None:
    mean = history.mean_history([table([0, 10, 20], [4.0, 2.0, 2.0]), table([0, 20, 40], [2.0, 6.0, 8.0])])
    assert mean["epoch"].tolist() == [0, 10, 20, 40]
    assert mean["test_loss"].tolist() == [3.0, 2.0, 4.0, 5.0]


def test_a_sweep_has_a_bold_mean_a_value_and_a_thin_line_a_seed() -> None:
    one, two = table([0, 10], [4.0, 1.0]), table([0, 10], [2.0, 1.0])
    figure = sweeps.sweep({"few": [one, two], "many": [one]}, "What to see", log_epochs=True)
    bold = [trace for trace in figure.data if trace.line.width > 2]
    assert [trace.name for trace in figure.data if trace.showlegend] == ["few", "many"]
    assert len(bold) == 4
    assert len(figure.data) == 8
    assert len({trace.line.color for trace in bold}) == 2
    assert all(min(trace.x) > 0 for trace in figure.data)
    assert figure.layout.yaxis.type == figure.layout.xaxis2.type == "log"


def test_thresholds_that_are_never_reached_are_left_out() -> None:
    figure = FIGURES["thresholds"][1](evidence(fractions()[2]), {run.name: run for run in fractions()})
    assert figure is not None
    shown = {trace.name: trace for trace in figure.data}
    assert len(shown["train loss below 1e-06"].x) == 9
    np.testing.assert_allclose(shown["test loss below 1e-06"].x, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], rtol=1e-6)
    assert (np.diff(shown["test loss below 1e-06"].y) < 0).all()


def test_figures_draw_the_part_that_is_there() -> None:
    main = trained("nanda/mainline-0", grokked=9_000)
    for key in ("fractions", "decays", "precision", "two_layers", "table5", "table6"):
        assert FIGURES[key][1](evidence(main), {main.name: main}) is None, key
        assert key not in TABLES or TABLES[key][1](evidence(main), {main.name: main}) is None
    some = {run.name: run for run in fractions({percent: GROKKING[percent] for percent in (30, 60)})}
    figure = FIGURES["fractions"][1](evidence(main), some)
    assert figure is not None
    assert [trace.name for trace in figure.data if trace.showlegend] == ["30%", "60%"]


@pytest.fixture(scope="module")
def described() -> dict[str, TrainedRun]:
    names = ("nanda/fraction-60-0", "nanda/p53-decay-5-1", "nanda/dropout-0.2-0")
    return {name: trained(name, grokked=500) for name in names}


def test_table_5_puts_ours_beside_the_papers(described: dict[str, TrainedRun]) -> None:
    made = TABLES["table5"][1](evidence(described["nanda/fraction-60-0"]), described)
    assert made is not None
    made = made.set_index("row")
    assert len(made) == 27
    assert made.loc["60pct_data", "the paper: key frequencies"] == "2, 23, 34, 51"
    assert made.loc["60pct_data", "the paper: logit FVE"] == pytest.approx(0.964)
    found = evidence(described["nanda/fraction-60-0"]).summary
    assert made.loc["60pct_data", "ours: Gini of W_L"] == pytest.approx(found.gini_W_L)
    assert made["ours: logit FVE"].notna().sum() == 3


def test_table_6_takes_means_over_the_networks_that_are_there(described: dict[str, TrainedRun]) -> None:
    made = TABLES["table6"][1](evidence(described["nanda/fraction-60-0"]), described)
    assert made is not None
    made = made.set_index("setting")
    assert made["our networks"].tolist() == [1, 0, 1, 0, 1, 0]
    found = evidence(described["nanda/p53-decay-5-1"]).summary
    assert made.loc["P53", "ours: ablated loss"] == pytest.approx(found.without_skip.loss)
    assert made.loc["P53", "the paper: ablated loss"] == "1.5e-4 (2.70e-4)"


@pytest.mark.parametrize("key", ["table5", "table6"])
def test_networks_are_drawn_beside_the_papers(key: str, described: dict[str, TrainedRun]) -> None:
    figure = FIGURES[key][1](evidence(described["nanda/fraction-60-0"]), described)
    assert figure is not None
    points = sum(len(trace.x) for trace in figure.data)
    assert points == (27 + 3 if key == "table5" else 2 * (6 + 3))


def test_digits_have_a_colour_each_and_their_mean() -> None:
    names = [f"digit_{place}" for place in range(3)]
    one = table([0, 10, 20], [2.0, 1.0, 0.5]).assign(**{f"test_loss_{name}": [2.0, 1.0, 0.1] for name in names})
    figure = sequences.digits([one, one], names, "What to see")
    shown = [trace for trace in figure.data if trace.showlegend is None]
    assert [trace.name for trace in shown] == ["digit 0", "digit 1", "digit 2", "mean of all"]
    assert len({trace.line.color for trace in shown}) == 4
