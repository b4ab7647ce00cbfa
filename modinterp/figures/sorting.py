"""The sort: which rank each output attends to, what its token changes, and its scores.

Source: "Circuit engineering", figures of the sort transformer.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.sorting import RankAttention, TokenSwap
from modinterp.figures.theme import CATEGORIES, array, colour_of, framed, heatmap


def ranks(result: RankAttention, title: str) -> go.Figure:
    """Mean attention of every output to the number of every rank, one heat-map a head."""
    outputs, heads, count = result.mass.shape
    names = [f"head {head}" for head in range(heads)]
    figure = make_subplots(1, heads, subplot_titles=names, horizontal_spacing=0.04, shared_yaxes=True)
    for head, name in enumerate(names):
        trace = heatmap(
            result.mass[:, head],
            "rank",
            "output",
            "attention",
            colorbar=head == heads - 1,
            zmax=float(result.mass.max()),
            name=name,
        )
        trace.update(x=list(range(1, count + 1)), y=list(range(1, outputs + 1)))
        figure.add_trace(trace, row=1, col=head + 1)
    figure.update_xaxes(title="rank of the number", dtick=1)
    figure.update_yaxes(title="output", dtick=1, autorange="reversed", col=1)
    return framed(figure, title, 340, False)


def swaps(found: Sequence[TokenSwap]) -> go.Figure:
    """What the answers are when another token stands at their place, by output."""
    figure, x = go.Figure(), list(range(2, len(found) + 2))
    kinds = {"number of the place": "unchanged", "next above the token": "next_larger", "neither": "neither"}
    for index, (name, attribute) in enumerate(kinds.items()):
        values = [getattr(swap, attribute) for swap in found]
        figure.add_bar(x=x, y=values, name=name, marker_color=CATEGORIES[index], text=[f"{v:.0%}" for v in values])
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title="output whose token was replaced by a random one", dtick=1)
    figure.update_yaxes(title="share of answers", range=[0, 1.02])
    return framed(figure, "With a random token in place, does the answer follow the place or the token?", 380)


def scores(of: Float[Tensor, "output number head"]) -> go.Figure:
    """Score of every number with every output's token, by head, positions of the inputs averaged."""
    outputs, numbers, heads = of.shape
    names = [f"head {head}" for head in range(heads)]
    figure = make_subplots(1, heads, subplot_titles=names, horizontal_spacing=0.05)
    for head in range(heads):
        for output in range(outputs):
            figure.add_scatter(
                x=list(range(numbers)), y=array(of[output, :, head]), name=f"output {output + 1}", row=1, col=head + 1,
                legendgroup=str(output), showlegend=head == 0, line_color=colour_of(output, list(range(outputs))),
            )  # fmt: skip
    figure.update_xaxes(title="number")
    figure.update_yaxes(title="score [nats]", col=1)
    return framed(figure, "Scores of the sort are bent, and each output has its own")
