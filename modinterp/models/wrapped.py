"""Wrap an external module or function as a network of this library, with its own forward pass and our hook names."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from modinterp.models.base_network import Network
from modinterp.models.call_search import calling_of, device_of
from modinterp.models.calling import POSITIONS_FIRST, REFUSALS, Calling
from modinterp.models.lens import HookPoint
from modinterp.models.locations import (
    HOOKS,
    Location,
    is_hook,
    part,
    passing,
    shared_hooks,
)
from modinterp.models.looking import look, mean_gradient
from modinterp.models.with_numbers import with_numbers
from modinterp.models.wrapped_config import WrappedConfig
from modinterp.tasks import Task
from modinterp.terminal.suggestions import suggestion

_PROBED = 8  # inputs on which it is tried whether logits are an affine map of some activations


class _Points(nn.Module):
    """A module that holds hook points, named by the last part of the hook name."""


class Wrapped(Network):
    """A user's module or function, called unchanged; its known activations pass through our hook points.

    Args:
        network: module or function from inputs, in one of the `FORMS` of `modinterp.models.calling`, to the logits of
            each input, at the last position or at all positions. A module is in evaluation mode while it runs.
        task: the task of the network.
        calling: the input format, or only the form of the inputs; by default the first format that the network accepts.
            A network that does not accept all inputs at once is treated as a black box.
        hooks: map from our hook name, such as `hook_embed` or `blocks.0.mlp.hook_post`, to a `Location` or its name.
            Locations that `hooks` does not name are found by TransformerLens' names, and by testing where logits are an
            affine map.
        is_looked_into: False to skip the search for locations and treat the network as a black box.
    Raises:
        ValueError: the network accepts no known input format, lacks a named location, or its weights hold no values.
    """

    def __init__(
        self,
        network: Callable[..., Any],
        task: Task,
        calling: Calling | str | None = None,
        hooks: Mapping[str, Location | str] | None = None,
        is_looked_into: bool = True,
    ):
        classes, network = sum(task.output_sizes), with_numbers(network)
        self.__dict__["inner"] = network  # not a submodule: its hook points keep their own names
        if not isinstance(calling, Calling):
            calling = calling_of(network, task, calling)
        kind = getattr(network, "__name__", type(network).__name__)
        if unknown := sorted(name for name in hooks or {} if not is_hook(name)):
            raise ValueError(f"there is no hook {unknown[0]!r}{suggestion(unknown[0], HOOKS)}")
        named = {name: Location.of(p) if isinstance(p, str) else p for name, p in (hooks or {}).items()}
        super().__init__(WrappedConfig(task.d_vocab, classes, task.n_ctx, 1, kind, calling, {}))
        self.inputs = task.inputs()
        if named and calling.most is not None:
            raise ValueError(
                f"{kind} accepts only {calling.most} inputs at a time, but activations can be captured only "
                "for all inputs at once"
            )
        if named and not calling.is_seen_into:
            raise ValueError(f"the positions of a and b in {calling} are not known, so hooks cannot be named")
        if isinstance(network, nn.Module) and is_looked_into and calling.is_seen_into:
            for location in named.values():
                if location.attention is None:
                    part(network, location.path)
            hooks_by_name = named | {n: p for n, p in shared_hooks(network).items() if n not in named}
            self.with_hooks(hooks_by_name)
            self.with_hooks(look(self, hooks_by_name, classes))
        elif named:
            raise ValueError(f"{kind} is a function, which has no hooks such as {', '.join(map(str, named.values()))}")
        self._build()

    def called_otherwise(self, task: Task, calling: Calling) -> Wrapped:
        """Return a copy of the wrapped network that is called with another input format, as a black box."""
        return Wrapped(self.__dict__["inner"], task, calling, is_looked_into=False)

    @cached_property
    def outputs(self) -> int:
        """Number of logits that the network returns for an input, including logits beyond the task's classes."""
        with torch.no_grad():
            return self.called(self.inputs[:1], every=True).shape[1]

    @property
    def device(self) -> torch.device:
        """The torch device of the network's parameters."""
        return device_of(self.__dict__["inner"])

    @property
    def inner_module(self) -> nn.Module:
        """The user's module or function inside the wrapper."""
        return self.__dict__["inner"]

    def with_hooks(self, hooks: Mapping[str, Location]) -> None:
        """Set the known hooks of the network."""
        c: WrappedConfig = self.cfg
        layers = {int(name.split(".")[1]) for name in hooks if name.startswith("blocks.")}
        n_layers = max(layers, default=0) + 1
        self.cfg = WrappedConfig(c.d_vocab, c.d_vocab_out, c.n_ctx, n_layers, c.kind, c.calling, dict(hooks))

    def moves_with_token(self, location: Location) -> bool:
        """Return True if all tokens pass a location in one call, and the first tensor at the location changes with the
        first number.

        `moves_with_token` is False for separate embeddings of a and b, for weights that are indexed and never called,
        and for position embeddings.
        """
        try:
            first, last = self.seen(location, self.inputs[:1]), self.seen(location, self.inputs[-1:])
        except ValueError:
            return False
        return first.ndim == 3 and first.shape == last.shape and not torch.equal(first[:, 0], last[:, 0])

    def _build(self) -> None:
        """Create the hook points and set their names."""
        self.blocks = nn.ModuleList([_Points() for _ in range(self.cfg.n_layers)])
        for name in self.cfg.hooks:
            *path, last = name.split(".")
            room: nn.Module = self
            for step in path:
                if not hasattr(room, step) and not step.isdigit():
                    setattr(room, step, _Points())
                room = room[int(step)] if step.isdigit() else getattr(room, step)  # type: ignore[index]
            setattr(room, last, HookPoint())
        self.setup()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Wrapped:
        super()._apply(fn, recurse)
        if isinstance(self.__dict__["inner"], nn.Module):
            self.__dict__["inner"]._apply(fn)
        return self

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield the parameters of the user's network under the names that the network gives them."""
        inner = self.__dict__["inner"]
        return inner.named_parameters(*args, **kwargs) if isinstance(inner, nn.Module) else iter(())

    def in_float64(self) -> Wrapped:
        """Return a copy that computes in float64, or the network itself if it cannot be copied or converted."""
        try:
            precise = copy.deepcopy(self).double()
            precise.called(self.inputs[:1])
        except REFUSALS:
            return self
        return precise

    def called(self, tokens: Tensor, every: bool = False) -> Float[Tensor, "batch output"]:
        """Return the logits of the network at the last position, of the task's classes or of all outputs."""
        c: WrappedConfig = self.cfg
        self.__dict__["batch"] = len(tokens)  # by which it is seen whether positions come first inside
        logits = c.calling.logits(self.__dict__["inner"], tokens.to(self.device), c.d_vocab_out)
        return logits if every else logits[:, : c.d_vocab_out]

    def called_with(self, vectors: Float[Tensor, "batch 2 residue"]) -> Float[Tensor, "batch output"]:
        """Return the logits of the task's classes for any vectors in place of one-hot vectors."""
        c: WrappedConfig = self.cfg
        vectors = vectors.to(self.device)
        return c.calling.of_vectors(self.__dict__["inner"], vectors, c.d_vocab_out)[:, : c.d_vocab_out]

    def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch 1 output"]:
        """Return the logits of the task's classes at the last position, by the network's own forward pass."""
        points: dict[str, HookPoint] = self.hook_dict

        def through(point: HookPoint) -> Callable[[Tensor], Tensor]:
            return self.in_order(lambda x: point(x) if x.ndim > 2 else point(x.unsqueeze(1)).squeeze(1))

        hooks: Mapping[str, Location] = self.cfg.hooks
        if not hooks:
            return self.called(tokens).unsqueeze(1)
        places = {location: through(points[name]) for name, location in hooks.items()}
        with passing(self.__dict__["inner"], places, len(tokens)):
            return self.called(tokens).unsqueeze(1)

    def in_order(self, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        """Convert a function of activations `[batch, pos, ...]` from the task's order of positions to the network's
        order.
        """
        calling: Calling = self.cfg.calling
        order, is_turned = calling.order, calling.form == POSITIONS_FIRST

        def changed(x: Tensor) -> Tensor:
            axes = [x.ndim - 2, x.ndim - 1] if x.ndim == 4 else [1]
            turned = is_turned and x.ndim == 3 and x.shape[1] == self.__dict__["batch"]
            x = x.transpose(0, 1) if turned else x
            moves = [a for a in axes if order is not None and x.ndim > 2 and x.shape[a] == len(order)]
            for axis in moves:
                x = x.index_select(axis, torch.tensor(order, device=x.device))
            x = change(x)
            for axis in moves:
                x = x.index_select(axis, torch.tensor(order, device=x.device).argsort())
            return x.transpose(0, 1) if turned else x

        return changed

    def seen(self, location: Location, tokens: Tensor) -> Tensor:
        """Return the activations at a location of the network for some inputs.

        Raises:
            ValueError: the network never calls the module at this location.
        """
        seen: list[Tensor] = []
        note = self.in_order(lambda x: (seen.append(x), x)[1])
        with torch.no_grad(), passing(self.__dict__["inner"], {location: note}, len(tokens)):
            self.called(tokens)
        if not seen:
            raise ValueError(f"{self.cfg.kind} never calls {location}")
        return seen[-1]

    def _logits_moved(self, location: Location, tokens: Tensor, change: Float[Tensor, "batch d"]) -> Tensor:
        """Return the logits for some inputs after adding a vector to the activations at a location, at the last
        position.
        """

        def moved(x: Tensor) -> Tensor:
            x = x.clone()
            x[:, -1] += change.to(x) if x.ndim == 3 else 0
            return x if x.ndim == 3 else x + change.to(x)

        with torch.no_grad(), passing(self.__dict__["inner"], {location: self.in_order(moved)}, len(tokens)):
            return self.called(tokens).double()

    def affine_map(self, location: Location) -> Float[Tensor, "feature output"] | None:
        """Return the matrix from the activations at a location to the logits at the last position; None if the map is
        not affine.

        To find the matrix, each activation at the location is changed by a fixed amount. The logits must change equally
        for every input, and twice as much for twice the amount. The change of the logits then gives the matrix row of
        the changed activation.
        """
        precise = self.in_float64()
        tolerance = 1e-3 if precise is self else 1e-8
        generator = torch.Generator().manual_seed(0)
        rows = torch.randint(len(self.inputs), (_PROBED,), generator=generator)
        tokens = self.inputs[rows]
        seen = precise.seen(location, tokens)
        if seen.ndim not in (2, 3) or len(seen) != len(tokens) or not seen.is_floating_point():  # as quantised ones
            return None
        size = float(seen.double().square().mean().sqrt()) or 1.0
        move = size * torch.randn(1, seen.shape[-1], generator=generator).double().expand(_PROBED, -1)
        still, once, twice = (precise._logits_moved(location, tokens, k * move) for k in (0, 1, 2))
        step = once - still
        scale = tolerance * float(step.abs().max() + still.abs().max())
        if float((step - step[:1]).abs().max()) > scale or float((twice - still - 2 * step).abs().max()) > scale:
            return None
        units = size * torch.eye(seen.shape[-1] + 1, seen.shape[-1], dtype=torch.float64)
        units = units.roll(1, dims=0)  # the first row moves nothing
        logits = precise._logits_moved(location, tokens[:1].expand(len(units), -1), units)
        return (logits[1:] - logits[0]) / size

    @cached_property
    def readout(self) -> Float[Tensor, "feature output"] | None:
        """Return the matrix from the last neurons, or from the last residual stream, to the logits.

        If a normalisation precedes the logits, the matrix is the mean gradient of the logits; None without a gradient.
        """
        hooks: Mapping[str, Location] = self.cfg.hooks
        last = f"blocks.{self.cfg.n_layers - 1}"
        for name in (f"{last}.mlp.hook_post", f"{last}.hook_resid_post"):
            if name in hooks:
                exact = self.affine_map(hooks[name])
                return mean_gradient(self, hooks[name]) if exact is None else exact
        return None

    @property
    def W_E(self) -> Float[Tensor, "d_vocab d_model"]:
        """The embedding of the tokens at the first position, recorded in forward passes.

        Raises:
            ValueError: the location of the embedding is unknown.
        """
        hooks: Mapping[str, Location] = self.cfg.hooks
        if "hook_embed" not in hooks:
            raise ValueError(f"the place of the embedding in {self.cfg.kind} is not known")
        first = self.inputs[:, 0].unique()
        tokens = self.inputs[torch.stack([(self.inputs[:, 0] == a).nonzero()[0, 0] for a in first])]
        return self.seen(hooks["hook_embed"], tokens)[:, 0]

    def _known_readout(self) -> Float[Tensor, "feature output"]:
        if self.readout is None:
            raise ValueError(f"no location of {self.cfg.kind} is known from which its logits are an affine map")
        return self.readout

    @property
    def W_L(self) -> Float[Tensor, "neuron output"]:
        """The matrix from the last neurons to the logits, found by changing the neurons.

        Raises:
            ValueError: the location of the neurons is unknown, or logits are not an affine map of the neurons.
        """
        return self._known_readout()

    @property
    def W_U(self) -> Float[Tensor, "d_model output"]:
        """The matrix from the last residual stream to the logits, found by changing the residual stream.

        Raises:
            ValueError: the location of the residual stream is unknown, or logits are not an affine map of it.
        """
        return self._known_readout()
