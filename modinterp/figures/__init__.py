"""Figures: functions that take results and return a `plotly.graph_objects.Figure`, which they never show.

One module belongs to one kind of result. The title of a figure says what to see; axis titles have units. Colours mean
the same thing in every figure (`theme`).
"""

from modinterp.figures import (
    ablations,
    algorithm,
    alignment,
    attention,
    circles,
    embeddings,
    fourier,
    grids,
    history,
    linearity,
    motion,
    neurons,
    nulls,
    ordering,
    petals,
    phase_diagram,
    progress,
    readout,
    remainders,
    sequences,
    sorting,
    spirals,
    sweeps,
    symmetry,
)
from modinterp.figures import searches as search

__all__ = [
    "ablations",
    "algorithm",
    "alignment",
    "attention",
    "circles",
    "embeddings",
    "fourier",
    "grids",
    "history",
    "linearity",
    "motion",
    "neurons",
    "nulls",
    "ordering",
    "petals",
    "phase_diagram",
    "progress",
    "readout",
    "remainders",
    "search",
    "sequences",
    "sorting",
    "spirals",
    "sweeps",
    "symmetry",
]
