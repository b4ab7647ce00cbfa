"""Figures of sweeps and sequences, drawn from planted tables: what is there is drawn, and drawn right."""

from __future__ import annotations

import pandas as pd

from modinterp.figures import history, sequences, sweeps


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


def test_digits_have_a_colour_each_and_their_mean() -> None:
    names = [f"digit_{place}" for place in range(3)]
    one = table([0, 10, 20], [2.0, 1.0, 0.5]).assign(**{f"test_loss_{name}": [2.0, 1.0, 0.1] for name in names})
    figure = sequences.digits([one, one], names, "What to see")
    shown = [trace for trace in figure.data if trace.showlegend is None]
    assert [trace.name for trace in shown] == ["digit 0", "digit 1", "digit 2", "mean of all digits"]
    assert len({trace.line.color for trace in shown}) == 4
