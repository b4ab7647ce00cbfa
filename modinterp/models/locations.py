"""Name locations in a user's network, such as its embedding, attention and neurons, and replace activations there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from modinterp.models.attention_calls import attention_passing

# Hook points of TransformerLens that all our own networks have, under the same names.
_SHARED = re.compile(
    r"hook_embed|hook_pos_embed|blocks\.\d+\.(hook_resid_(pre|mid|post)|hook_attn_out|hook_mlp_out|"
    r"attn\.hook_(q|k|v|z|pattern|attn_scores)|mlp\.hook_(pre|post))"
)
# some of these names, to suggest
HOOKS = ("hook_embed", "blocks.0.attn.hook_pattern", "blocks.0.mlp.hook_post", "blocks.0.hook_resid_mid")
_ATTENTION = re.compile(r"attention (\d+)")


@dataclass(frozen=True)
class Location:
    """A location in a network: the output or the input of a module, or an attention pattern.

    Attributes:
        path: name of a hook point or module; `attention 0` is the first attention pattern of a forward pass.
        is_input: True for the input of the module, False for its output.
    """

    path: str
    is_input: bool = False

    @classmethod
    def of(cls, text: str) -> Location:
        """Parse the name of a location: `fc1` is the output of a module, and `fc2:input` is its input."""
        return cls(text.removesuffix(":input"), text.endswith(":input"))

    @property
    def attention(self) -> int | None:
        """The index of the attention pattern at this location, in the order of calls; None if the location is a
        module.
        """
        match = _ATTENTION.fullmatch(self.path)
        return None if match is None else int(match[1])

    def __str__(self) -> str:
        return self.path + ":input" * self.is_input


def part(network: nn.Module, path: str) -> nn.Module:
    """Return the hook point or module with a name in a network.

    Raises:
        ValueError: the network has no hook point or module of this name.
    """
    points: Mapping[str, nn.Module] = getattr(network, "hook_dict", {})
    if path in points:
        return points[path]
    try:
        return network.get_submodule(path)
    except AttributeError as error:
        some = [name for name in (*points, *(n for n, _ in network.named_modules())) if name][:12]
        raise ValueError(f"the network has no hook point or module {path!r}; there are {', '.join(some)}") from error


@contextmanager
def passing(
    network: nn.Module, through: Mapping[Location, Callable[[Tensor], Tensor]], batch: int = 1
) -> Iterator[None]:
    """Pass the activations at some locations through functions until the `with` statement ends.

    Args:
        batch: number of inputs in each call of the network.
    """

    def of_output(change: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
        return lambda module, args, output: (
            (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)
        )

    def of_input(change: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
        return lambda module, args: (change(args[0]), *args[1:])

    patterns = {number: change for place, change in through.items() if (number := place.attention) is not None}
    with ExitStack() as stack:
        if patterns:
            stack.enter_context(attention_passing(batch, patterns))
        for location, change in through.items():
            if location.attention is not None:
                continue
            module = part(network, location.path)
            if location.is_input:
                handle = module.register_forward_pre_hook(of_input(change))
            else:
                handle = module.register_forward_hook(of_output(change))
            stack.callback(handle.remove)
        yield


def is_hook(name: str) -> bool:
    """Return True if a name is a hook point of this library's networks."""
    return _SHARED.fullmatch(name) is not None


def shared_hooks(network: nn.Module) -> dict[str, Location]:
    """Map our hook names to hook points of the same names in a network of TransformerLens."""
    return {name: Location(name) for name in getattr(network, "hook_dict", {}) if _SHARED.fullmatch(name)}


def embeddings(network: nn.Module, p: int) -> list[Location]:
    """Return the embedding modules of a network that embed at least p tokens."""
    modules = network.named_modules()
    return [Location(name) for name, m in modules if isinstance(m, nn.Embedding) and m.num_embeddings >= p]
