"""A search drawn: a line for every trial, its heights in the order of its choices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from modinterp.figures import searches as figures
from modinterp.runs.search import Question, Search, Space


def untrained(choice: object, question: object) -> None:
    raise AssertionError("nothing is trained to draw a search")


SPACE = Space(
    source="mine",
    choices={"dropout": (0, 1 / 2, 1 / 10), "lr": (3e-4, 1e-4), "n_heads": (4, 8)},
    labels={"dropout": "dropout", "lr": "learning rate", "n_heads": "heads"},
    training=untrained,
)


def trials(n: int = 12) -> pd.DataFrame:
    rows = []
    for trial in range(n):
        choice = {name: choices[(trial + i) % len(choices)] for i, (name, choices) in enumerate(SPACE.choices.items())}
        state = {"state": "pruned" if trial % 3 == 0 else "complete", "epochs": 16 if trial % 3 == 0 else 32}
        rows.append(
            {"trial": trial, **choice, **state, "loss": 5.0 - 0.3 * trial, "test_accuracy": 0.2, "seconds": 1.0}
        )
    return pd.DataFrame(rows)


SHARES = {"dropout": 0.2, "lr": 0.3, "n_heads": 0.5}
FOUND = Search(SPACE, Question(5, 32), trials(), SHARES)


def test_every_trial_is_a_line_through_its_choices() -> None:
    figure = figures.parallel_coordinates(FOUND)
    lines = [trace for trace in figure.data if len(trace.x) > 1]
    assert len(lines) == 12
    assert {len(line.x) for line in lines} == {len(SPACE.choices) + 1}
    by_loss = FOUND.trials.sort_values("loss", ascending=False)  # the best is drawn last, on top
    heights = np.array([line.y for line in lines])
    assert heights[-1][-1] == 0
    assert (np.diff(heights[:, -1]) < 0).all()
    for column, (name, choices) in enumerate(SPACE.choices.items()):
        for low, high in zip(sorted(choices), sorted(choices)[1:], strict=False):
            below, above = (heights[(by_loss[name] == value).to_numpy(), column] for value in (low, high))
            assert below.max() < above.min(), name
    assert sum(line.line.width == 1 for line in lines) == 4  # the pruned
    assert "8 of 12 trials" in figure.layout.title.text


def test_importances_are_drawn_in_their_order() -> None:
    (bars,) = figures.importances(FOUND).data
    assert list(bars.x) == sorted(bars.x)
    assert list(bars.y) == ["dropout", "learning rate", "heads"]


def test_one_trial_is_drawn_too() -> None:
    alone = Search(SPACE, FOUND.question, FOUND.trials[1:2], FOUND.importances)
    assert np.isfinite(np.array(figures.parallel_coordinates(alone).data[0].y)).all()
