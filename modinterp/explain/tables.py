"""Collect the tables behind the numbers of an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from modinterp.explain.criteria import is_explained
from modinterp.explain.position_tables import tables as of_positions
from modinterp.measurements import (
    CyclicMeasurements,
    GroupMeasurements,
    NetworkMeasurements,
    NoSuchPart,
    PositionMeasurements,
)


def tables(m: NetworkMeasurements) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the title and the content of every table behind the numbers of an explanation."""
    if isinstance(m, PositionMeasurements):
        yield from of_positions(m)
        return
    if m.accuracy_of_operations:
        shares = pd.DataFrame(m.accuracy_of_operations.items(), columns=["operation", "accuracy"])
        yield "Other operations that give the same answers", shares
    if isinstance(m, GroupMeasurements):
        yield from _of_groups(m)
    elif isinstance(m, CyclicMeasurements) and is_explained(m):
        yield from _of_waves(m)


def _of_waves(m: CyclicMeasurements) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "Nulls of the spectrum", m.spectrum_nulls.table()
    yield "Nulls of the logits", m.logit_nulls.table()
    yield f"Projection of {m.features_name} onto the directions of {m.readout_name}", m.readoff.table()
    yield "Cosines of the formula", m.logit_fit.table()
    if m.has_attention:
        for layer, fits in m.heads_by_layer.items():
            yield f"Attention to the first number, layer {layer}", fits.table()
    with suppress(NoSuchPart):
        yield "Loss and accuracy after each intervention", m.ablations.table()
    losses = [(k, float(loss), k in m.freqs) for k, loss in enumerate(m.loss_without_each_block, start=1)]
    yield (
        "Loss with one frequency removed from the logits",
        pd.DataFrame(losses, columns=["freq", "loss [nats]", "key"]),
    )


def _of_groups(m: GroupMeasurements) -> Iterator[tuple[str, pd.DataFrame]]:
    columns: dict[str, object] = {
        "representation": [rho.name for rho in m.irreps],
        "dimension": [rho.dim for rho in m.irreps],
        "similarity": m.similarities.tolist(),
        "key": [rho in m.keys for rho in m.irreps],
        f"share of {m.readout_name}": list(m.shares(m.readout_matrix.T).values()),
    }
    if m.has_embedding:
        columns |= {f"share of {name}": list(m.shares(matrix).values()) for name, matrix in m.embeddings.items()}
    yield "Representations", pd.DataFrame(columns)
    if m.has_neurons:
        yield "Share of the neurons' variance", m.pair_shares.table()
    if len(m.ablations.rows) > 1:
        yield "Effect of removing each part", m.ablations.table()
    losses = [(name, without, alone, name in m.key_names) for name, (without, alone) in m.loss_with_each.items()]
    names = [
        "representation",
        "loss without the representation [nats]",
        "loss with the representation alone [nats]",
        "key",
    ]
    yield (
        "Loss with one representation removed from the logits, and with only this one",
        pd.DataFrame(losses, columns=names),
    )
    yield "Nulls of the spectrum", m.spectrum_nulls.table()
    yield "Nulls of the logits", m.logit_nulls.table()
