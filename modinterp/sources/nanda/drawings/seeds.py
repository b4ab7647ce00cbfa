"""Draw figures and tables of appendix C.2.1: four more seeds, under the numbers that the paper gives these seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps

import pandas as pd
import plotly.graph_objects as go

from modinterp.figures import ablations, fourier, progress, readout
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.nanda.claims.seeds import MORE_SEEDS, TABLE_3, TABLE_4, TEST_LOSSES

Measured = Mapping[str, CyclicMeasurements]

_SPARSE = "In every seed {} is sparse in the Fourier basis, at its own key frequencies"


def _by_seed(measured: Measured) -> dict[str, CyclicMeasurements]:
    """Measurements by the number that the paper gives the seed, such as `seed 1`, in their order."""
    return {f"seed {seed}": measured[name] for seed, name in MORE_SEEDS.items() if name in measured}


def _of_seeds(draw: Callable[[Measured], go.Figure]) -> Callable[[Measured], go.Figure | None]:
    """Return a drawing of measurements by seed, made one of measurements by run; it is None where there are no runs."""

    @wraps(draw)
    def drawing(measured: Measured) -> go.Figure | None:
        return draw(_by_seed(measured)) if measured else None

    return drawing


@_of_seeds
def _spectra_of_W_E(seeds: Measured) -> go.Figure:
    norms = {seed: m.components_of_W_E for seed, m in seeds.items()}
    return fourier.spectra_of_runs(norms, {seed: m.freqs for seed, m in seeds.items()}, _SPARSE.format("W_E"))


@_of_seeds
def _spectra_of_W_L(seeds: Measured) -> go.Figure:
    norms = {seed: m.components_of_W_L for seed, m in seeds.items()}
    return fourier.spectra_of_runs(norms, {seed: m.freqs for seed, m in seeds.items()}, _SPARSE.format("W_L"))


@_of_seeds
def _readoff(seeds: Measured) -> go.Figure:
    return readout.readoff_of_runs({seed: m.readoff for seed, m in seeds.items()})


@_of_seeds
def _keys_and_others(seeds: Measured) -> go.Figure:
    printed = {f"seed {seed}": losses for seed, losses in TABLE_4.items()}
    return ablations.keys_and_others({seed: m.test_losses for seed, m in seeds.items()}, printed)


@_of_seeds
def _losses(seeds: Measured) -> go.Figure:
    return progress.losses({seed: m.progress for seed, m in seeds.items()}, {s: m.phases for s, m in seeds.items()})


@_of_seeds
def _ginis(seeds: Measured) -> go.Figure:
    return progress.ginis({seed: m.progress for seed, m in seeds.items()}, {s: m.phases for s, m in seeds.items()})


def _table_3(measured: Measured) -> pd.DataFrame | None:
    """Directions side by side in the order of their frequencies, which are not the same: each network has its own."""
    seeds, parts = _by_seed(measured), []
    for number, printed in TABLE_3.items():
        m = seeds.get(f"seed {number}")
        tables = {"the paper": printed} | ({} if m is None else {"ours": m.readoff})
        sides = [table.table().iloc[:, :4].add_prefix(f"{whose}: ") for whose, table in tables.items()]
        both = pd.concat(sides, axis=1)
        both.insert(0, "seed", number)
        parts.append(both)
    return pd.concat(parts, ignore_index=True) if measured else None


def _table_4(measured: Measured) -> pd.DataFrame | None:
    seeds, rows = _by_seed(measured), []
    for number, printed in TABLE_4.items():
        m = seeds.get(f"seed {number}")
        losses = (None,) * len(TEST_LOSSES) if m is None else m.test_losses
        row: dict[str, float | None] = {"seed": number}
        for name, theirs, ours in zip(TEST_LOSSES, printed, losses, strict=True):
            row |= {f"the paper: {name}": theirs, f"ours: {name}": ours}
        rows.append(row)
    return pd.DataFrame(rows) if measured else None


RUNS = tuple(MORE_SEEDS.values())
FIGURES = {
    "spectra_W_E": Drawing(number="Figure 16", draw=_spectra_of_W_E, all_of=RUNS),
    "spectra_W_L": Drawing(number="Figure 17", draw=_spectra_of_W_L, all_of=RUNS),
    "readoff_seeds": Drawing(
        number="Table 3",
        draw=_readoff,
        all_of=RUNS,
        table=Table(
            title=(
                "Waves along the directions of W_L (table 3), in the paper's networks and ours; each network has "
                "its own key frequencies"
            ),
            make=_table_3,
        ),
    ),
    "keys_and_others": Drawing(
        number="Table 4",
        draw=_keys_and_others,
        all_of=RUNS,
        table=Table(
            title="Losses without some frequencies (table 4), in the paper's networks and ours [nats]", make=_table_4
        ),
    ),
    "losses_seeds": Drawing(number="Figure 18", draw=_losses, all_of=RUNS),
    "ginis_seeds": Drawing(number="Figure 19", draw=_ginis, all_of=RUNS),
}
