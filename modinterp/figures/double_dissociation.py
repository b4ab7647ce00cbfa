"""Draw double dissociations: the accuracy of several tasks under several interventions."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.figures.theme import SEQUENTIAL, with_title


def double_dissociation(panels: Mapping[str, pd.DataFrame], title: str) -> go.Figure:
    """Draw the accuracy of each task under each intervention, with one panel per kind of intervention.

    Args:
        panels: map from the name of a panel to its table of accuracies, with one row per intervention and one column
            per task.
        title: title of the figure, which says what to see.
    """
    figure = make_subplots(1, len(panels), subplot_titles=list(panels), horizontal_spacing=0.2)
    for column, (name, table) in enumerate(panels.items(), start=1):
        drawn = go.Heatmap(
            x=[str(task) for task in table.columns],
            y=[str(change) for change in table.index],
            z=table.to_numpy(),
            zmin=0,
            zmax=1,
            colorscale=SEQUENTIAL,
            texttemplate="%{z:.2f}",
            showscale=False,
            hovertemplate=f"{name}<br>%{{y}}<br>%{{x}}<br>accuracy = %{{z:.4f}}<extra></extra>",
        )
        figure.add_trace(drawn, row=1, col=column)
        figure.update_xaxes(title="task", type="category", row=1, col=column)
        figure.update_yaxes(type="category", autorange="reversed", row=1, col=column)
    figure.update_yaxes(title="intervention", col=1)
    return with_title(figure, title, 420, False)
