"""Distil a network into formulas of growing size; this module holds the function `modinterp.distill`."""

from __future__ import annotations

from typing import Any

from modinterp.explain.measuring import Measurable, measure
from modinterp.formulas.distilled import Distilled


def distill(network: Measurable, **said: Any) -> Distilled:
    """Return formulas of a network, from a few numbers up to all of its weights, each compared with the network.

    Every number of a formula is a projection of the network's weights and activations; no number is fitted to the right
    answers. Use `distill` to measure how much of a network a formula explains. Use `explain` instead to name the
    algorithm.

    >>> import modinterp as mi
    >>> d = mi.distill("model.pt", op="add", p=113)          # doctest: +SKIP
    >>> d.curve(), d.beaten(), d.stages()                    # doctest: +SKIP
    >>> d["compact"](3, 5).argmax()                          # doctest: +SKIP
    8

    Args:
        network: a run, the name of a run, a file of weights, a module, a function, or the measurements of a network.
        said: further arguments that describe the network to `measure`, such as `op`, `p`, `act_fn`, `root`.
    Returns:
        The formulas that exist for the network (its rungs), and one line with the reason for each missing rung.
    Raises:
        FileNotFoundError: no run or file of that name exists.
        ValueError: the arguments or the file are invalid, in the cases listed for `explain`.
    """
    return Distilled.of(measure(network, **said))
