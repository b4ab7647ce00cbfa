"""Draw effects of rounding on the paper's own seed: variants that differ in the last digit of one initial matrix."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from modinterp.analyses.training.phases import first_epoch
from modinterp.figures import history
from modinterp.measurements import CyclicMeasurements
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.nanda.runs import PAPER_FREQS, PAPER_HEADS, ROUNDING

EPOCHS_OF_PARTING = (0, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 40_000)


def _moved(m: CyclicMeasurements) -> str:
    """Return text that names the changed initial matrix and the size of the change."""
    nudge = m.spec.nudge if m.spec is not None else None
    return "none" if nudge is None else f"{nudge.weight} by {nudge.ulps:+d}"


def _distances(m: CyclicMeasurements) -> pd.DataFrame | None:
    """Return the distance of all weights from the run that was not moved, by epoch, where it was measured."""
    if m.progress is None or "distance_from_unmoved" not in m.progress:
        return None
    columns = {"epoch": m.progress["epoch"], "distance": m.progress["distance_from_unmoved"]}
    return pd.DataFrame(columns).dropna()


def _parting(measured: Mapping[str, CyclicMeasurements]) -> go.Figure | None:
    distances = {f"{name}, {_moved(m)}": table for name, m in measured.items() if (table := _distances(m)) is not None}
    title = "Rounding one matrix differently moves all weights by a hundredth of their norm within 100 epochs"
    return history.partings(distances, title) if distances else None


def _partings(measured: Mapping[str, CyclicMeasurements]) -> pd.DataFrame | None:
    tables = {
        name: table.set_index("epoch")["distance"]
        for name, m in measured.items()
        if (table := _distances(m)) is not None
    }
    if not tables:
        return None
    every = pd.DataFrame(tables).reindex(EPOCHS_OF_PARTING).dropna(how="all").T
    return every.rename(columns="epoch {:,}".format).rename_axis("run").rename_axis(columns=None).reset_index()


def _variants(measured: Mapping[str, CyclicMeasurements]) -> pd.DataFrame | None:
    rows = [
        {
            "run": "the paper",
            "moved by units in the last place": "",
            "key frequencies": ", ".join(map(str, PAPER_FREQS)),
            "frequencies of the heads": ", ".join(map(str, PAPER_HEADS)),
        }
    ]
    for name, m in measured.items():
        log = m.history
        rows.append(
            {
                "run": name,
                "moved by units in the last place": _moved(m),
                "key frequencies": ", ".join(map(str, m.freqs)),
                "frequencies of the heads": ", ".join(str(head.freq) for head in m.heads.heads),
                "key frequencies of the paper": len(set(m.freqs) & set(PAPER_FREQS)),
                "heads at the paper's frequency": sum(
                    head.freq == freq for head, freq in zip(m.heads.heads, PAPER_HEADS, strict=False)
                ),
                "epoch of test loss below 1": first_epoch(log["epoch"], log["test_loss"] < 1),
                "test loss at the end [nats]": float(log["test_loss"].iloc[-1]),
            }
        )
    return pd.DataFrame(rows) if measured else None


FIGURES = {
    "rounding": Drawing(
        number="The paper's own seed",
        draw=lambda measured: pairs.curves(
            measured,
            title=(
                "Loss curves of one seed whose matrices differ by rounding: the curves separate while the network groks"
            ),
        ),
        all_of=ROUNDING,
        table=Table(title="Numerical replicates of the paper's seed", make=_variants),
        beside="curves",
    ),
    "parting": Drawing(
        number="The paper's own seed: when the replicates diverge",
        draw=_parting,
        all_of=ROUNDING,
        table=Table(title="Distance from the unchanged replicate, by epoch [of the weights' norm]", make=_partings),
        beside="curves",
    ),
}
