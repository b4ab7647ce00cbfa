"""Measure a run, a file, a module or a function; this module holds the function `modinterp.measure`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, overload

from torch import Tensor

from modinterp.explain.subject import Said, subject
from modinterp.figures import views  # noqa: F401 - which draws `m.neuron(17)` and its like
from modinterp.measurements import (
    CyclicMeasurements,
    GroupMeasurements,
    NetworkMeasurements,
    OrderMeasurements,
    SequenceMeasurements,
)
from modinterp.measurements import measure as measurements_of
from modinterp.runs import TrainedRun
from modinterp.runs.weights import READ
from modinterp.sources import load
from modinterp.tasks import Group, ModularArithmetic, Ordering
from modinterp.tasks.sampled import SampledTask

Measurable = TrainedRun | NetworkMeasurements | str | Path | Mapping[str, Tensor] | Callable[..., Any]


@overload
def measure(network: TrainedRun[ModularArithmetic], **said: Any) -> CyclicMeasurements: ...
@overload
def measure(network: TrainedRun[Group], **said: Any) -> GroupMeasurements: ...
@overload
def measure(network: TrainedRun[Ordering], **said: Any) -> OrderMeasurements: ...
@overload
def measure(network: TrainedRun[SampledTask], **said: Any) -> SequenceMeasurements: ...
@overload
def measure(network: Measurable, *, group: str | Path, **said: Any) -> GroupMeasurements: ...
@overload
def measure(network: Measurable, **said: Any) -> CyclicMeasurements: ...
def measure(
    network: Measurable, *, draws: int = 199, device: str = "cpu", root: str | Path | None = None, **said: Any
) -> Any:
    """Return the measurements of a network: numbers by key, and results as attributes, each computed at first use.

    Use `measure` to look into a network; `explain` adds a verdict and writes a page. The class of the result depends on
    the task: `CyclicMeasurements` for pairs of numbers, `GroupMeasurements` for a finite group, `OrderMeasurements` for
    numbers to order.

    >>> import modinterp as mi
    >>> m = mi.measure("model.pt", op="add", p=113)          # doctest: +SKIP
    >>> m.freqs, m["logit_fve"]                              # doctest: +SKIP
    ((14, 35, 41, 42, 52), 0.9612)
    >>> m.without(frequencies=[14], site="embedding")        # doctest: +SKIP
    >>> mi.measure(my_module, op="sub", p=59).table()        # doctest: +SKIP

    Args:
        network: a run, the name of a run, a file of weights, a module or a function. If `network` already is a
            `Measurements` object, it is returned unchanged.
        draws: number of random matrices for each null distribution of the spectrum.
        device: device on which the network runs, such as `cpu`.
        root: folder in which to look for a named run.
        said: further arguments of `explain` that describe the network, such as `op`, `p`, `group`, `act_fn`.
    Raises:
        FileNotFoundError: no run or file of that name exists.
        ValueError: the arguments or the file are invalid, in the cases listed for `explain`.
    """
    if isinstance(network, NetworkMeasurements):
        return network
    if isinstance(network, str | Path) and Path(network).suffix not in READ:
        network = load(network, root=root, device=device)
    if isinstance(network, TrainedRun) and not said:  # of which weights or one kind of answer are not asked
        return measurements_of(network, draws=draws)
    if said.get("group") is not None:
        said["group"] = str(said["group"])
    return measurements_of(subject(network, Said(**said), device, root).run, draws=draws)
