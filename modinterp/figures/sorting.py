"""Draw results for sorting networks: attention by rank, the effect of replacing a token, and attention scores.

Source: "Circuit engineering", figures of the sort transformer.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.order.sorting import RankAttention, TokenSwap
from modinterp.figures.theme import CATEGORIES, array, colour_of, heatmap, with_title


def ranks(result: RankAttention, title: str) -> go.Figure:
    """Draw heat-maps of the mean attention of each output position to the number of each rank, with one panel per head.

    Args:
        result: mean attention by rank, from `modinterp.analyses.order.sorting.rank_attention`.
        title: title of the figure, which says what to see.
    """
    outputs, heads, count = result.mass.shape
    names = [f"head {head}" for head in range(heads)]
    figure = make_subplots(1, heads, subplot_titles=names, horizontal_spacing=0.04, shared_yaxes=True)
    for head, name in enumerate(names):
        trace = heatmap(
            result.mass[:, head],
            "rank",
            "output position",
            "attention",
            colorbar=head == heads - 1,
            zmax=float(result.mass.max()),
            name=name,
        )
        trace.update(x=list(range(1, count + 1)), y=list(range(1, outputs + 1)))
        figure.add_trace(trace, row=1, col=head + 1)
    figure.update_xaxes(title="rank of the number", dtick=1)
    figure.update_yaxes(title="output position", dtick=1, autorange="reversed", col=1)
    return with_title(figure, title, 340, False)


def swaps(results: Sequence[TokenSwap]) -> go.Figure:
    """Draw the shares of the answers at each output position when its token is replaced.

    Args:
        results: one result of `modinterp.analyses.order.sorting.token_swap` for each output position from the second
            on.
    """
    figure, x = go.Figure(), list(range(2, len(results) + 2))
    kinds = {
        "number for the position": "unchanged",
        "next above the new token": "next_larger",
        "another number": "neither",
    }
    for index, (name, attribute) in enumerate(kinds.items()):
        values = [getattr(swap, attribute) for swap in results]
        figure.add_bar(x=x, y=values, name=name, marker_color=CATEGORIES[index], text=[f"{v:.0%}" for v in values])
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title="output position whose token was replaced", dtick=1)
    figure.update_yaxes(title="share of answers", range=[0, 1.02])
    return with_title(
        figure,
        "Answers after an output token is replaced at random: following the position, or following the token",
        380,
    )


def scores(by_output: Float[Tensor, "output token head"]) -> go.Figure:
    """Draw the attention score of each output position's token with every number, with one panel per head.

    Args:
        by_output: attention scores, averaged over the positions of the inputs. [nats]
    """
    outputs, numbers, heads = by_output.shape
    names = [f"head {head}" for head in range(heads)]
    figure = make_subplots(1, heads, subplot_titles=names, horizontal_spacing=0.05)
    for head in range(heads):
        for output in range(outputs):
            figure.add_scatter(
                x=list(range(numbers)),
                y=array(by_output[output, :, head]),
                name=f"output {output + 1}",
                row=1,
                col=head + 1,
                legendgroup=str(output),
                showlegend=head == 0,
                line_color=colour_of(output, list(range(outputs))),
            )
    figure.update_xaxes(title="number")
    figure.update_yaxes(title="attention score [nats]", col=1)
    return with_title(
        figure, "When sorting, attention scores are not linear in the number, and differ between output positions"
    )
