"""Draw figures of the audit: circles turned and scaled, two tasks separated, and the half turn during training."""

from __future__ import annotations

import plotly.graph_objects as go

from modinterp.figures import dose_response, double_dissociation
from modinterp.measurements import CyclicMeasurements, PairMeasurements
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.validity import dissociation
from modinterp.sources.validity.runs import EXCEPTIONS, MULTITASK


def _doses(m: CyclicMeasurements) -> go.Figure:
    title = (
        "Rotating key circles changes the answer, and scaling key circles changes the accuracy; other "
        "circles have neither effect"
    )
    return dose_response.dose_response(m.causal.dose_response, m.causal.turn_response, title)


def _periods(m: PairMeasurements) -> go.Figure:
    table = dissociation.by_period(m)
    panels = {
        f"accuracy {words} of the embedding": dissociation.of_change(table, change)
        for change, words in (("without", "without one period"), ("alone", "with one period alone"))
    }
    title = "Each period of the embedding is used for its own task, and for no other task"
    return double_dissociation.double_dissociation(panels, title)


def _exceptions(m: CyclicMeasurements) -> go.Figure:
    panels = {
        "accuracy after a change at the logits": dissociation.by_rule(m),
        "accuracy after a change at the embedding": dissociation.by_rule(m, "embedding"),
    }
    title = (
        "In the logits the circles are used only for the rule (sums); inside the network, exceptions also need circles"
    )
    return double_dissociation.double_dissociation(panels, title)


FIGURES = {
    "doses": Drawing(
        number="Dose and response",
        draw=_doses,
        table=Table(
            title="Fit of the logit formula after a rotation of circles, divided by the fit before the rotation",
            make=lambda m: m.causal.turn_response,
        ),
    ),
    "periods": Drawing(
        number="Two tasks of remainders separated",
        draw=_periods,
        first_of=(MULTITASK,),
        table=Table(title="Accuracy of each task after each change to the network", make=dissociation.by_period),
    ),
    "exceptions": Drawing(
        number="Rule and exceptions separated",
        draw=_exceptions,
        first_of=EXCEPTIONS,
        table=Table(title="Accuracy on the rule and on exceptions", make=dissociation.by_rule),
    ),
    "onset": Drawing(
        number="When a rotation by half a step begins to change answers",
        draw=lambda m: dose_response.onset(m.causal.onset),
        table=Table(
            title="Accuracy, and share of pairs changed by a rotation by half a step, by epoch",
            make=lambda m: m.causal.onset,
        ),
    ),
}
