"""Draw sweeps over one quantity: training curves and summaries (Nanda et al. 2023, figures 20 to 28, tables 5, 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from modinterp.figures.history import mean_history
from modinterp.figures.theme import CATEGORIES, LOSS_AXIS, MUTED, SEQUENTIAL, TEST, TRAIN, array, with_title

_LOSSES = {"train_loss": "train loss", "test_loss": "test loss"}
_DASHES = ("solid", "dash", "dot")


def scale(n: int) -> list[str]:
    """Return colours for n values of a swept quantity, from the smallest to the largest, without the palest colours."""
    return list(map(str, sample_colorscale(SEQUENTIAL, [0.9 * step / max(n - 1, 1) for step in range(n)])))


def _line(
    figure: go.Figure,
    x: pd.Series,
    y: pd.Series,
    name: str,
    in_legend: bool,
    colour: str,
    width: float,
    place: tuple[int, int],
) -> None:
    figure.add_scatter(
        x=array(x),
        y=array(y),
        name=name,
        legendgroup=name,
        showlegend=in_legend,
        opacity=0.5 if width < 2 else 1,
        line={"color": colour, "width": width},
        row=place[0],
        col=place[1],
        hovertemplate="epoch %{x}<br>%{y:.4g}<extra>%{fullData.name}</extra>",
    )


def _runs(
    figure: go.Figure,
    tables: Sequence[pd.DataFrame],
    column: str,
    name: str,
    in_legend: bool,
    colour: str,
    place: tuple[int, int] = (1, 1),
) -> None:
    """Add thin lines of a column for runs that differ by the seed, and a bold line for the mean."""
    for table in tables if len(tables) > 1 else ():
        _line(figure, table["epoch"], table[column], name, False, colour, 1, place)
    mean = mean_history(tables)
    _line(figure, mean["epoch"], mean[column], name, in_legend, colour, 2.5, place)


def sweep(groups: Mapping[str, Sequence[pd.DataFrame]], title: str, log_epochs: bool = False) -> go.Figure:
    """Draw train and test loss of a sweep: thin lines for runs, bold lines for means over seeds, coloured by the swept
    value.

    Args:
        groups: map from the value of the swept quantity, as text and in order, to the histories of its runs.
        title: title of the figure, which says what to see.
        log_epochs: True for a logarithmic axis of epochs, without epoch 0.
    """
    figure = make_subplots(1, len(_LOSSES), subplot_titles=list(_LOSSES.values()), horizontal_spacing=0.1)
    for (label, histories), colour in zip(groups.items(), scale(len(groups)), strict=True):
        seeds = [history[history["epoch"] >= log_epochs] for history in histories]
        for col, column in enumerate(_LOSSES, start=1):
            _runs(figure, seeds, column, label, col == 1, colour, (1, col))
    figure.update_xaxes(title="epoch", type="log" if log_epochs else "linear")
    figure.update_yaxes(**LOSS_AXIS)
    return with_title(figure, title, 460)


def thresholds(table: pd.DataFrame, title: str) -> go.Figure:
    """Draw the epochs until a loss is reached against the share of training pairs, with one line per loss.

    Args:
        table: table with the columns fraction, split, loss and epochs; a loss that is never reached has no row.
        title: title of the figure, which says what to see in it.
    """
    figure = go.Figure()
    levels = sorted(table["loss"].unique(), reverse=True)
    for split, colour in (("train", TRAIN), ("test", TEST)):
        for loss, dash in zip(levels, _DASHES, strict=False):
            rows = table.query("split == @split and loss == @loss").sort_values("fraction")
            figure.add_scatter(
                x=array(rows["fraction"]),
                y=array(rows["epochs"]),
                name=f"{split} loss below {loss:g}",
                mode="lines+markers",
                line={"color": colour, "dash": dash, "width": 2.5 if loss == levels[-1] else 1.2},
                hovertemplate="%{x:.0%} of the pairs<br>%{y} epochs<extra>%{fullData.name}</extra>",
            )
    figure.update_xaxes(title="share of the pairs trained on", tickformat=".0%")
    figure.update_yaxes(title="epochs until the loss is reached", type="log")
    return with_title(figure, title, 460)


def measures_of_seeds(
    tables: Mapping[str, pd.DataFrame], columns: Mapping[str, tuple[str, str]], title: str
) -> go.Figure:
    """Draw losses of several seeds over training, as thin lines, and their means, as bold lines.

    Args:
        tables: map from the name of a run to its progress measures.
        columns: map from a column of the tables to its name and colour in the figure.
        title: title of the figure, which says what to see.
    """
    figure = make_subplots(1, 1)
    for column, (name, colour) in columns.items():
        _runs(figure, list(tables.values()), column, name, True, colour)
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(**LOSS_AXIS)
    return with_title(figure, title)


def summaries(table: pd.DataFrame, title: str) -> go.Figure:
    """Draw networks by Gini coefficient of W_E and explained variance of the logits; open markers are the paper's
    values.

    Args:
        table: table with the columns setting, row, whose, `Gini of W_E` and `logit FVE`.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for place, (setting, rows) in enumerate(table.groupby("setting", sort=False)):
        for whose, symbol in (("ours", "circle"), ("the paper", "circle-open")):
            some = rows[rows["whose"] == whose]
            if len(some):
                figure.add_scatter(
                    x=array(some["Gini of W_E"]),
                    y=array(some["logit FVE"]),
                    text=some["row"].tolist(),
                    mode="markers",
                    name=f"{setting}, {whose}",
                    marker={"color": CATEGORIES[place], "symbol": symbol, "size": 10},
                    hovertemplate="%{text}<br>Gini %{x:.2f}<br>explained %{y:.3f}<extra>%{fullData.name}</extra>",
                )
    figure.update_xaxes(title="Gini coefficient of W_E in the Fourier basis")
    figure.update_yaxes(title="fraction of the logits' variance explained")
    return with_title(figure, title, 520)


def skips(table: pd.DataFrame, title: str) -> go.Figure:
    """Draw the loss with the last MLP's skip connection and with its mean instead, joined by one line per setting.

    Args:
        table: table with the columns setting, whose, `mean loss` and `mean ablated loss`.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for place, (whose, colour) in enumerate((("ours", CATEGORIES[0]), ("the paper", MUTED))):
        for first, (_, row) in enumerate(table[table["whose"] == whose].iterrows()):
            figure.add_scatter(
                x=[row["mean loss"], row["mean ablated loss"]],
                y=[f"{row['setting']}, {whose}"] * 2,
                mode="lines+markers",
                name=whose,
                legendgroup=whose,
                showlegend=first == 0,
                legendrank=place,
                line={"color": colour, "width": 2},
                marker={"symbol": ["circle", "circle-open"], "size": 11},
                hovertemplate="%{y}<br>%{x:.3g}<extra></extra>",
            )
    pairs = set(zip(table["setting"], table["whose"], strict=True))
    order = [f"{s}, {w}" for s in table["setting"].unique() for w in ("ours", "the paper") if (s, w) in pairs]
    figure.update_yaxes(title="setting", categoryorder="array", categoryarray=order[::-1], automargin=True)
    figure.update_xaxes(
        title="loss [nats] (open: mean in place of the skip)",
        type="log",
        exponentformat="power",
    )
    return with_title(figure, title, 480)
