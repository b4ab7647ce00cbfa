"""Compare several networks; this module holds the function `modinterp.compare`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from modinterp.arguments import check
from modinterp.compare.comparison import Comparison
from modinterp.explain import Explanation, explain
from modinterp.runs import TrainedRun
from modinterp.runs.weights import READ
from modinterp.sources import load

Comparable = TrainedRun | Explanation | str | Path | Callable[..., Any]


def compare(
    networks: Sequence[Comparable] | Mapping[str, Comparable],
    *,
    epochs: Sequence[int] = (),
    out: str | Path | None = None,
    **options: Any,
) -> Comparison:
    """Compare several networks: key frequencies, variance explained in each layer, clock or pizza, losses, sizes.

    >>> import modinterp as mi
    >>> mi.compare(["SOURCE/RUN-0", "SOURCE/RUN-1", "model.pt"])            # doctest: +SKIP
    >>> mi.compare([run], epochs=(1000, 5000, 20000)).table()              # doctest: +SKIP

    Args:
        networks: runs, names of runs, files of weights, modules, functions, or explanations. The argument `networks` is
            a list, or a dict from column names to networks.
        epochs: if given, each run is replaced by its snapshots at these epochs.
        out: folder to write the page, the table and the JSON into; nothing is written by default.
        options: further arguments of `modinterp.explain`, such as `op`, `p` or `draws`. The arguments in `options`
            apply to every network that is not a run.
    Raises:
        FileNotFoundError: no run or file of that name exists.
        ValueError: the arguments or a file are invalid, in the cases listed for `modinterp.explain`; `networks` is
            empty; two networks have one name; `epochs` is given for a network without these snapshots.
    """
    check("networks", networks, Collection[object])
    check("epochs", epochs, Sequence[int])
    named = list(networks.items()) if isinstance(networks, Mapping) else [(None, network) for network in networks]
    if not named:
        raise ValueError("there is no network to compare; give at least one")
    explanations: dict[str, Explanation] = {}
    for given, network in named:
        for suffix, one in _snapshots(network, epochs, options):
            x = one if isinstance(one, Explanation) else explain(one, **_fitting(one, options))
            name = (given or x.name) + suffix
            if name in explanations:
                raise ValueError(f"two networks are called {name}; give them names: compare({{'first': ..., ...}})")
            explanations[name] = x
    comparison = Comparison(explanations)
    if out is not None:
        from modinterp.compare.page import write_comparison

        write_comparison(comparison, Path(out))
    return comparison


def _fitting(network: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `explain` that apply to a network; for a run, only `draws`, `device` and `root`."""
    is_run = isinstance(network, TrainedRun) or (isinstance(network, str | Path) and Path(network).suffix not in READ)
    return {name: value for name, value in options.items() if not is_run or name in ("draws", "device", "root")}


def _snapshots(
    network: Comparable, epochs: Sequence[int], options: Mapping[str, Any]
) -> Iterator[tuple[str, Comparable]]:
    """Yield pairs of a name suffix and a network: the network itself, or its snapshots at some epochs.

    Raises:
        ValueError: `epochs` is given, and the network is not a run or lacks a snapshot.
    """
    if not epochs:
        yield "", network
        return
    if isinstance(network, str | Path) and Path(network).suffix not in READ:
        network = load(network, root=options.get("root"), device=options.get("device", "cpu"))
    if not isinstance(network, TrainedRun):
        raise ValueError(f"--epochs needs a run with snapshots, got {type(network).__name__}")
    for epoch in epochs:
        if epoch not in network.snapshots:
            there = ", ".join(map(str, network.snapshots)) or "none"
            raise ValueError(f"{network.name} has no snapshot of epoch {epoch}; it has snapshots of epochs {there}")
        yield f" at {epoch:,}", TrainedRun(network.name, network.task, network.at(epoch), network.spec)
