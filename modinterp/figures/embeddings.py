"""Draw embeddings of positions and digits (Syrkis & Søgaard 2024, figures 7 to 13)."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.embeddings.position_embeddings import position_likeness
from modinterp.analyses.embeddings.singular_vectors import Periodicity, SingularValues
from modinterp.analyses.fourier.frequencies import active_frequencies
from modinterp.figures.theme import CATEGORIES, INK, MUTED, TEST, array, heatmap, with_title

DIMENSIONS = 37  # of the residual stream, as in the source's figure
TICKS = (0.5, 0.9)  # shares of the sum of the singular values


def positions(embeddings: Mapping[str, Float[Tensor, "pos d_model"]]) -> go.Figure:
    """Draw heat-maps of the position embeddings' first dimensions at the first two positions, one panel per network.

    Args:
        embeddings: map from the name of a network to its position embedding W_pos.
    """
    likeness = {name: position_likeness(W_pos) for name, W_pos in embeddings.items()}
    titles = [f"{name}: Pearson {alike.pearson:.2f}, cosine {alike.cosine:.2f}" for name, alike in likeness.items()]
    figure = make_subplots(len(embeddings), 1, subplot_titles=titles, vertical_spacing=0.3 / len(embeddings))
    for row, (name, W_pos) in enumerate(embeddings.items(), start=1):
        weights = W_pos[:2, :DIMENSIONS].detach().double()
        trace = heatmap(weights, "dimension", "position", "weight", True, colorbar=False, name=name)
        figure.add_trace(trace, row=row, col=1)
    figure.update_xaxes(title="dimension of the residual stream", row=len(embeddings))
    figure.update_yaxes(title="position", tickvals=[0, 1], autorange="reversed")
    title = "Embeddings of the two positions in each network, and their similarity"
    return with_title(figure, title, 100 + 150 * len(embeddings), False)


def singular_values(svds: Mapping[str, SingularValues]) -> go.Figure:
    """Draw bars of singular values; ticks mark 50% and 90% of their sum, and of the sum of their squares.

    Args:
        svds: map from the name of a network to the singular values of its embedding.
    """
    figure = make_subplots(len(svds), 1, subplot_titles=list(svds), vertical_spacing=0.35 / len(svds))
    for row, (name, svd) in enumerate(svds.items(), start=1):
        height = float(svd.values[0])
        figure.add_bar(
            x=list(range(1, len(svd.values) + 1)),
            y=array(svd.values),
            marker_color=CATEGORIES[0],
            name="singular value",
            showlegend=row == 1,
            row=row,
            col=1,
            hovertemplate=f"rank %{{x}}<br>singular value = %{{y:.4g}}<extra>{name}</extra>",
        )
        for squared, colour, dash, top in ((False, TEST, "solid", 1.4), (True, MUTED, "dot", 1.2)):
            at = [svd.count_to_reach(share, squared) for share in TICKS]
            figure.add_scatter(
                x=[x for place in at for x in (place, place, None)],
                y=[0, top * height, None] * len(at),
                mode="lines",
                line={"color": colour, "dash": dash, "width": 2},
                showlegend=row == 1,
                name=f"50% and 90% of the sum of the {'squares' if squared else 'values'}",
                row=row,
                col=1,
                connectgaps=False,
            )
            for share, place in zip(TICKS, at, strict=True):
                figure.add_annotation(
                    x=place,
                    y=top * height,
                    text=f"{share:.0%}: {place}",
                    showarrow=False,
                    xanchor="left",
                    xshift=4,
                    yanchor="top",
                    font_color=None if squared else colour,
                    row=row,
                    col=1,
                )
    figure.update_xaxes(title="rank of the singular value", row=len(svds))
    figure.update_yaxes(title="singular value")
    return with_title(
        figure, "Singular values of the embedding: a few directions hold most of its energy", 160 + 220 * len(svds)
    )


def singular_vectors(svd: SingularValues, waves: Periodicity, name: str) -> go.Figure:
    """Draw a heat-map of the top left singular vectors over the digits, and the share of each vector's strongest wave.

    Args:
        svd: singular vectors of an embedding; the figure shows one vector for each entry of `waves`.
        waves: strongest wave of each top singular vector.
        name: name of the network, which begins the title.
    """
    count, p = len(waves.shares), len(svd.vectors)
    figure = make_subplots(
        1,
        2,
        column_widths=[0.72, 0.28],
        horizontal_spacing=0.06,
        shared_yaxes=True,
        subplot_titles=("weight at every digit", "variance at the strongest wave"),
    )
    trace = heatmap(svd.vectors[:, :count].T, "digit", "vector", "weight", True, colorbar=False)
    figure.add_trace(trace, row=1, col=1)
    figure.add_bar(
        x=array(waves.shares),
        y=list(range(count)),
        orientation="h",
        marker_color=CATEGORIES[0],
        row=1,
        col=2,
        text=[f"frequency {k}" for k in waves.freqs.tolist()] if count <= 20 else None,
        customdata=waves.freqs.tolist(),
        hovertemplate="vector %{y}<br>frequency %{customdata}: %{x:.0%}<extra></extra>",
    )
    figure.update_xaxes(title="digit", range=[-0.5, p - 0.5], col=1)
    figure.update_xaxes(title="share of the vector's variance", range=[0, 1], col=2)
    figure.update_yaxes(autorange="reversed")
    figure.update_yaxes(title="singular vector, largest first", col=1)
    share = float(waves.shares.mean())
    title = (
        f"{name}: {count} singular vectors make half the sum; one wave explains {share:.0%} of each vector on average"
    )
    return with_title(figure, title, 220 + 13 * max(count, 10), False)


def spectrum(coefficients: Float[Tensor, "freq d_model"], name: str) -> go.Figure:
    """Draw the norm of the embedding at every frequency, with thresholds, and the amplitudes in each dimension.

    Args:
        coefficients: amplitude of each frequency in each dimension; row k - 1 belongs to frequency k.
        name: name of the network, which begins the title.
    """
    norms = coefficients.norm(dim=1)
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.45, 0.55], vertical_spacing=0.08)
    freqs, active = list(range(1, len(norms) + 1)), active_frequencies(norms)
    colours = [TEST if k in active else MUTED for k in freqs]
    figure.add_bar(
        x=freqs,
        y=array(norms),
        marker_color=colours,
        showlegend=False,
        row=1,
        col=1,
        hovertemplate="frequency %{x}<br>norm = %{y:.4g}<extra></extra>",
    )
    for label, level, dash in (
        ("mean + 1 standard deviation", norms.mean() + norms.std(correction=0), "solid"),
        ("mean + 2 standard deviations", norms.mean() + 2 * norms.std(correction=0), "dash"),
        ("a quarter of the largest norm", norms.max() / 4, "dot"),
    ):
        figure.add_scatter(
            x=[freqs[0] - 0.5, freqs[-1] + 0.5],
            y=[float(level)] * 2,
            mode="lines",
            name=label,
            line={"color": INK, "dash": dash, "width": 1.2},
            row=1,
            col=1,
        )
    trace = heatmap(coefficients.T, "frequency", "dimension", "amplitude", colorbar=False)
    trace.x = freqs
    figure.add_trace(trace, row=2, col=1)
    figure.update_xaxes(title="frequency [cycles per p]", row=2)
    figure.update_yaxes(title="norm of the embedding", row=1)
    figure.update_yaxes(title="dimension of the embedding", row=2)
    quarter = int((norms > norms.max() / 4).sum())
    title = (
        f"{name}: of {len(norms)} frequencies, {len(active)} are active; {quarter} exceed a quarter of the largest norm"
    )
    figure = with_title(figure, title, 560)
    figure.update_layout(legend_y=-0.14)
    return figure
