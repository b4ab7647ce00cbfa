"""Find the embedding, attention, neurons and read-out inside a user's module by calling it.

Parts of a module are recognised by what they do, never by name alone. The output of an embedding changes with the
token. An attention pattern is a softmax over positions. Neurons are the inputs of the layer behind a nonlinearity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from modinterp.models.attention_calls import attention_passing
from modinterp.models.locations import Location, embeddings, passing
from modinterp.models.wrapped_config import WrappedConfig

_ALIKE = 1e-3  # of the spread of the logits, by which they may move where attention is seen
_LOWEST = -0.3  # of GELU and SiLU, whose least values are -0.17 and -0.28
_PROBED = 64  # inputs over which the gradient of the logits is averaged


@runtime_checkable
class Wrapped(Protocol):
    """Interface of a wrapped module, with only the members that the search for parts needs; see
    `modinterp.models.Wrapped`.
    """

    cfg: WrappedConfig
    inputs: Tensor

    @property
    def inner_module(self) -> nn.Module:
        """The user's module inside the wrapper."""
        ...

    def with_hooks(self, hooks: Mapping[str, Location]) -> None:
        """Set the known hooks of the wrapped module."""
        ...

    def moves_with_token(self, location: Location) -> bool:
        """Return True if the first tensor at a location changes with the first number of the input."""
        ...

    def called(self, tokens: Tensor, every: bool = False) -> Tensor:
        """Return the logits of the wrapped module at the last position, `[batch, output]`."""
        ...

    def seen(self, location: Location, tokens: Tensor) -> Tensor:
        """Return the activations at a location of the module for some inputs."""
        ...

    def in_order(self, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        """Convert a function of activations from the task's order of positions to the network's order."""
        ...

    def affine_map(self, location: Location) -> Tensor | None:
        """Return the matrix from the activations at a location to the logits; None if the map is not affine."""
        ...


@dataclass(frozen=True)
class Layer:
    """A recorded call of a layer with a weight matrix, or of a module without weights between such layers.

    Attributes:
        name: name of the module.
        has_matrix: True if the module has a weight matrix.
        attentions: number of attention patterns computed before the call.
        width: size of the last axis of the input.
        is_bent: True for a nonlinearity: the module has no weights, and its output differs from its input.
    """

    name: str
    has_matrix: bool
    attentions: int
    width: int
    is_bent: bool


def look(wrapped: Wrapped, hooks: dict[str, Location], classes: int) -> dict[str, Location]:
    """Return the hooks of a module: the given hooks, and hooks that are found by a search.

    Args:
        hooks: hooks that the user named.
        classes: smallest number of numbers that an embedding must embed.
    """
    found = dict(hooks)
    inner, use = wrapped.inner_module, wrapped.with_hooks
    if "hook_embed" not in found:
        use(found)
        places = [place for place in embeddings(inner, classes) if wrapped.moves_with_token(place)]
        found |= {"hook_embed": places[0]} if len(places) == 1 else {}
    patterns, layers = _calls(wrapped)
    if not any(name.endswith("hook_pattern") for name in found):
        found |= {f"blocks.{i}.attn.hook_pattern": Location(f"attention {i}") for i in range(patterns)}
    if any(name.endswith(("mlp.hook_post", "hook_resid_post")) for name in found):
        return found
    use(found)
    last = f"blocks.{wrapped.cfg.n_layers - 1}"
    for i, location, is_bent in _candidates(layers):
        if wrapped.affine_map(location) is not None:
            is_neurons = is_bent or _is_behind_one(wrapped, location) or _is_wider(layers, i)
            found[f"{last}.mlp.hook_post" if is_neurons else f"{last}.hook_resid_post"] = location
            break
    if "hook_embed" in found:
        width = wrapped.seen(found["hook_embed"], wrapped.inputs[:1]).shape[-1]
    else:
        width = next((x.width for x in reversed(layers) if x.has_matrix), 0)
    return found | _neurons_of_layers(layers, found, wrapped.cfg.n_layers, width)


def _calls(wrapped: Wrapped) -> tuple[int, list[Layer]]:
    """Return the number of attention patterns, and the layers in the order of their calls.

    Attention patterns count only if recording them leaves the logits unchanged.
    """
    inner, tokens = wrapped.inner_module, wrapped.inputs[: min(3, len(wrapped.inputs))]
    positions = wrapped.cfg.calling.positions(wrapped.cfg.n_ctx)
    layers: list[Layer] = []

    def noted(name: str, module: nn.Module) -> Callable[..., None]:
        own = dict(module.named_parameters(recurse=False))
        has_matrix = any(w.ndim == 2 for w in own.values()) and not isinstance(module, nn.Embedding)

        def note(_: Any, args: tuple[Any, ...], output: Any) -> None:
            if args and isinstance(args[0], Tensor) and isinstance(output, Tensor) and args[0].is_floating_point():
                is_bent = not own and args[0].shape == output.shape and not torch.equal(args[0], output)
                layers.append(Layer(name, has_matrix, len(seen), args[0].shape[-1], is_bent))

        return note

    if any(isinstance(m, torch.jit.ScriptModule) for m in inner.modules()):  # which takes no hooks
        return 0, []
    leaves = [(name, m) for name, m in inner.named_modules() if name and not any(m.children())]
    with torch.no_grad():
        plain = wrapped.called(tokens)
        with attention_passing(len(tokens), {}) as seen:
            handles = [module.register_forward_hook(noted(name, module)) for name, module in leaves]
            try:
                shown = wrapped.called(tokens)
            finally:
                for handle in handles:
                    handle.remove()
    is_same = float((shown - plain).abs().max()) <= _ALIKE * (float(plain.std(correction=0)) + 1e-6)
    is_over_positions = bool(seen) and all(shape[-2:] == (positions, positions) for shape in seen)
    return (len(seen) if is_same and is_over_positions else 0), layers


def _candidates(layers: list[Layer]) -> list[tuple[int, Location, bool]]:
    """Return locations of possible neurons, in the order of calls: nonlinearities, and inputs of weight matrices."""
    found = [(i, Location(x.name, is_input=x.has_matrix), x.is_bent) for i, x in enumerate(layers)
             if x.is_bent or x.has_matrix]  # fmt: skip
    return list({location: (i, location, bent) for i, location, bent in found}.values())


def _is_behind_one(wrapped: Wrapped, location: Location) -> bool:
    """Return True if the activations at a location are the output of ReLU, GELU or SiLU."""
    seen = wrapped.seen(location, wrapped.inputs)
    is_rectified = seen.clamp(max=0).square().sum() < 0.01 * seen.square().sum()
    return bool(is_rectified or (seen.min() > _LOWEST and seen.max() > -3 * _LOWEST))


def _is_wider(layers: list[Layer], i: int) -> bool:
    """Return True if a layer that reads neurons precedes a layer that reads a residual stream of another width."""
    behind = [x for x in layers[i + 1 :] if x.has_matrix]
    return layers[i].has_matrix and bool(behind) and behind[-1].width != layers[i].width


def _neurons_of_layers(
    layers: list[Layer], found: dict[str, Location], n_layers: int, width: int
) -> dict[str, Location]:
    """Find unknown neurons of the layers: the inputs of the second matrix after the attention of a layer.

    Neurons are recognised only if their number differs from the width of the residual stream.
    """
    matrices = [x for x in layers if x.has_matrix]
    if n_layers == 1 and not any(x.attentions for x in matrices):
        return {}
    neurons = {}
    for layer in range(n_layers):
        inside = [x for x in matrices if x.attentions == layer + 1]
        behind = [y for x, y in pairwise(inside) if x.width == width and y.width != width]
        if behind and f"blocks.{layer}.mlp.hook_post" not in found:
            neurons[f"blocks.{layer}.mlp.hook_post"] = Location(behind[0].name, is_input=True)
    return neurons


def mean_gradient(wrapped: Wrapped, location: Location) -> Float[Tensor, "feature output"] | None:
    """Return the mean gradient of the logits with respect to the activations at a location; None without a gradient.

    The mean gradient serves as the read-out matrix if a normalisation lies between the neurons and the logits.
    """
    generator = torch.Generator().manual_seed(0)
    tokens = wrapped.inputs[torch.randint(len(wrapped.inputs), (_PROBED,), generator=generator)]
    moves: list[Tensor] = []

    def moved(x: Tensor) -> Tensor:
        change = torch.zeros_like(x[:, -1] if x.ndim == 3 else x).requires_grad_()
        moves.append(change)
        return torch.cat([x[:, :-1], (x[:, -1] + change).unsqueeze(1)], dim=1) if x.ndim == 3 else x + change

    with torch.inference_mode(False), torch.enable_grad():
        with passing(wrapped.inner_module, {location: wrapped.in_order(moved)}, len(tokens)):
            logits = wrapped.called(tokens)
        if not moves or not logits.requires_grad:
            return None
        rows = [
            torch.autograd.grad(logits[:, c].sum(), moves[-1], retain_graph=True)[0] for c in range(logits.shape[1])
        ]
    return torch.stack([row.double().mean(dim=0) for row in rows], dim=1).detach()
