"""Draw the share of a network in each representation of a finite group (Chughtai et al. 2023, sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from modinterp.claims.prevalence import Share
from modinterp.figures.theme import CATEGORIES, COS, DIVERGING, INK, MUTED, array, panels, with_panel_title, with_title


def similarities(found: Float[Tensor, " irrep"], names: Sequence[str], least: float, title: str) -> go.Figure:
    """Draw the similarity of logits and each character, and a line at the bound above which a representation is key.

    Args:
        found: cosine of the logits with the character of each representation.
        names: names of the representations.
        least: the smallest cosine of a key representation.
        title: title of the figure, which says what to see.
    """
    colours = [COS if x > least else MUTED for x in found.tolist()]
    figure = go.Figure(go.Bar(x=list(names), y=array(found), marker_color=colours, name="similarity"))
    _add_level(figure, names, least, f"key representations lie above {least:.2g}")
    figure.update_yaxes(title="cosine of logits and character")
    return with_title(figure, title)


def _add_level(figure: go.Figure, names: Sequence[str], level: float, name: str) -> None:
    """Add a dashed line at a level over all representations, which are the categories of the x axis."""
    line = {"color": INK, "dash": "dash"}
    figure.add_scatter(x=[names[0], names[-1]], y=[level] * 2, mode="lines", line=line, name=name)
    figure.update_xaxes(title="representation", type="category")


def shares(layers: Mapping[str, Sequence[float]], names: Sequence[str], title: str) -> go.Figure:
    """Draw the share of each layer in each representation, as grouped bars.

    Args:
        layers: map from the name of a matrix or activation to its share in each representation.
        names: names of the representations.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for place, (layer, values) in enumerate(layers.items()):
        figure.add_bar(x=list(names), y=list(values), name=layer, marker_color=CATEGORIES[place % len(CATEGORIES)])
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="representation", type="category")
    figure.update_yaxes(title="share of the layer's energy")
    return with_title(figure, title)


def losses(found: Mapping[str, tuple[float, float]], original: float, title: str) -> go.Figure:
    """Draw the loss without each representation and with that representation alone, and a line at the network's loss.

    Args:
        found: map from the name of a representation to two losses, without it and with it alone. [nats]
        original: loss of the network. [nats]
        title: title of the figure, which says what to see.
    """
    names, figure = list(found), go.Figure()
    for place, label in enumerate(("without the representation", "with the representation alone")):
        values = [pair[place] for pair in found.values()]
        figure.add_scatter(
            x=names, y=values, mode="markers", name=label, marker={"color": CATEGORIES[place], "size": 9}
        )
    _add_level(figure, names, original, f"unchanged network: {original:.2g} nats")
    figure.update_yaxes(title="loss over all pairs [nats]", type="log", exponentformat="power")
    return with_title(figure, title)


