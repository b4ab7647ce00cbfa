"""The function behind `modinterp.distill` and the command: from any network to its ladder of formulas."""

from __future__ import annotations

from typing import Any

from modinterp.explain.measuring import Measurable, measure
from modinterp.formulas.distilled import Distilled


def distill(network: Measurable, **said: Any) -> Distilled:
    """The formulas of a network, from a few numbers to all of its weights, each compared with the network.

    Every number of a formula is a projection of the network's weights and activations; nothing is fitted to the right
    answers. Use it to see how much of a network an account of it explains. `explain` says which algorithm it is.

    >>> import modinterp as mi
    >>> d = mi.distill("model.pt", op="add", p=113)          # doctest: +SKIP
    >>> d.curve(), d.beaten(), d.stages()                    # doctest: +SKIP
    >>> d["compact"](3, 5).argmax()                          # doctest: +SKIP
    8

    Args:
        network: a run, its name, a file of weights, a module or a function; or measurements.
        said: what `measure` takes as well, such as `op`, `p`, `act_fn`, `root`.
    Returns:
        the rungs that exist, and for each that does not one line that says why.
    Raises:
        FileNotFoundError: there is no such run or file.
        ValueError: as `explain`.
    """
    return Distilled.of(measure(network, **said))
