"""Show which claims hold in every seed of a recipe, and which hold only in some seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
import plotly.graph_objects as go

from modinterp.claims import Result
from modinterp.figures.theme import CATEGORIES, MUTED, with_title

_COLOURS = {"": MUTED, "rounding": CATEGORIES[1], "seed": CATEGORIES[0], "draw order": CATEGORIES[3]}
_TOLD = {
    "": "the claim holds in all seeds, or in none",
    "rounding": "rounding decides whether the claim holds",
    "seed": "the seed decides whether the claim holds",
    "draw order": "the order of initialisation decides whether the claim holds",
}


def prevalence_table(results: Iterable[Result]) -> pd.DataFrame:
    """Return a table with one row for each single-network claim, most prevalent first.

    Columns: id, statement, verdict; numbers of seeds held and tested; ends of the 95% interval; number of numerical
    replicates in which the claim holds; and what decides the claim.
    """
    rows = []
    for result in results:
        if result.prevalence is None or len(result.networks) < 2:
            continue
        seeds, replicates = result.prevalence.seeds, result.prevalence.replicates
        low, high = seeds.interval
        rows.append(
            {
                "id": result.claim.id,
                "statement": result.claim.statement,
                "verdict": result.verdict,
                "held": seeds.held,
                "of": seeds.of,
                "low": low,
                "high": high,
                "in numerical replicates": str(replicates) if replicates.of else "",
                "decided by": result.prevalence.decided_by,
            }
        )
    table = pd.DataFrame(rows)
    if not len(table):
        return table
    share = table["held"] / table["of"]
    return (
        table.assign(share=share)
        .sort_values("share", ascending=False, kind="stable", ignore_index=True)
        .drop(columns="share")
    )


def prevalence(tables: Sequence[pd.DataFrame]) -> go.Figure | None:
    """Draw the share of seeds in which each claim holds, with 95% intervals, from the most to the least prevalent
    claim.

    Args:
        tables: results of `prevalence_table`, one per source.
    """
    table = pd.concat([t for t in tables if len(t)], ignore_index=True) if any(map(len, tables)) else pd.DataFrame()
    if not len(table):
        return None
    share = table["held"] / table["of"]
    table = table.assign(share=share).sort_values("share", ascending=False, kind="stable").reset_index(drop=True)
    figure = go.Figure()
    for decides, part in table.groupby("decided by", sort=False):
        figure.add_scatter(
            x=part.index + 1,
            y=part["share"],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": part["high"] - part["share"],
                "arrayminus": part["share"] - part["low"],
                "width": 0,
                "thickness": 1,
            },
            mode="markers",
            marker={"color": _COLOURS[str(decides)], "size": 6},
            name=_TOLD[str(decides)],
            customdata=part[["id", "statement", "held", "of"]],
            hovertemplate="%{customdata[0]}: %{customdata[2]} of %{customdata[3]}<br>%{customdata[1]}<extra></extra>",
        )
    n, universal, none = len(table), int((share == 1).sum()), int((share == 0).sum())
    figure.update_yaxes(title="share of seeds where the claim holds (95%)", tickformat=".0%", range=[-0.03, 1.03])
    figure.update_xaxes(title="claims about one network, the most prevalent first")
    return with_title(
        figure,
        f"Of {n} claims {universal} hold in all seeds of the recipe, {n - universal - none} in some seeds, "
        f"{none} in no seed",
    )
