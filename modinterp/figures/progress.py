"""Progress measures over training (figures 7, 13, 14 and 15 of Nanda et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.analyses.phases import Phases
from modinterp.figures.theme import (
    CATEGORIES,
    EXCLUDED,
    LOSS_AXIS,
    MUTED,
    RESTRICTED,
    TEST,
    TRAIN,
    array,
    colour_of,
    framed,
    framed_panels,
    panels,
)

_GINIS = {"gini_W_E": ("W_E", CATEGORIES[3]), "gini_W_L": ("W_L", CATEGORIES[5])}
_COLOURS = {"train_loss": TRAIN, "test_loss": TEST, "restricted_loss_all": RESTRICTED, "excluded_loss_train": EXCLUDED}


def _add(
    figure: go.Figure, table: pd.DataFrame, columns: Mapping[str, tuple[str, str]], row: int, col: int, shown: set[str]
) -> None:
    """Lines of a table's columns, given as column to (name, colour), each name once in the legend."""
    for column, (name, colour) in columns.items():
        figure.add_scatter(
            x=array(table["epoch"]),
            y=array(table[column]),
            name=name,
            legendgroup=name,
            showlegend=name not in shown,
            line={"color": colour, "width": 1.8},
            hovertemplate="epoch %{x}<br>%{y:.4g}<extra>%{fullData.name}</extra>",
            row=row,
            col=col,
        )
        shown.add(name)


def _losses(*names: str) -> dict[str, tuple[str, str]]:
    return {n: (n.removesuffix("_all").removesuffix("_train").replace("_", " "), _COLOURS[n]) for n in names}


def _add_boundaries(figure: go.Figure, phases: Phases, **place: int) -> None:
    """Dashed lines at the boundaries that were reached, in every panel or in the one of `row` and `col`."""
    for epoch in (phases.memorised, phases.formed, phases.cleaned):
        if epoch == epoch:
            figure.add_vline(x=epoch, line={"dash": "dash", "color": MUTED, "width": 1}, **place)  # type: ignore[arg-type]


def measures(progress: pd.DataFrame, phases: Phases) -> go.Figure:
    """Excluded loss, restricted loss, Gini coefficients and sum of squared weights, with the phases' boundaries."""
    titles = ("excluded loss", "restricted loss", "Gini coefficient of Fourier components", "sum of squared weights")
    figure, shown = make_subplots(2, 2, subplot_titles=titles, horizontal_spacing=0.1, vertical_spacing=0.16), set()
    _add(figure, progress, _losses("train_loss", "test_loss", "excluded_loss_train"), 1, 1, shown)
    _add(figure, progress, _losses("train_loss", "test_loss", "restricted_loss_all"), 1, 2, shown)
    _add(figure, progress, _GINIS, 2, 1, shown)
    _add(figure, progress, {"sum_of_squared_weights": ("sum of squared weights", CATEGORIES[7])}, 2, 2, shown)
    _add_boundaries(figure, phases)
    figure.update_xaxes(title="epoch")
    for col in (1, 2):
        figure.update_yaxes(**LOSS_AXIS, row=1, col=col)
    figure.update_yaxes(title="Gini", row=2, col=1)
    figure.update_yaxes(title="sum of squares", row=2, col=2)
    words = f"{phases.memorised:,.0f}, {phases.formed:,.0f} and {phases.cleaned:,.0f}"
    figure = framed(figure, f"Three phases, with boundaries at epochs {words}: memorise, form a circuit, clean up", 660)
    figure.update_layout(legend_y=-0.16)
    return figure


def restricted_accuracy(progress: pd.DataFrame) -> go.Figure:
    """Accuracy of the network restricted to its key frequencies beside that of the whole network."""
    figure = make_subplots(1, 1)
    columns = {
        "restricted_accuracy": ("restricted, all pairs", RESTRICTED),
        "test_accuracy": ("test", TEST),
        "train_accuracy": ("train", TRAIN),
    }
    _add(figure, progress, columns, 1, 1, set())
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="accuracy")
    return framed(figure, "Restricted to its key frequencies the network is accurate before it groks")


def coefficients(progress: pd.DataFrame, freqs: Sequence[int]) -> go.Figure:
    """Coefficient of each cos(w_k(a + b - c)) in the logits over training."""
    figure = make_subplots(1, 1)
    columns = {f"cos_{k}": (f"frequency {k}", colour_of(k, freqs)) for k in freqs}
    _add(figure, progress, columns, 1, 1, set())
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="coefficient [logits]")
    return framed(figure, "The coefficients of cos w_k(a+b−c) in the logits grow smoothly")


def single_exclusion(progress: pd.DataFrame, freqs: Sequence[int]) -> go.Figure:
    """Train accuracy and loss with each key frequency taken out by itself."""
    figure, shown = make_subplots(1, 2, subplot_titles=("train accuracy", "train loss"), horizontal_spacing=0.1), set()
    for col, kind in enumerate(("accuracy", "loss"), start=1):
        columns = {f"excluded_{kind}_{k}": (f"without frequency {k}", colour_of(k, freqs)) for k in freqs}
        _add(figure, progress, columns | {f"train_{kind}": ("train", MUTED)}, 1, col, shown)
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="accuracy", col=1)
    figure.update_yaxes(**LOSS_AXIS, col=2)
    return framed(figure, "Each key frequency comes to be needed at its own time")


def _of_runs(
    progress: Mapping[str, pd.DataFrame], phases: Mapping[str, Phases], columns: Mapping[str, tuple[str, str]],
    axis: Mapping[str, str], title: str,
) -> go.Figure:  # fmt: skip
    """The same columns of several runs, one panel a run, with the boundaries of its phases."""
    (figure, places), shown = panels(progress), set()
    for name, (row, col) in places.items():
        _add(figure, progress[name], columns, row, col, shown)
        _add_boundaries(figure, phases[name], row=row, col=col)
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(**axis)
    return framed_panels(figure, title, places)


def losses(progress: Mapping[str, pd.DataFrame], phases: Mapping[str, Phases]) -> go.Figure:
    """Train, test and restricted loss of several runs. Source: Nanda et al. 2023, figure 18."""
    columns = _losses("train_loss", "test_loss", "restricted_loss_all")
    title = "In every seed the restricted loss falls before the test loss does"
    return _of_runs(progress, phases, columns, LOSS_AXIS, title)


def ginis(progress: Mapping[str, pd.DataFrame], phases: Mapping[str, Phases]) -> go.Figure:
    """Sparsity of the embedding and of the map to logits in several runs. Source: Nanda et al. 2023, figure 19."""
    title = "In every seed W_E and W_L become sparse in the Fourier basis, slowly at first and quickly in cleanup"
    return _of_runs(progress, phases, _GINIS, {"title": "Gini"}, title)


def largest_exclusion(progress: pd.DataFrame, largest: pd.DataFrame) -> go.Figure:
    """Excluded loss, and the measure that knows no key frequencies, beside train and test loss.

    Args:
        largest: from `largest_single_exclusion`.
    Source: Nanda et al. 2023, appendix C.2, footnote 3.
    """
    figure, shown = make_subplots(1, 1), set()
    _add(figure, progress, _losses("train_loss", "test_loss", "excluded_loss_train"), 1, 1, shown)
    name = "largest excluded loss of a single frequency"
    _add(figure, largest, {"excluded_loss_train": (name, CATEGORIES[3])}, 1, 1, shown)
    figure.update_traces(mode="lines+markers", selector={"name": name})
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(**LOSS_AXIS)
    return framed(figure, "Without knowing the key frequencies: the worst that taking out one frequency does")
