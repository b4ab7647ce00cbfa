"""Results drawn: every function takes results and returns a plotly figure, one file an analysis."""

from modinterp.figures import (
    ablations,
    algorithm,
    attention,
    fourier,
    grids,
    history,
    neurons,
    nulls,
    progress,
    readout,
    symmetry,
)

__all__ = [
    "ablations",
    "algorithm",
    "attention",
    "fourier",
    "grids",
    "history",
    "neurons",
    "nulls",
    "progress",
    "readout",
    "symmetry",
]
