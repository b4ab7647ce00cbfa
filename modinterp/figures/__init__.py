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
    ordering,
    petals,
    progress,
    readout,
    sorting,
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
    "ordering",
    "petals",
    "progress",
    "readout",
    "sorting",
]
