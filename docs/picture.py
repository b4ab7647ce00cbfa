"""The picture that the README begins with, `docs/picture.png`: a network's algorithm, its circles, its verdict.

python docs/picture.py              draws it anew (needs kaleido and Chromium)
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

import modinterp as mi
from modinterp.explain.explanation import Explanation
from modinterp.figures.algorithm import diagram
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import INK, with_title

PICTURE = Path(__file__).parent / "picture.png"
RUN = "nanda/mainline-0"
WIDTH, HEIGHT, SCALE = 1120, 680, 1.5  # [pixels], and of the picture in them
GREEN, LINE = "#1d7a5f", 150  # of a verdict that was found; [letters] of a line of text


def picture(explanation: Explanation) -> go.Figure:
    """What a network that adds does, stage by stage; its embedding in the plane of each key frequency; what it is."""
    m, verdict = explanation.measurements, explanation.verdict
    stages = diagram(m.freqs, m.logit_fit.alphas, m.p)
    first, others = [{"colspan": len(m.freqs)}, *[None] * (len(m.freqs) - 1)], [{}] * len(m.freqs)
    figure = make_subplots(2, len(m.freqs), specs=[first, others], row_heights=[0.5, 0.5], vertical_spacing=0.06,
                           subplot_titles=["", *(f"embedding, frequency {k}" for k in m.freqs)])  # fmt: skip
    for column, k in enumerate(m.freqs, start=1):
        figure.add_trace(ring(m.W_E.double() @ m.circles.planes[k], k, "", size=6), row=2, col=column)
    square_axes(figure)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    for axis, of_stages in ((figure.layout.xaxis, stages.layout.xaxis), (figure.layout.yaxis, stages.layout.yaxis)):
        axis.update(visible=False, range=of_stages.range, scaleanchor=None, constrain=None)
    figure.update_layout(shapes=stages.layout.shapes)
    figure.update_layout(annotations=[*figure.layout.annotations, *stages.layout.annotations])
    title = f"What a network that learned {m.task.name} does: it puts both numbers on circles, and adds angles"
    with_title(figure, title, HEIGHT, False)
    words = "<br>".join(textwrap.wrap(" ".join(_sentences(verdict.words)), LINE))
    text = f"<b>verdict: {verdict.label}</b><br>{words}"
    figure.add_annotation(text=text, x=0.01, y=-0.05, xref="paper", yref="paper",
                          xanchor="left", yanchor="top", align="left", showarrow=False, bordercolor=GREEN,
                          borderpad=10, font={"size": 13, "color": INK})  # fmt: skip
    return figure.update_layout(width=WIDTH, margin={"t": 48, "b": 136, "l": 24, "r": 24})


def _sentences(words: str) -> list[str]:
    """The first sentences of a verdict: that it answers rightly, which frequencies it uses, and that it needs them."""
    return [f"{sentence}." for sentence in words.split(". ")[:3]]


if __name__ == "__main__":
    picture(mi.explain(mi.load(RUN))).write_image(PICTURE, scale=SCALE)
