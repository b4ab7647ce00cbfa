"""Figures of the audit: what turning and scaling the circles does, beside controls of equal size."""

from __future__ import annotations

import plotly.graph_objects as go

from modinterp.figures.doses import doses
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.drawing import Drawing, Table


def _turn(m: CyclicMeasurements) -> go.Figure:
    return doses(m.causal.turn_response, m.causal.dose_response)


FIGURES = {
    "turn": Drawing(
        number="Dose and response",
        draw=_turn,
        table=Table(title="Accuracy by the size of the circles", make=lambda m: m.causal.dose_response),
    )
}
