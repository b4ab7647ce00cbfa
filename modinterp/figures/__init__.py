"""Results drawn: every function takes results and returns a plotly figure, one file an analysis."""

from modinterp.figures import (
    ablations,
    algorithm,
    attention,
    fourier,
    grids,
    history,
    neurons,
    ordering,
    progress,
    readout,
    sorting,
)

__all__ = [
    "ablations",
    "algorithm",
    "attention",
    "fourier",
    "grids",
    "history",
    "neurons",
    "ordering",
    "progress",
    "readout",
    "sorting",
]
