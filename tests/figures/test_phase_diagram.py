"""Clock and pizza over attention rate and width: what is drawn is what was measured, and the diagram can be turned."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from modinterp.analyses.circles.formulas import distance_profile, formula_logits
from modinterp.analyses.circles.isolation import ComponentCircle
from modinterp.figures import phase_diagram

TABLE = pd.DataFrame(
    {
        "run": ["a", "b", "c", "d"],
        "rate": [0.0, 1.0, 1.0, 0.5],
        "width": [128, 128, 128, 64],
        "symmetricity": [0.99, 0.3, 0.5, 0.9],
        "irrelevance": [0.2, 0.8, 0.9, 0.5],
    }
)


def test_the_phase_diagram_can_be_turned_and_shows_every_network() -> None:
    figure = phase_diagram.phase_diagram(TABLE, "below a rate they are pizzas")
    assert {trace.type for trace in figure.data} == {"scatter3d"}
    lines, dots = figure.data[:-1], figure.data[-1]
    assert list(dots.text) == list(TABLE["run"])
    np.testing.assert_allclose(dots.marker.color, TABLE["irrelevance"])
    wide = next(trace for trace in lines if trace.y[0] == 128)
    np.testing.assert_allclose(wide.z, [0.99, 0.4])
    assert figure.layout.scene.zaxis.title.text == "gradient symmetricity"


def test_rates_have_one_colour_a_width() -> None:
    figure = phase_diagram.rates(TABLE, "symmetricity falls with the rate")
    assert {trace.name: trace.marker.color for trace in figure.data}.keys() == {"width 64", "width 128"}
    assert sum(len(trace.x) for trace in figure.data) == 2 * len(TABLE)


def test_a_pizza_lies_on_the_line_of_its_profile() -> None:
    found = distance_profile(formula_logits("pizza", 13, 3), 3)
    dots, line = phase_diagram.distance_profiles({3: found.values}, "it dies opposite").data
    np.testing.assert_allclose(dots.y, [abs(math.cos(math.pi * x)) for x in dots.x], atol=1e-6)
    assert max(line.y) == pytest.approx(1)


def test_formulas_and_components_are_drawn() -> None:
    maps = phase_diagram.formula_maps(7, 2, ("clock", "pizza"), "a pizza dies")
    assert [trace.z.shape for trace in maps.data] == [(7, 7)] * 2
    np.testing.assert_allclose(maps.data[0].z, 1)
    circles = [ComponentCircle(1, 5, 1.0, 0.6), ComponentCircle(2, 3, 1.0, 0.01)]
    (bars,) = phase_diagram.component_variances({"run": circles}, 0.02, "few circles").data
    assert list(bars.text) == ["5"]
