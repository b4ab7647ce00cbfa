"""Draw the figures of Zhong et al. 2023 from runs that follow the paper's released code."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from modinterp.analyses.circles.isolation import component_circles_table
from modinterp.analyses.circles.symmetry import correct_logits
from modinterp.figures import phase_diagram, symmetry
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.isolation import LEAST
from modinterp.models import TransformerConfig
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.pizza.runs import ATTENTION, CONSTANT, OF_WIDTH, SOFTMAX, P

_SWEPT = (*ATTENTION, *(name for names in OF_WIDTH.values() for name in names))


def phase_table(measured: Mapping[str, CyclicMeasurements]) -> pd.DataFrame:
    """Return a table of attention rate, width, symmetricity and irrelevance of every one-layer network that solves the
    task.
    """
    rows = [
        (name, config.attention_rate, config.d_model, m.symmetricity_over_pairs, m.irrelevance.correct)
        for name, m in measured.items()
        if isinstance(config := m.config, TransformerConfig) and config.n_layers == 1 and m.accuracy == 1
    ]
    return pd.DataFrame(rows, columns=["run", "rate", "width", "symmetricity", "irrelevance"])


def _phases(measured: Mapping[str, CyclicMeasurements]) -> go.Figure | None:
    table = phase_table(measured)
    title = (
        "Networks are pizzas at low attention rates and clocks at high rates; wide networks stay pizzas up "
        "to higher rates"
    )
    return phase_diagram.phase_diagram(table, title) if len(table) else None


def _rates(measured: Mapping[str, CyclicMeasurements]) -> go.Figure | None:
    table = phase_table(measured)
    title = "As the attention rate rises, gradient symmetricity falls and distance irrelevance rises"
    return phase_diagram.rates(table, title) if len(table) else None


def _distance(m: CyclicMeasurements) -> go.Figure:
    title = "The correct logit by the distance of the two numbers: stripes are the sign of a pizza"
    return symmetry.correct_logits(correct_logits(m.logits.cpu()), "a - b", title)


def _of_clock(m: CyclicMeasurements) -> go.Figure:
    title = "With softmax attention the correct logit hardly depends on the distance"
    return symmetry.correct_logits(correct_logits(m.logits.cpu()), "a - b", title)


def _profiles(m: CyclicMeasurements) -> go.Figure | None:
    profiles = {one.freq: m.isolation.profile(one).values for one in m.isolation.leading_circles}
    title = "One circle alone gives no answer for pairs whose two points lie opposite each other"
    return phase_diagram.distance_profiles(profiles, title) if profiles else None


def _components(measured: Mapping[str, CyclicMeasurements]) -> go.Figure | None:
    found = {name: m.isolation.component_circles for name, m in measured.items()}
    title = "A few circles hold most of the embedding (numbers on the bars are the circles' frequencies)"
    return phase_diagram.component_variances(found, LEAST, title) if found else None


def _components_table(measured: Mapping[str, CyclicMeasurements]) -> pd.DataFrame | None:
    if not measured:
        return None
    tables = [component_circles_table(m.isolation.component_circles).assign(run=name) for name, m in measured.items()]
    return pd.concat(tables, ignore_index=True).query("variance > @LEAST")


def _formulas() -> go.Figure:
    title = (
        "The correct logit of a clock is equal for all pairs; that of a pizza vanishes where the points of "
        "a and b lie opposite each other"
    )
    return phase_diagram.formula_maps(P, 3, ("clock", "pizza", "two absolute values", "accompanying"), title)


FIGURES = {
    "formulas": Drawing(number="Section 3.1", draw=_formulas, needs_no_run=True),
    "curves": Drawing(number="Training", draw=pairs.curves, all_of=(*CONSTANT, *SOFTMAX)),
    "components": Drawing(
        number="Section 2.1",
        draw=_components,
        all_of=(*CONSTANT, *SOFTMAX),
        table=Table(title="Pairs of principal components with more than 2% of the variance", make=_components_table),
    ),
    "distance": Drawing(number="Section 4.1", draw=_distance, first_of=CONSTANT),
    "distance-softmax": Drawing(number="Section 4.1", draw=_of_clock, first_of=SOFTMAX, beside="distance"),
    "profiles": Drawing(number="Figure 5", draw=_profiles, first_of=CONSTANT),
    "phases": Drawing(
        number="Figure 7",
        draw=_phases,
        all_of=_SWEPT,
        table=Table(title="Every network that solves the task", make=lambda m: phase_table(m) if m else None),
    ),
    "rates": Drawing(number="Figure 7", draw=_rates, all_of=_SWEPT, beside="phases"),
}
