"""Draw projections onto the W_L directions, and sums of cosines (Nanda et al. 2023, table 1, figure 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from modinterp.analyses.fourier.cosine_sums import cosine_waves, margin
from modinterp.analyses.fourier.readout import ReadoffTable
from modinterp.figures.theme import INK, array, colour_of, panels, with_panel_title, with_title


def _add_readoff(figure: go.Figure, table: ReadoffTable, row: int | None = None, col: int | None = None) -> None:
    """Add one bar per direction of W_L, coloured by frequency, with its amplitude as a label."""
    freqs = sorted({r.freq for r in table.rows})
    for k in freqs:
        rows = [r for r in table.rows if r.freq == k]
        figure.add_bar(
            x=[f"{r.wave} {r.freq}" for r in rows],
            y=[r.explained for r in rows],
            name=f"frequency {k}",
            marker_color=colour_of(k, freqs),
            text=[f"{r.amplitude:.1f}" for r in rows],
            textposition="outside",
            hovertemplate="%{x}<br>fraction of variance = %{y:.4f}<br>amplitude = %{text}<extra></extra>",
            row=row,
            col=col,
        )


_DIRECTIONS = {"title": "direction of W_L (above: amplitude)"}
_EXPLAINED = {"title": "fraction of the neurons' variance", "range": [0, 1.12]}


def readoff(table: ReadoffTable) -> go.Figure:
    """Draw the share of the neurons' variance along each W_L direction that one wave of a + b explains.

    Args:
        table: projections onto the W_L directions, from `modinterp.analyses.fourier.readout.readoff`.
    """
    figure = go.Figure()
    _add_readoff(figure, table)
    figure.update_xaxes(**_DIRECTIONS)
    figure.update_yaxes(**_EXPLAINED)
    if not table.rows:
        return with_title(figure, "W_L has no key direction: no frequency has a clearly larger norm than the others")
    lowest = min(row.explained for row in table.rows)
    return with_title(
        figure, f"Along every direction of W_L, one wave of a+b explains at least {lowest:.0%} of the neurons' variance"
    )


def readoff_of_runs(tables: Mapping[str, ReadoffTable]) -> go.Figure:
    """Draw the projections onto the W_L directions for several networks, with one panel per network.

    Args:
        tables: map from the name of a run to its table from `readoff`.
    Source: Nanda et al. 2023, table 3.
    """
    figure, places = panels(tables)
    for name, (row, col) in places.items():
        _add_readoff(figure, tables[name], row, col)
    figure.update_xaxes(**_DIRECTIONS)
    figure.update_yaxes(**_EXPLAINED)
    lowest = min(row.explained for table in tables.values() for row in table.rows)
    title = (
        f"In every seed, along each direction of W_L, one wave explains at least {lowest:.0%} of the neurons' variance"
    )
    return with_panel_title(figure, title, places).update_layout(showlegend=False)


def margins(p: int, freqs: Sequence[int]) -> go.Figure:
    """Draw cosines over the residues and their sum, which, unlike single cosines, is near its maximum only at 0.

    Args:
        p: modulus.
        freqs: frequencies of the cosines. [cycles per p]
    """
    waves, x = cosine_waves(p, freqs), list(range(p))
    figure = go.Figure()
    for column, k in enumerate(freqs):
        figure.add_scatter(
            x=x,
            y=array(waves[:, column]),
            name=f"cos w<sub>{k}</sub> x",
            line={"color": colour_of(k, freqs), "width": 1},
            opacity=0.6,
        )
    total = waves.sum(dim=1)
    figure.add_scatter(x=x, y=array(total), name="sum of the cosines", line={"color": INK, "width": 2.5})
    second = int(total[1:].argmax()) + 1
    figure.add_annotation(
        x=second, y=float(total[second]), text=f"second-largest sum: {float(total[second]):.2f}", ay=-30
    )
    figure.update_xaxes(title="x = a + b − c mod p")
    figure.update_yaxes(title="cosine, and sum of cosines")
    return with_title(
        figure, f"The sum of {len(freqs)} waves is largest at x = 0, by a margin of {margin(p, freqs):.2f}"
    )
