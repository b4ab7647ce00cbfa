"""Draw the figures of the sums of two numbers and of the first unique letter."""

from __future__ import annotations

import plotly.graph_objects as go

from modinterp.figures import measured
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.columns import for_carry
from modinterp.sources.arena.claims.subject import judged
from modinterp.sources.arena.claims.sum_circle import circle
from modinterp.sources.arena.claims.unique import attention_to_copies, contrasts
from modinterp.sources.arena.runs import SUM, UNIQUE
from modinterp.sources.drawing import Drawing


def _agreements(m: SequenceMeasurements) -> go.Figure:
    lines = {}
    for column in range(1, m.task.digits):
        looks = for_carry(m, column)
        lines[f"column {column}"] = ([look.position for look in looks], [look.agreement for look in looks])
    title = "Some heads attend to the digit that decides the carry (agreement 1), some to the other digit (agreement 0)"
    return measured.curves(
        lines, ("position of the head's query", "agreement with the deciding digit, 0 to 1"), title, markers=True
    )


def _circle(m: SequenceMeasurements) -> go.Figure:
    found = circle(m)
    places = m.folded.W_U.detach()[:, :10].T
    points = (places - places.mean(dim=0)) @ found.plane.T
    lines = {"digits 0 to 9": (points[:, 0], points[:, 1])}
    title = f"The digits' unembedding vectors in two directions, which hold {found.energy:.0%} of their differences"
    return measured.curves(lines, ("first direction of the plane", "second direction of the plane"), title)


def _copies(m: SequenceMeasurements) -> go.Figure:
    found = attention_to_copies(judged(m))
    lines = {f"head 0.{head}": (list(range(found.shape[1])), row) for head, row in enumerate(found)}
    title = "Attention of a letter to its earlier copies, first layer"
    return measured.curves(lines, ("letter", "mean attention to earlier copies"), title)


def _domains(m: SequenceMeasurements) -> go.Figure:
    found = contrasts(judged(m))
    lines = {f"head 1.{head}": (list(range(found.shape[1])), row) for head, row in enumerate(found)}
    title = "How much each second-layer head raises the logit of the letter that it attends to"
    return measured.curves(lines, ("letter", "attended letter's logit minus other logits"), title)


FIGURES = {
    "sum_agreement": Drawing(number="September: QK circuits", draw=_agreements, first_of=SUM),
    "sum_circle": Drawing(number="September: unembedding", draw=_circle, first_of=SUM),
    "unique_copies": Drawing(number="August: attention", draw=_copies, first_of=UNIQUE),
    "unique_domains": Drawing(number="August: OV circuits", draw=_domains, first_of=UNIQUE),
}
