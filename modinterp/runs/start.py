"""Weights before the first step of a run: drawn by its seed, or those that another run ended with."""

from __future__ import annotations

from pathlib import Path

from modinterp.models import Weights, fitting, labelled_weights
from modinterp.runs import store
from modinterp.training import RunSpec


def weights_at_start(spec: RunSpec) -> Weights:
    """The weights before the first step, in float32 on the CPU.

    If the spec names a start run, return the final weights of that published run, checked against its record.

    Raises:
        FileNotFoundError: that run is not published here.
        ValueError: its weights were not shipped or are damaged, or they are those of another network.
    """
    if not spec.start:
        return spec.initial_weights()
    folder = Path(store.published()) / store.checked_name(spec.start)
    record = store.read_record(folder)
    ended = RunSpec.from_json(record["spec"])
    weights = labelled_weights(ended.model, store.read_weights(store.verify(folder, record, store.FINAL)))
    return dict(fitting(weights, spec.model.labelled(), spec.task).state_dict())
