"""Results drawn: every function takes results and returns a plotly figure, one file an analysis."""

from modinterp.figures import (
    ablations,
    algorithm,
    alignment,
    attention,
    circles,
    fourier,
    grids,
    history,
    linearity,
    motion,
    neurons,
    petals,
    progress,
    readout,
)

__all__ = [
    "ablations",
    "algorithm",
    "alignment",
    "attention",
    "circles",
    "fourier",
    "grids",
    "history",
    "linearity",
    "motion",
    "neurons",
    "petals",
    "progress",
    "readout",
]
