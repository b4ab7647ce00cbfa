"""Draw statistics of a network together with samples from their null distributions."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.analyses.network.nulls import Null
from modinterp.figures.theme import CATEGORIES, INK, array, with_title


def among_draws(nulls: Sequence[Null], title: str) -> go.Figure:
    """Draw a dot for every sample from every null distribution, and a line at the observed value, one panel per
    statistic.

    Args:
        nulls: statistics with samples from their null distributions, such as `Nulls.rows`.
        title: title of the figure, which says what to see.
    """
    statistics = list(dict.fromkeys(null.statistic for null in nulls))
    worlds = list(dict.fromkeys(null.name for null in nulls))
    figure = make_subplots(1, len(statistics), subplot_titles=statistics, shared_yaxes=True, horizontal_spacing=0.06)
    for null in nulls:
        column = statistics.index(null.statistic) + 1
        colour = CATEGORIES[worlds.index(null.name) % len(CATEGORIES)]
        figure.add_box(
            x=array(null.draws),
            y=[null.name] * len(null.draws),
            orientation="h",
            boxpoints="all",
            pointpos=0,
            marker={"color": colour, "size": 3},
            line={"color": colour, "width": 1},
            name=null.name,
            hovertemplate="%{x:.4g}<extra>one random draw</extra>",
            row=1,
            col=column,
        )
        figure.add_scatter(
            x=[null.observed] * 2,
            y=[worlds[0], worlds[-1]],
            mode="lines+markers",
            line={"color": INK, "width": 2},
            hovertemplate="this network: %{x:.4g}<extra></extra>",
            row=1,
            col=column,
        )
    figure.update_xaxes(title="value; the vertical line is this network")
    figure.update_yaxes(automargin=True)
    return with_title(figure, title, 330, False)
