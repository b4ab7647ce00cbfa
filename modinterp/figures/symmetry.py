"""The correct logit over all pairs (figures of Zhong et al. 2023, "The Clock and the Pizza", section 4)."""

from __future__ import annotations

import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from modinterp.figures.theme import framed, heatmap


def correct_logits(
    field: Float[Tensor, "distance a"],
    distance: str,
    title: str,
) -> go.Figure:
    """The correct logit by distance and by a: stripes along a are a pizza's, none a clock's.

    Args:
        field: from `modinterp.analyses.symmetry.correct_logits`.
        distance: what the rows are.
    """
    figure = go.Figure(heatmap(field, "a", distance, "correct logit"))
    figure.update_xaxes(title="a")
    figure.update_yaxes(title=f"{distance} mod p", autorange="reversed")
    return framed(figure, title, 460, False)
