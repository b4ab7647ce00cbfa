"""Figures of the audit: circles turned and scaled, beside controls of equal size, and the half turn over training."""

from __future__ import annotations

from modinterp.figures import doses
from modinterp.sources.drawing import Drawing, Table

FIGURES = {
    "turn": Drawing(
        number="Circles turned",
        draw=lambda m: doses.turns(m.causal.turn_response),
        table=Table(title="What is kept, by the steps turned", make=lambda m: m.causal.turn_response),
    ),
    "scale": Drawing(
        number="Dose and response",
        draw=lambda m: doses.scales(m.causal.dose_response),
        table=Table(title="Accuracy by the size of the circles", make=lambda m: m.causal.dose_response),
    ),
    "onset": Drawing(
        number="Onset",
        draw=lambda m: doses.onset(m.causal.onset),
        table=Table(title="Accuracy and half turn by epoch", make=lambda m: m.causal.onset),
    ),
}
