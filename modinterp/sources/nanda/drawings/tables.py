"""Draw tables 5 and 6 of appendix C.2.3 and their figures: the paper's networks of other set-ups beside our networks."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from modinterp.figures import sweeps
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.nanda.claims.generality import ABLATED_ACCURACY, ABLATED_LOSS, ACCURACY, LOSS, skip_means
from modinterp.sources.nanda.claims.trainings import final
from modinterp.sources.nanda.tables import TABLE_5, TABLE_6, Row, Skip

Measured = Mapping[str, CyclicMeasurements]
Cell = float | str | None

SETTINGS = {
    "fraction": "more data",
    "two-layers": "two layers",
    "p53": "mod 53",
    "p109": "mod 109",
    "dropout": "dropout",
}


def _share(percent: float) -> float:
    return round(percent / 100, 4)  # 0.949 of 94.9, not 0.9490000000000001


def _printed_row(row: Row) -> dict[str, Cell]:
    """Row of table 5 as the paper prints it."""
    return {
        "test loss": row.loss,
        "Gini of W_E": row.gini_W_E,
        "Gini of W_L": row.gini_W_L,
        "key frequencies": ", ".join(map(str, row.freqs)),
        "logit FVE": _share(row.logit_fve),
        "MLP FVE": _share(row.mlp_fve),
        "its standard deviation": _share(row.mlp_sd),
    }


def _measured_row(m: CyclicMeasurements) -> dict[str, Cell]:
    """Row of table 5 as we measure it; of a run without its weights, the test loss alone."""
    loss: dict[str, Cell] = {"test loss": final(m, "test_loss")}
    if not m.has_weights:
        return loss
    return loss | {
        "Gini of W_E": m.summary.gini_W_E,
        "Gini of W_L": m.summary.gini_W_L,
        "key frequencies": ", ".join(map(str, m.summary.keys.freqs)),
        "logit FVE": m.summary.logit_fve,
        "MLP FVE": m.summary.mean_fve,
        "its standard deviation": m.summary.sd_fve,
    }


def _table_5(measured: Measured) -> pd.DataFrame | None:
    rows = []
    for row in TABLE_5:
        m = measured.get(row.run)
        ours = {} if m is None else _measured_row(m)
        cells: dict[str, Cell] = {"row": row.key, "our run": row.run}
        for name, printed in _printed_row(row).items():
            cells |= {f"the paper: {name}": printed, f"ours: {name}": ours.get(name)}
        rows.append(cells | {"ours: test accuracy": None if m is None else final(m, "test_accuracy")})
    return pd.DataFrame(rows) if measured else None


def _summaries(measured: Measured) -> go.Figure | None:
    rows = []
    for row in TABLE_5:
        m, name = measured.get(row.run), {"setting": SETTINGS[row.setting], "row": row.key}
        rows.append(name | {"whose": "the paper"} | _printed_row(row))
        if m is not None and m.has_weights:
            rows.append(name | {"whose": "ours"} | _measured_row(m))
    title = (
        "With weight decay, the embedding is sparse and a few waves explain the logits; with dropout, the "
        "embedding is less sparse and the waves explain less"
    )
    return sweeps.summaries(pd.DataFrame(rows), title) if measured else None


def _with_weights(row: Skip, measured: Measured) -> list[CyclicMeasurements]:
    """Return the runs of a row of table 6 that are there with their weights."""
    return [measured[name] for name in row.runs if name in measured and measured[name].has_weights]


def _table_6(measured: Measured) -> pd.DataFrame | None:
    rows = []
    for row in TABLE_6:
        runs = _with_weights(row, measured)
        printed = {
            LOSS: row.loss,
            ACCURACY: _share(row.accuracy),
            ABLATED_LOSS: row.ablated_loss,
            ABLATED_ACCURACY: _share(row.ablated_accuracy),
        }
        ours = skip_means(runs) if runs else {}
        cells: dict[str, Cell] = {"setting": row.key}
        for name, value in printed.items():
            cells |= {f"the paper: {name}": value, f"ours: {name}": ours.get(name)}
        rows.append(cells | {"our networks": len(runs)})
    return pd.DataFrame(rows) if measured else None


def _mean(printed: str) -> float:
    return float(printed.partition(" ")[0])  # 1.83e-7 of "1.83e-7 (1.65e-7)"


def _skips(measured: Measured) -> go.Figure | None:
    """Return the loss with and without the last MLP's skip connection; None where no network of table 6 is there."""
    rows = []
    for row in TABLE_6:
        setting, runs = row.key.replace("_", " ").replace("0p", "0."), _with_weights(row, measured)
        printed = {LOSS: _mean(row.loss), ABLATED_LOSS: _mean(row.ablated_loss)}
        rows.append({"setting": setting, "whose": "the paper"} | printed)
        if runs:
            rows.append({"setting": setting, "whose": "ours"} | skip_means(runs))
    table = pd.DataFrame(rows)
    title = "The skip connection around the last MLP hardly matters: the mean of the skip works as well"
    return sweeps.skips(table, title) if "ours" in table["whose"].tolist() else None


FIGURES = {
    "table5": Drawing(
        number="Table 5",
        draw=_summaries,
        all_of=tuple(row.run for row in TABLE_5),
        table=Table(
            title=(
                "Table 5, networks of other recipes, in the paper and ours; each network has its own key frequencies"
            ),
            make=_table_5,
        ),
    ),
    "table6": Drawing(
        number="Table 6",
        draw=_skips,
        all_of=tuple(name for row in TABLE_6 for name in row.runs),
        table=Table(
            title=(
                "Table 6, losses with the mean in place of the skip around the MLP, in the paper and ours, means "
                "over networks"
            ),
            make=_table_6,
        ),
    ),
}
