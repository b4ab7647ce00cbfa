"""Draw the correct logit over all pairs (Zhong et al. 2023, "The Clock and the Pizza", figures of section 4)."""

from __future__ import annotations

import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from modinterp.figures.theme import heatmap, with_title


def correct_logits(
    field: Float[Tensor, "distance a"],
    distance: str,
    title: str,
) -> go.Figure:
    """Draw a heat-map of the correct logit by distance and by a: stripes along a show a pizza, and a map without
    stripes a clock.

    Args:
        field: correct logits, from `modinterp.analyses.circles.symmetry.correct_logits`.
        distance: name of the rows, such as "a - b".
        title: title of the figure, which says what to see.
    """
    figure = go.Figure(heatmap(field, "a", distance, "correct logit"))
    figure.update_xaxes(title="first number a")
    figure.update_yaxes(title=f"{distance} mod p", autorange="reversed")
    return with_title(figure, title, 460, False)
