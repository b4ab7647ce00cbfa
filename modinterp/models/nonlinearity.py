"""Find the neurons' inputs, before the nonlinearity, in an external module by trying locations and nonlinearities."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn

from modinterp.models.base_config import ACTIVATIONS
from modinterp.models.calling import REFUSALS
from modinterp.models.locations import Location
from modinterp.models.wrapped import Wrapped

PROBED = 64  # inputs on which it is tried whether one place is the nonlinearity of another


def neuron_inputs(network: Wrapped) -> tuple[str, Float[Tensor, "input neuron"]] | None:
    """Return the nonlinearity of a module's last neurons, and the neurons' inputs; None if the inputs are not found.

    Activations count as the neurons' inputs if a nonlinearity maps them to the neurons' outputs, and they differ from
    these.

    Returns:
        the nonlinearity as a key of `ACTIVATIONS`, and the neurons' inputs at the last position for all of the task's
        inputs, in float64.
    """
    name = f"blocks.{network.cfg.n_layers - 1}.mlp.hook_post"
    precise, tokens = network.in_float64(), network.inputs
    if name not in network.cfg.hooks:
        return None
    probes = tokens[torch.linspace(0, len(tokens) - 1, min(PROBED, len(tokens))).long()]
    post = _at_last(precise.seen(network.cfg.hooks[name], probes))
    for location in _places(network.__dict__["inner"]):
        try:
            found = _at_last(precise.seen(location, probes))
        except (ValueError, AttributeError, *REFUSALS):
            continue  # it is never called, or has no tensor
        if found.shape != post.shape or torch.equal(found, post):
            continue
        for act_fn, act in ACTIVATIONS.items():
            if torch.allclose(act(found.double()), post.double(), rtol=1e-5, atol=1e-6 * float(post.abs().max())):
                return act_fn, _at_last(precise.seen(location, tokens)).double()
    return None


def _at_last(x: Tensor) -> Tensor:
    return x[:, -1] if x.ndim == 3 else x


def _places(inner: object) -> Iterator[Location]:
    """Return the outputs and the inputs of every module."""
    names = [name for name, _ in inner.named_modules() if name] if isinstance(inner, nn.Module) else []
    yield from (Location(name) for name in names)
    yield from (Location(name, is_input=True) for name in names)
