"""The Fourier multiplication algorithm as a diagram (Nanda et al. 2023, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from modinterp.figures.theme import CATEGORIES, INK, with_title

_STAGES = (
    ("tokens", "a &nbsp; b &nbsp; ="),
    ("embedding<br>W<sub>E</sub>", "cos w<sub>k</sub>a, sin w<sub>k</sub>a<br>cos w<sub>k</sub>b, sin w<sub>k</sub>b"),
    ("attention and MLP<br>multiply and add", "cos w<sub>k</sub>(a+b)<br>sin w<sub>k</sub>(a+b)"),
    ("read-off<br>W<sub>L</sub> = W<sub>out</sub> W<sub>U</sub>", "α<sub>k</sub> cos w<sub>k</sub>(a+b−c)"),
    ("logits<br>sum over k", "largest at<br>c = a+b mod p"),
)


def diagram(freqs: Sequence[int], alphas: Sequence[float], p: int) -> go.Figure:
    """Diagram of the algorithm's five stages, with the key frequencies and coefficients of one network.

    Args:
        freqs: key frequencies. [cycles per p]
        alphas: coefficient of each cosine in the logits. [logits]
    """
    figure = go.Figure()
    for i, (title, content) in enumerate(_STAGES):
        colour = CATEGORIES[i % len(CATEGORIES)]
        figure.add_shape(
            type="rect",
            x0=i + 0.06,
            x1=i + 0.86,
            y0=0,
            y1=1,
            line={"color": colour, "width": 2},
            fillcolor=colour,
            opacity=0.12,
        )
        figure.add_annotation(
            x=i + 0.46, y=1.06, text=f"<b>{title}</b>", showarrow=False, yanchor="bottom", font={"size": 12}
        )
        figure.add_annotation(x=i + 0.46, y=0.5, text=content, showarrow=False, font={"size": 14})
        if i:
            figure.add_annotation(
                x=i + 0.06,
                y=0.5,
                ax=i - 0.14,
                ay=0.5,
                xref="x",
                yref="y",
                axref="x",
                ayref="y",
                arrowhead=2,
                arrowwidth=1.5,
                arrowcolor=INK,
                text="",
            )
    terms = " + ".join(f"{alpha:.1f} cos w<sub>{k}</sub>(a+b−c)" for k, alpha in zip(freqs, alphas, strict=True))
    figure.add_annotation(
        x=0.06,
        y=-0.14,
        xanchor="left",
        yanchor="top",
        showarrow=False,
        align="left",
        text=f"in this network: logit(c) ≈ {terms}, &nbsp; w<sub>k</sub> = 2πk/{p}",
    )
    figure.update_xaxes(visible=False, range=[0, len(_STAGES)])
    figure.update_yaxes(visible=False, range=[-0.45, 1.5])
    return with_title(
        figure, "Addition as rotation: embed on circles, multiply, read off the angle of the sum", 300, False
    )
