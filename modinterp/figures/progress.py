"""Draw progress measures over training (Nanda et al. 2023, figures 7, 13, 14, 15, 18 and 19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.analyses.training.phases import Phases
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
    panels,
    with_panel_title,
    with_title,
)

_GINIS = {"gini_W_E": ("Gini of W_E", CATEGORIES[3]), "gini_W_L": ("Gini of W_L", CATEGORIES[5])}
_COLOURS = {"train_loss": TRAIN, "test_loss": TEST, "restricted_loss_all": RESTRICTED, "excluded_loss_train": EXCLUDED}


def _add(
    figure: go.Figure, table: pd.DataFrame, columns: Mapping[str, tuple[str, str]], row: int, col: int, names: set[str]
) -> None:
    """Add lines for columns of a table; each column has a name and colour, and `names` are already in the legend."""
    for column, (name, colour) in columns.items():
        figure.add_scatter(
            x=array(table["epoch"]),
            y=array(table[column]),
            name=name,
            legendgroup=name,
            showlegend=name not in names,
            line={"color": colour, "width": 1.8},
            hovertemplate="epoch %{x}<br>%{y:.4g}<extra>%{fullData.name}</extra>",
            row=row,
            col=col,
        )
        names.add(name)


def _losses(*names: str) -> dict[str, tuple[str, str]]:
    return {n: (n.removesuffix("_all").removesuffix("_train").replace("_", " "), _COLOURS[n]) for n in names}


def _add_boundaries(figure: go.Figure, phases: Phases, **place: int) -> None:
    """Add dashed lines at all phase boundaries that are not NaN, in every panel or in the panel at `row` and `col`."""
    for epoch in (phases.memorisation_ended, phases.formed, phases.cleaned):
        if epoch == epoch:
            figure.add_vline(x=epoch, line={"dash": "dash", "color": MUTED, "width": 1}, **place)  # type: ignore[arg-type]


def measures(progress: pd.DataFrame, phases: Phases) -> go.Figure:
    """Draw excluded loss, restricted loss, Gini coefficients and sum of squared weights over training, with the phases.

    Args:
        progress: progress measures, from `modinterp.analyses.training.progress.progress_measures`.
        phases: boundaries of the phases, from `modinterp.analyses.training.phases.phases`.
    """
    titles = ("excluded loss", "restricted loss", "Gini coefficient of Fourier components", "sum of squared weights")
    figure, names = make_subplots(2, 2, subplot_titles=titles, horizontal_spacing=0.1, vertical_spacing=0.16), set()
    _add(figure, progress, _losses("train_loss", "test_loss", "excluded_loss_train"), 1, 1, names)
    _add(figure, progress, _losses("train_loss", "test_loss", "restricted_loss_all"), 1, 2, names)
    _add(figure, progress, _GINIS, 2, 1, names)
    _add(figure, progress, {"sum_of_squared_weights": ("sum of squared weights", CATEGORIES[7])}, 2, 2, names)
    _add_boundaries(figure, phases)
    figure.update_xaxes(title="epoch")
    for col in (1, 2):
        figure.update_yaxes(**LOSS_AXIS, row=1, col=col)
    figure.update_yaxes(title="Gini coefficient", row=2, col=1)
    figure.update_yaxes(title="sum of squared weights", row=2, col=2)
    figure = with_title(figure, f"Three phases (memorisation, circuit formation, cleanup), with {phases.words}", 660)
    figure.update_layout(legend_y=-0.16)
    return figure


def forming(history: pd.DataFrame, progress: pd.DataFrame, title: str) -> go.Figure:
    """Draw train, test, restricted and excluded loss of a training that may still be running.

    Args:
        history: one row per logged epoch.
        progress: progress measures, from `modinterp.analyses.training.progress.progress_measures`, one row per measured
            epoch.
        title: title of the figure, which says what to see.
    """
    figure, names = make_subplots(1, 1), set()
    _add(figure, history, _losses("train_loss", "test_loss"), 1, 1, names)
    _add(figure, progress, _losses("restricted_loss_all", "excluded_loss_train"), 1, 1, names)
    for name in ("restricted loss", "excluded loss"):
        figure.update_traces(mode="lines+markers", selector={"name": name})
    figure.update_xaxes(title="epoch", rangemode="nonnegative")
    figure.update_yaxes(**LOSS_AXIS)
    return with_title(figure, title)


def restricted_accuracy(progress: pd.DataFrame) -> go.Figure:
    """Draw the accuracy of logits restricted to the key frequencies over training, with train and test accuracy.

    Args:
        progress: progress measures, from `modinterp.analyses.training.progress.progress_measures`.
    """
    figure = make_subplots(1, 1)
    columns = {
        "restricted_accuracy": ("key frequencies alone, all pairs", RESTRICTED),
        "test_accuracy": ("all frequencies, test pairs", TEST),
        "train_accuracy": ("all frequencies, training pairs", TRAIN),
    }
    _add(figure, progress, columns, 1, 1, set())
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="accuracy")
    return with_title(figure, "With only its key frequencies, the network is accurate before it groks")


def coefficients(progress: pd.DataFrame, freqs: Sequence[int]) -> go.Figure:
    """Draw the coefficient of each cos(w_k(a + b - c)) in the logits over training.

    Args:
        progress: progress measures, from `modinterp.analyses.training.progress.progress_measures`.
        freqs: key frequencies. [cycles per p]
    """
    figure = make_subplots(1, 1)
    columns = {f"cos_{k}": (f"frequency {k}", colour_of(k, freqs)) for k in freqs}
    _add(figure, progress, columns, 1, 1, set())
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="coefficient [logits]")
    return with_title(figure, "The coefficients of cos w_k(a+b−c) in the logits grow smoothly")


def single_exclusion(progress: pd.DataFrame, freqs: Sequence[int]) -> go.Figure:
    """Draw train accuracy and loss over training after removing each key frequency by itself.

    Args:
        progress: progress measures, from `modinterp.analyses.training.progress.progress_measures`.
        freqs: key frequencies. [cycles per p]
    """
    figure, names = make_subplots(1, 2, subplot_titles=("train accuracy", "train loss"), horizontal_spacing=0.1), set()
    for col, kind in enumerate(("accuracy", "loss"), start=1):
        columns = {f"excluded_{kind}_{k}": (f"without frequency {k}", colour_of(k, freqs)) for k in freqs}
        _add(figure, progress, columns | {f"train_{kind}": ("unchanged network", MUTED)}, 1, col, names)
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="train accuracy", col=1)
    figure.update_yaxes(**LOSS_AXIS, col=2)
    return with_title(
        figure, "Loss without each key frequency: the network begins to need the frequencies at different times"
    )


def _of_runs(
    progress: Mapping[str, pd.DataFrame],
    phases: Mapping[str, Phases],
    columns: Mapping[str, tuple[str, str]],
    axis: Mapping[str, str],
    title: str,
) -> go.Figure:
    """Draw lines of the same columns for several runs, with one panel per run and the boundaries of its phases."""
    (figure, places), names = panels(progress), set()
    for name, (row, col) in places.items():
        _add(figure, progress[name], columns, row, col, names)
        _add_boundaries(figure, phases[name], row=row, col=col)
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(**axis)
    return with_panel_title(figure, title, places)


def losses(progress: Mapping[str, pd.DataFrame], phases: Mapping[str, Phases]) -> go.Figure:
    """Draw train, test and restricted loss of several runs over training, with one panel per run.

    Args:
        progress: map from the name of a run to its progress measures.
        phases: map from the name of a run to its phases.
    Source: Nanda et al. 2023, figure 18.
    """
    columns = _losses("train_loss", "test_loss", "restricted_loss_all")
    title = "In every seed the restricted loss falls before the test loss does"
    return _of_runs(progress, phases, columns, LOSS_AXIS, title)


def ginis(progress: Mapping[str, pd.DataFrame], phases: Mapping[str, Phases]) -> go.Figure:
    """Draw Gini coefficients of W_E and W_L of several runs over training, with one panel per run.

    Args:
        progress: map from the name of a run to its progress measures.
        phases: map from the name of a run to its phases.
    Source: Nanda et al. 2023, figure 19.
    """
    title = "In every seed W_E and W_L become sparse in the Fourier basis, slowly at first and quickly in cleanup"
    return _of_runs(progress, phases, _GINIS, {"title": "Gini coefficient"}, title)


def largest_exclusion(progress: pd.DataFrame, largest: pd.DataFrame) -> go.Figure:
    """Draw excluded loss and the largest excluded loss of a single frequency over training, with train and test loss.

    Args:
        progress: progress measures, from `modinterp.analyses.training.progress.progress_measures`.
        largest: largest excluded loss, from `modinterp.analyses.training.progress.largest_single_exclusion`. [nats]
    Source: Nanda et al. 2023, appendix C.2, footnote 3.
    """
    figure, names = make_subplots(1, 1), set()
    _add(figure, progress, _losses("train_loss", "test_loss", "excluded_loss_train"), 1, 1, names)
    name = "largest excluded loss of a single frequency"
    _add(figure, largest, {"excluded_loss_train": (name, CATEGORIES[3])}, 1, 1, names)
    figure.update_traces(mode="lines+markers", selector={"name": name})
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(**LOSS_AXIS)
    return with_title(
        figure, "The largest excluded loss of a single frequency needs no knowledge of the key frequencies"
    )
