"""The moving picture of the README, `docs/grokking.webp`: circles and losses of the paper's network while it groks.

python docs/grokking.py             draws it anew (needs kaleido, Chromium and pillow)
"""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io
from PIL import Image
from plotly.subplots import make_subplots
from torch import Tensor

import modinterp as mi
from modinterp.analyses.circles.circle import plane
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import LOSS_AXIS, MUTED, TEST, TRAIN, array, with_title

PICTURE = Path(__file__).parent / "grokking.webp"
RUN, LAST = "nanda/mainline-0", 16_000  # epochs that are shown
WIDTH, HEIGHT, FRAME, PAUSE = 1000, 470, 220, 2500  # [pixels] of the picture, [ms] of a frame and of the last


def stills(m: Any) -> list[go.Figure]:
    """One figure an epoch: the embedding in the plane of each key frequency, above the losses so far."""
    networks = [(epoch, network.W_E[: m.p].detach().double()) for epoch, network in m.networks() if epoch <= LAST]
    reach = 1.05 * max(float((W_E @ plane(W_E, k)).abs().max()) for _, W_E in networks for k in m.freqs)
    history = m.history[m.history["epoch"] <= LAST]
    return [_still(m, history, epoch, W_E, reach) for epoch, W_E in networks]


def _still(m: Any, history: pd.DataFrame, epoch: int, W_E: Tensor, reach: float) -> go.Figure:
    count = len(m.freqs)
    specs = [[{}] * count, [{"colspan": count}, *[None] * (count - 1)]]
    titles = [f"frequency {k}" for k in m.freqs]
    figure = make_subplots(2, count, specs=specs, subplot_titles=titles, vertical_spacing=0.14, row_heights=[0.5, 0.5])
    for column, k in enumerate(m.freqs, start=1):
        figure.add_trace(ring(W_E @ plane(W_E, k), k, "", size=4), row=1, col=column)
    square_axes(figure)
    figure.update_xaxes(range=[-reach, reach], showticklabels=False, row=1)
    figure.update_yaxes(range=[-reach, reach], showticklabels=False, row=1)
    seen = history[history["epoch"] <= epoch]
    for name, colour in (("train", TRAIN), ("test", TEST)):
        figure.add_scatter(x=array(history["epoch"]), y=array(history[f"{name}_loss"]), line_color=MUTED, opacity=0.3,
                           showlegend=False, row=2, col=1)  # fmt: skip
        figure.add_scatter(x=array(seen["epoch"]), y=array(seen[f"{name}_loss"]), name=f"{name} loss",
                           line={"color": colour, "width": 3}, row=2, col=1)  # fmt: skip
    losses = figure.layout[f"xaxis{count + 1}"], figure.layout[f"yaxis{count + 1}"]
    losses[0].update(title="epoch", range=[0, LAST], scaleanchor=None, constrain=None)
    losses[1].update(**LOSS_AXIS, range=[-8, 2], scaleanchor=None, constrain=None)
    with_title(figure, f"Epoch {epoch:,}: the embedding of 113 numbers, and the loss", HEIGHT)
    return figure.update_layout(
        width=WIDTH, margin={"l": 60, "r": 20, "t": 70, "b": 50}, legend={"x": 0.8, "y": 0.4, "yanchor": "top"}
    )


def draw() -> None:
    """Write the moving picture."""
    drawn = stills(mi.measure(mi.load(RUN)))
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.png" for number in range(len(drawn))]
        plotly.io.write_images(drawn, files, width=WIDTH, height=HEIGHT)
        frames = [Image.open(io.BytesIO(file.read_bytes())).convert("RGB") for file in files]
    lasting = [FRAME] * (len(frames) - 1) + [PAUSE]
    frames[0].save(PICTURE, save_all=True, append_images=frames[1:], duration=lasting, loop=0, quality=55, method=6)


if __name__ == "__main__":
    draw()
