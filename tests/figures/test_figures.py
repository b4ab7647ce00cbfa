"""Figures drawn from the shipped run: axes named, data real, nothing shown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import pytest
from loops import check_each
from reproduced import Reproduced

from modinterp.figures.theme import CATEGORIES, MUTED, colour_of, panels, with_panel_title
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.runs import TrainedRun
from modinterp.sources import source, sources
from modinterp.sources.nanda.runs import SEEDS


@pytest.fixture
def seeds(reproduced: Callable[[str], Reproduced]) -> dict[str, NetworkMeasurements]:
    measured = reproduced("nanda").reproduction.measured
    return {name: measured[name] for name in SEEDS[1:]}


def test_every_figure_up_to_the_further_seeds_is_drawn(reproduced: Callable[[str], Reproduced]) -> None:
    assert {number for number, _ in reproduced("nanda").reproduction.figures.values()} >= {
        f"Figure {n}" for n in range(1, 20)
    }


def says_what_to_see_and_names_its_axes(key: str, figure: go.Figure) -> None:
    assert len(figure.layout.title.text) > 20
    if key == "algorithm":
        return
    assert len(figure.data) > 0
    layout = figure.layout.scene if figure.data[0].type == "scatter3d" else figure.layout
    for axis in "xy":
        named = [a.title.text for a in (layout[n] for n in layout if n.startswith(f"{axis}axis")) if a.title.text]
        assert named or key == "interventions"
    for trace in figure.data:
        values = [trace.z] if trace.type == "heatmap" else [axis for axis in (trace.x, trace.y) if axis is not None]
        shown = [value for axis in values for value in np.asarray(axis, dtype=object).flat]
        numbers = [value for value in shown if value is not None and not isinstance(value, str)]  # None parts two lines
        assert numbers, key
        assert np.isfinite(np.array(numbers, dtype=float)).all(), key


@pytest.mark.parametrize("name", sources())
def test_figure_says_what_to_see_and_names_its_axes(name: str, reproduced: Callable[[str], Reproduced]) -> None:
    drawn = reproduced(name).reproduction.figures
    if drawn:
        check_each(drawn, lambda key: says_what_to_see_and_names_its_axes(key, drawn[key][1]))
    if missing := [key for key in source(name).drawings if key not in drawn]:
        pytest.skip(f"the runs are not shipped that these are drawn from: {', '.join(missing)}")


def test_spectra_show_the_norms_of_the_run(mainline: TrainedRun, reproduced: Callable[[str], Reproduced]) -> None:
    bars = reproduced("nanda").reproduction.figures["spectra"][1].data
    shown = np.sqrt(np.asarray(bars[2].y) ** 2 + np.asarray(bars[3].y) ** 2)
    np.testing.assert_allclose(shown, measure(mainline).keys.norms, rtol=1e-5)


def test_a_colour_means_one_frequency() -> None:
    assert [colour_of(k, [3, 9]) for k in (3, 9, 4)] == [*CATEGORIES[:2], MUTED]


@pytest.mark.parametrize("name", sources())
def test_nothing_is_drawn_without_the_run(name: str) -> None:
    about = source(name)
    for key, each in about.drawings.items():
        assert (each.figure({}, about.main_run) is None) != each.needs_no_run, key
        assert each.needs_no_run or each.made_table({}, about.main_run) is None, key


def test_tables_3_and_4_stand_beside_the_papers(seeds: dict[str, NetworkMeasurements]) -> None:
    drawings, main = source("nanda").drawings, SEEDS[0]
    table = drawings["readoff_seeds"].made_table(seeds, main)
    assert table["the paper: FVE"].count() == 30
    for number, rows in table.groupby("seed"):
        own = seeds[SEEDS[int(number)]]
        assert rows["ours: FVE"].dropna().tolist() == [row.explained for row in own.readoff.rows]
        assert len(rows) == max(rows["the paper: FVE"].count(), 2 * len(own.freqs))
    losses = drawings["keys_and_others"].made_table(seeds, main).set_index("seed")
    assert losses.loc[2, "the paper: test loss without key frequencies"] == 11
    last = seeds[SEEDS[2]].run.progress.iloc[-1]  # taken by other code, before the weights were rounded to float16
    for part, column in ((" of the whole network", "test_loss"), (" without key frequencies", "excluded_loss_test"),
                         (" without all others", "restricted_loss_test")):  # fmt: skip
        assert losses.loc[2, f"ours: test loss{part}"] == pytest.approx(last[column], rel=1e-3)


def test_one_seed_is_enough_for_what_is_drawn_of_the_seeds(seeds: dict[str, NetworkMeasurements]) -> None:
    one, drawings = {SEEDS[3]: seeds[SEEDS[3]]}, source("nanda").drawings
    of_seeds = ("spectra_W_E", "spectra_W_L", "readoff_seeds", "keys_and_others", "losses_seeds", "ginis_seeds")
    assert all(drawings[key].figure(one, SEEDS[0]) is not None for key in of_seeds)
    table = drawings["keys_and_others"].made_table(one, SEEDS[0]).set_index("seed")
    assert table["ours: test loss of the whole network"].notna().tolist() == [False, False, True, False]


def test_panels_stand_in_two_columns() -> None:
    figure, places = panels("abc")
    assert places == {"a": (1, 1), "b": (1, 2), "c": (2, 1)}
    assert with_panel_title(figure, "Three things side by side", places).layout.height == 680
