"""Return the weights before the first step of a run: random weights from its seed, or final weights of another run."""

from __future__ import annotations

from pathlib import Path

from modinterp.models import Weights, fitting, labelled_weights
from modinterp.runs import store
from modinterp.training import RunSpec


def weights_at_start(spec: RunSpec) -> Weights:
    """Return the weights of a run before its first training step, in float32 on the CPU.

    If the spec names a start run, return the final weights of that published run, checked against its record.

    Raises:
        FileNotFoundError: the start run is not among the published runs.
        ValueError: the weights of the start run are not shipped, are damaged, or belong to another network.
    """
    if not spec.start:
        return spec.initial_weights()
    folder = Path(store.published()) / store.checked_name(spec.start)
    record = store.read_record(folder)
    ended = RunSpec.from_json(record["spec"])
    weights = labelled_weights(ended.model, store.read_weights(store.verify(folder, record, store.FINAL)))
    return dict(fitting(weights, spec.model.labelled(), spec.task).state_dict())