def counts(found: Mapping[str, Sequence[int]], names: Sequence[str], what: str, title: str) -> go.Figure:
    """Draw bars with the number of items for each representation.

    Args:
        found: map from the name of a series to its count for each representation.
        names: names of the representations.
        what: name of the counted items, for the axis title.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for place, (series, values) in enumerate(found.items()):
        figure.add_bar(x=list(names), y=list(values), name=series, marker_color=CATEGORIES[place % len(CATEGORIES)])
    figure.update_xaxes(title="representation", type="category")
    figure.update_yaxes(title=f"number of {what}")
    return with_title(figure, title)


def prevalence(found: Mapping[str, Mapping[str, Share]], title: str) -> go.Figure:
    """Draw the share of networks that learn each representation, with 95% intervals and one panel per family.

    Args:
        found: nested map from a family of networks and a representation to the number of networks that learn it.
        title: title of the figure, which says what to see.
    """
    figure, places = panels(found)
    for family, shares in found.items():
        row, column = places[family]
        held = [share.held / max(share.of, 1) for share in shares.values()]
        low, high = zip(*(share.interval for share in shares.values()), strict=True)
        error = {
            "array": [top - x for top, x in zip(high, held, strict=True)],
            "arrayminus": [x - bottom for bottom, x in zip(low, held, strict=True)],
        }
        words = [str(share) for share in shares.values()]
        figure.add_scatter(
            x=list(shares), y=held, error_y=error, text=words, mode="markers", name=family, row=row, col=column
        )
    figure.update_xaxes(title="representation", type="category")
    figure.update_yaxes(title="share of networks that learn it", range=[-0.05, 1.05])
    return with_panel_title(figure, title, places)


def over_training(progress: pd.DataFrame, names: Sequence[str], title: str) -> go.Figure:
    """Draw lines over training: the logits' similarity to characters, the embedding's energy by representation, and
    losses.

    Args:
        progress: progress measures of a group network; see `modinterp.measurements.GroupMeasurements.progress`.
        names: names of the representations.
        title: title of the figure, which says what to see.
    """
    parts = {
        "logits": {name: f"similarity_{name}" for name in names},
        "embedding of a": {name: f"share_{name}" for name in names},
        "losses": {
            "held-out pairs": "test_loss",
            "key representations alone": "neurons_restricted_loss_all",
            "without key representations": "neurons_excluded_loss_train",
        },
    }
    axes = ("cosine of logits and character", "share of the embedding's energy", "loss [nats]")
    figure, places = panels(parts)
    for (part, lines), axis in zip(parts.items(), axes, strict=True):
        row, column = places[part]
        for place, (name, key) in enumerate(lines.items()):
            style = {"color": CATEGORIES[place % len(CATEGORIES)], "dash": "dot" if part == "losses" else "solid"}
            first = part != "embedding of a"  # its lines have the names and colours of those beside them
            figure.add_scatter(
                x=array(progress["epoch"].astype(float)),
                y=array(progress[key].astype(float)),
                mode="lines",
                name=name,
                legendgroup=f"{name}{part == 'losses'}",
                showlegend=first,
                line=style,
                row=row,
                col=column,
            )
        figure.update_xaxes(title="epoch", row=row, col=column)
        figure.update_yaxes(title=axis, row=row, col=column)
        if part == "losses":
            figure.update_yaxes(type="log", exponentformat="power", row=row, col=column)
    return with_panel_title(figure, title, places)


def by_class(
    found: Float[Tensor, " element"],
    formula: Float[Tensor, " element"],
    classes: Mapping[str, Sequence[int]],
    title: str,
) -> go.Figure:
    """Draw the mean logit of an answer c for each element a b c^-1, by conjugacy class, and a line at the formula.

    Args:
        found: mean logit at each element, after subtracting each pair's mean logit.
        formula: expected logit at each element, such as a sum of characters, which are constant on every class.
        classes: map from the name of a conjugacy class, such as one of its elements, to the indices of its elements.
        title: title of the figure, which says what to see.
    """
    order = [g for members in classes.values() for g in members]
    names = [name for name, members in classes.items() for _ in members]
    place, middles, edges = 0, [], []
    for members in classes.values():
        middles.append(place + (len(members) - 1) / 2)
        place += len(members)
        edges.append(place - 0.5)
    figure = go.Figure()
    x, hover = list(range(len(order))), "class of %{text}<br>%{y:.3g}<extra></extra>"
    steps = {"shape": "hvh", "color": INK, "width": 1.5}
    figure.add_scatter(x=x, y=array(formula[order]), mode="lines", line=steps, name="sum of characters")
    marker = {"color": COS, "size": 5}
    figure.add_scatter(
        x=x,
        y=array(found[order]),
        mode="markers",
        marker=marker,
        name="logits of the network",
        text=names,
        hovertemplate=hover,
    )
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": MUTED, "width": 1, "dash": "dot"}}
    figure.update_layout(shapes=[line | {"x0": edge, "x1": edge} for edge in edges[:-1]])  # one by one: seconds
    figure.update_xaxes(title="a b c^-1, by conjugacy class", tickvals=middles, ticktext=list(classes), tickangle=40)
    figure.update_yaxes(title="mean logit of c")
    return with_title(figure, title).update_layout(legend={"y": 1, "x": 0.5}, margin={"b": 90})


def matrices(shown: Mapping[str, Float[Tensor, "d d"]], title: str) -> go.Figure:
    """Draw heat-maps of the matrices of some elements of a group, side by side.

    Args:
        shown: map from the written form of an element to its matrix.
        title: title of the figure, which says what to see.
    """
    figure, places = panels(shown)
    for name, matrix in shown.items():
        row, column = places[name]
        figure.add_heatmap(z=array(matrix), colorscale=DIVERGING, zmin=-1, zmax=1, row=row, col=column)
    figure.update_xaxes(title="column")
    figure.update_yaxes(title="row", autorange="reversed")
    return with_panel_title(figure, title, places)
