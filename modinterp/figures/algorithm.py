"""Draw the Fourier multiplication algorithm as a diagram (Nanda et al. 2023, figure 1), and as clocks that turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.figures.animation import with_slider
from modinterp.figures.circles import square_axes
from modinterp.figures.theme import CATEGORIES, INK, MUTED, array, colour_of, with_title

STEP = 2  # every second b, which halves the page
_TERMS = 3  # waves in a line of the formula
_STAGES = (
    ("tokens", "a &nbsp; b &nbsp; ="),
    ("embedding<br>W<sub>E</sub>", "cos w<sub>k</sub>a, sin w<sub>k</sub>a<br>cos w<sub>k</sub>b, sin w<sub>k</sub>b"),
    ("attention and MLP<br>multiply and add", "cos w<sub>k</sub>(a+b)<br>sin w<sub>k</sub>(a+b)"),
    ("projection on<br>W<sub>L</sub> = W<sub>out</sub> W<sub>U</sub>", "α<sub>k</sub> cos w<sub>k</sub>(a+b−c)"),
    ("logits<br>sum over k", "largest at<br>c = a+b mod p"),
)


def diagram(freqs: Sequence[int], alphas: Sequence[float], p: int) -> go.Figure:
    """Draw a diagram of the algorithm's five stages, with the key frequencies and coefficients of one network.

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
    terms = [f"{alpha:.1f} cos w<sub>{k}</sub>(a+b−c)" for k, alpha in zip(freqs, alphas, strict=True)]
    lines = [" + ".join(terms[i : i + _TERMS]) for i in range(0, len(terms), _TERMS)]
    figure.add_annotation(
        x=0.06,
        y=-0.14,
        xanchor="left",
        yanchor="top",
        showarrow=False,
        align="left",
        text=f"in this network: logit(c) ≈ {' +<br>'.join(lines)}, &nbsp; w<sub>k</sub> = 2πk/{p}",
    )
    figure.update_xaxes(visible=False, range=[0, len(_STAGES)])
    figure.update_yaxes(visible=False, range=[-0.45, 1.5])
    return with_title(figure, "Addition as rotation: embed on circles, multiply, read the angle of the sum", 300, False)


def dials(freqs: Sequence[int], alphas: Sequence[float], p: int, a: int) -> go.Figure:
    """Draw the algorithm as one clock per key frequency above the resulting logits, with a slider over b.

    The two short hands of a clock stand at the angles of a and of b, and the long hand at the angle of a + b. Below the
    clocks, the figure shows each clock's wave over the answers c, and the sum of the waves. The sum of the waves is
    largest at c = a + b mod p.

    Args:
        freqs: key frequencies. [cycles per p]
        alphas: coefficient of each cosine in the logits. [logits]
        a: the operand that stays fixed.
    """
    titles = [f"frequency {k}" for k in freqs]
    specs = [[{}] * len(freqs), [{"colspan": len(freqs)}, *[None] * (len(freqs) - 1)]]
    figure = make_subplots(
        2, len(freqs), subplot_titles=titles, specs=specs, row_heights=[0.36, 0.64], vertical_spacing=0.12
    )
    turn, c = np.linspace(0, 2 * np.pi, 90), np.arange(p)
    for column in range(1, len(freqs) + 1):
        figure.add_scatter(x=array(np.cos(turn)), y=array(np.sin(turn)), mode="lines", line_color=MUTED,
                           hoverinfo="skip", showlegend=False, row=1, col=column)  # fmt: skip

    def moving(b: int) -> list:
        waves = [alpha * np.cos(2 * np.pi * k * (a + b - c) / p) for k, alpha in zip(freqs, alphas, strict=True)]
        answer = (a + b) % p
        return [
            *(_hands(2 * np.pi * k / p, a, b, colour_of(k, freqs)) for k in freqs),
            *(
                go.Scatter(x=c, y=array(wave), name=f"frequency {k}", line={"color": colour_of(k, freqs), "width": 1})
                for k, wave in zip(freqs, waves, strict=True)
            ),
            go.Scatter(x=c, y=array(sum(waves)), name="sum of all waves", line={"color": INK, "width": 2.5}),
            go.Scatter(x=[answer], y=array([sum(alphas)]), mode="markers+text", text=[f"{a} + {b} = {answer}"],
                       textposition="top center", marker={"size": 9, "color": INK}, showlegend=False),
        ]  # fmt: skip

    first = moving(0)
    for number, trace in enumerate(first):
        is_clock = number < len(freqs)
        figure.add_trace(trace, row=1 if is_clock else 2, col=number + 1 if is_clock else 1)
    figure.update_xaxes(range=[-1.15, 1.15], visible=False, row=1)
    figure.update_yaxes(range=[-1.15, 1.15], visible=False, row=1)
    square_axes(figure)
    last = figure.layout[f"xaxis{len(freqs) + 1}"], figure.layout[f"yaxis{len(freqs) + 1}"]
    last[0].update(title="answer c", range=[0, p - 1], constrain=None, showgrid=True)
    reach = 1.2 * sum(alphas)
    last[1].update(title="logit", range=[-reach, reach], scaleanchor=None, constrain=None, showgrid=True)
    with_title(
        figure,
        f"Each clock hand rotates by a, then by b; all waves are largest together only at the answer a + b (a = {a})",
        560,
    )
    return with_slider(figure, list(range(0, p, STEP)), moving, range(len(freqs), len(freqs) + len(first)), "b")


def _hands(w: float, a: int, b: int, colour: str) -> go.Scatter:
    """Return the hands of a, b and a + b on a clock on which one step turns by the angle w; the hands of a and b are
    short.
    """
    x, y = ([f(w * n) * size for n, size in ((a, 0.6), (b, 0.6), (a + b, 1.0))] for f in (np.cos, np.sin))
    return go.Scatter(
        x=[0, x[0], None, 0, x[1], None, 0, x[2]],
        y=[0, y[0], None, 0, y[1], None, 0, y[2]],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 6},
        text=["", "a", "", "", "b", "", "", "a + b"],
        hovertemplate="angle of %{text}<extra></extra>",
        showlegend=False,
    )
