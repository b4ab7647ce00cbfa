"""Figures drawn from the shipped run: axes named, data real, nothing shown."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from modinterp.claims import SOURCES, evidence
from modinterp.claims.nanda.setup import SEEDS
from modinterp.figures.theme import CATEGORIES, MUTED, colour_of, framed_panels, panels
from modinterp.reproduce.run import DRAWN, available_runs
from modinterp.runs import TrainedRun, load

KEYS = [(source, key) for source, drawings in DRAWN.items() for key in sorted(drawings.keys)]
Drawn = dict[str, tuple[str, go.Figure]]


@pytest.fixture(scope="module")
def seeds() -> dict[str, TrainedRun]:
    return {name: load(name) for name in SEEDS[1:]}


def figures_of(source: str) -> Drawn:
    """All figures of one source, from all its runs that are shipped."""
    claims, drawings = list(SOURCES[source].values()), DRAWN[source]
    figures = drawings.figures(available_runs(claims, None, "cpu", drawings.needed(drawings.keys)), drawings.keys)
    gc.collect()  # the runs, which know what was measured of them
    return figures


@pytest.fixture(scope="module")
def drawn() -> Callable[[str], Drawn]:
    """`figures_of`, drawn once; kept no longer than these tests run."""
    return cache(figures_of)


def test_every_figure_up_to_the_further_seeds_is_drawn(drawn: Callable[[str], Drawn]) -> None:
    assert {number for number, _ in drawn("nanda").values()} >= {f"Figure {n}" for n in range(1, 20)}


@pytest.mark.parametrize(("source", "key"), KEYS)
def test_figure_says_what_to_see_and_names_its_axes(source: str, key: str, drawn: Callable[[str], Drawn]) -> None:
    if key not in drawn(source):
        pytest.skip("the runs it is drawn from are not shipped")
    figure = drawn(source)[key][1]
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


@pytest.mark.parametrize("source", SOURCES)
def test_figures_of_the_claims_exist(source: str) -> None:
    for claim in SOURCES[source].values():
        assert claim.figure in {"", *DRAWN[source].keys}, claim.id


def test_spectra_show_the_norms_of_the_run(mainline: TrainedRun, drawn: Callable[[str], Drawn]) -> None:
    bars = drawn("nanda")["spectra"][1].data
    shown = np.sqrt(np.asarray(bars[2].y) ** 2 + np.asarray(bars[3].y) ** 2)
    np.testing.assert_allclose(shown, evidence(mainline).keys.norms, rtol=1e-5)


def test_a_colour_means_one_frequency() -> None:
    assert [colour_of(k, [3, 9]) for k in (3, 9, 4)] == [*CATEGORIES[:2], MUTED]


@pytest.mark.parametrize("source", SOURCES)
def test_nothing_is_drawn_without_the_run(source: str) -> None:
    drawings = DRAWN[source]
    assert set(drawings.figures({}, drawings.keys)) == set(drawings.of_no_run)
    assert drawings.tables({}, set(drawings.figures_of)) == {}


def test_tables_3_and_4_stand_beside_the_papers(seeds: dict[str, TrainedRun]) -> None:
    table = DRAWN["nanda"].tables(seeds, {"readoff_seeds"})["readoff_seeds"][1]
    assert table["the paper: FVE"].count() == 30
    for number, rows in table.groupby("seed"):
        own = evidence(seeds[SEEDS[int(number)]])
        assert rows["ours: FVE"].dropna().tolist() == [row.explained for row in own.readoff.rows]
        assert len(rows) == max(rows["the paper: FVE"].count(), 2 * len(own.freqs))
    losses = DRAWN["nanda"].tables(seeds, {"keys_and_others"})["keys_and_others"][1].set_index("seed")
    assert losses.loc[2, "the paper: test loss without key frequencies"] == 11
    last = seeds[SEEDS[2]].progress.iloc[-1]  # taken by other code, before the weights were rounded to float16
    for name, column in (("", "test_loss"), (" without key frequencies", "excluded_loss_test"),
                         (" without all others", "restricted_loss_test")):  # fmt: skip
        assert losses.loc[2, f"ours: test loss{name}"] == pytest.approx(last[column], rel=1e-3)


def test_one_seed_is_enough_for_what_is_drawn_of_the_seeds(seeds: dict[str, TrainedRun]) -> None:
    one = {SEEDS[3]: seeds[SEEDS[3]]}
    keys = {key for key, name in DRAWN["nanda"].drawn_from.items() if "mainline" in name}
    assert set(DRAWN["nanda"].figures(one, keys)) == keys
    table = DRAWN["nanda"].tables(one, keys)["keys_and_others"][1].set_index("seed")
    assert table["ours: test loss"].notna().tolist() == [False, False, True, False]


def test_panels_stand_in_two_columns() -> None:
    figure, places = panels("abc")
    assert places == {"a": (1, 1), "b": (1, 2), "c": (2, 1)}
    assert framed_panels(figure, "Three things side by side", places).layout.height == 680
