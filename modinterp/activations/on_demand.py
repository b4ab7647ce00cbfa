"""Compute a network's activations on all inputs on demand; for many inputs, one hook at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from modinterp.activations.blocks import INPUTS
from modinterp.activations.by_rows import ByRows, Rows
from modinterp.activations.capture import LOGITS, activations, at_last_position, at_the_end
from modinterp.models import Network, TransformerConfig
from modinterp.models.lens import ActivationCache
from modinterp.tasks import Task

FEW = 16  # inputs, of which the size of all activations follows
LARGE = 2**30  # bytes of all activations in float64, or of the logits in float32, 1 GiB
_TOGETHER, _PRE = ("mlp.hook_post", "attn.hook_pattern"), "mlp.hook_pre"


def all_activations(network: Network, task: Task) -> ActivationCache:
    """Return the activations of all hooks, computed at once in float64, or on first access if they are large.

    Measurements take their activations from `all_activations`. If all activations would take more than 1 GiB, they have
    the network's own dtype, and each is captured on first access.
    """
    if len(task.inputs()) <= INPUTS or size_of_all(network, task) <= LARGE:
        return activations(network, task)
    return ActivationCache(_WhenAsked(network, task), network)


def size_of_all(network: Network, task: Task) -> int:
    """Return the memory for the activations of all hooks in float64 [bytes], estimated from a few inputs."""
    inputs = task.inputs()
    with torch.no_grad(), network.at_last_position():
        logits, cache = network.run_with_cache(inputs[:FEW].to(network.device))
    numbers = sum(x.numel() for x in at_the_end({**cache.cache_dict, LOGITS: logits}).values())
    return 8 * numbers * len(inputs) // FEW


def has_narrow_logits(network: Network, inputs: int) -> bool:
    """Return True if logits are computed on demand, as the product of the residual stream and W_U.

    Logits are computed on demand if they would take more than 1 GiB in float32, and the network has no final layer norm
    and no unembedding bias.
    """
    config = network.cfg
    if not isinstance(config, TransformerConfig) or config.normalization_type is not None or config.unembed_bias:
        return False
    return 4 * inputs * config.d_vocab_out > LARGE


class _WhenAsked(dict[str, Tensor]):
    """Activations by the name of their hook, each captured on first access.

    Logits, neurons after their nonlinearity and attention patterns come from one forward pass, because most
    measurements need all three. Neurons before their nonlinearity are computed row by row, and so are logits that would
    take more than 1 GiB.
    """

    def __init__(self, network: Network, task: Task):
        super().__init__()
        self.network, self.task, self.inputs = network, task, task.inputs()

    def __missing__(self, name: str) -> Tensor:
        if name not in self:
            raise KeyError(name)
        if name.endswith(_PRE) and self._reads_residual:
            self[name] = self._before_neurons(name)
        elif name.endswith(_PRE):
            self[name] = self._by_rows(partial(self._of_hook, name), self._of_hook(name, slice(0, 1)))
        elif name == LOGITS or name.endswith(_TOGETHER):
            self._capture([each for each in self.network.hook_dict if each.endswith(_TOGETHER)])
        else:
            self._capture([name])
        return self[name]

    def _capture(self, names: list[str]) -> None:
        held, features = set(super().__iter__()), self._features
        wanted = [name for name in names if name not in held]
        if features is not None and LOGITS not in held:
            wanted.append(features)
        found = activations(self.network, self.task, wanted, precise=False, with_logits=features is None)
        for each, x in found.cache_dict.items():
            self.setdefault(each, x)
        if features is not None and LOGITS not in held:
            self[LOGITS] = ByRows.product(self[features], self.network.W_U.detach())

    @property
    def _features(self) -> str | None:
        """The hook whose activation times W_U gives the logits, if logits are too large for memory; otherwise None."""
        if not has_narrow_logits(self.network, len(self.inputs)):
            return None
        return f"blocks.{len(self.network.blocks) - 1}.hook_resid_post"

    @property
    def _reads_residual(self) -> bool:
        """True if neurons before their nonlinearity equal the residual stream times W_in plus a bias."""
        config = self.network.cfg
        return isinstance(config, TransformerConfig) and config.normalization_type is None

    def _before_neurons(self, name: str) -> Tensor:
        """Return neurons before their nonlinearity as one product: (residual stream, 1) times the stacked W_in and
        bias.
        """
        layer = int(name.split(".")[1])
        mlp: Any = self.network.blocks[layer].mlp
        W_in, hook = mlp.W_in.detach(), name.removesuffix(_PRE) + "hook_resid_mid"

        def rows(some: slice | Tensor) -> Tensor:
            residual = self._of_hook(hook, some, layer + 1)
            return torch.cat([residual, residual.new_ones(len(residual), 1)], dim=1)

        bias = mlp.bias_count * mlp.b_in.detach() if hasattr(mlp, "b_in") else W_in.new_zeros(W_in.shape[1])
        return ByRows.product(self._by_rows(rows, rows(slice(0, 1))), torch.cat([W_in, bias[None]]))

    def _of_hook(self, name: str, some: slice | Tensor, stop_at_layer: int | None = None) -> Tensor:
        until = {} if stop_at_layer is None else {"stop_at_layer": stop_at_layer}
        with torch.no_grad(), self.network.at_last_position():
            tokens = self.inputs[some].to(self.network.device)
            _, cache = self.network.run_with_cache(tokens, names_filter=[name], **until)
        return at_last_position(name, cache[name])

    def _by_rows(self, rows: Rows, first: Tensor) -> Tensor:
        grid = self.task.grid or (len(self.inputs),)
        return ByRows(rows, (*grid, *first.shape[1:]), len(grid), first.dtype)

    def __contains__(self, name: object) -> bool:
        return name == LOGITS or name in self.network.hook_dict

    def __iter__(self) -> Iterator[str]:
        return iter([LOGITS, *self.network.hook_dict])

    def keys(self) -> Any:
        """Return the names of all hooks."""
        return list(self)
