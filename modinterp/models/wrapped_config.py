"""Define the configuration of a user's network, with the sizes that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modinterp.models.base_config import BaseConfig
from modinterp.models.calling import Calling
from modinterp.models.locations import Location


@dataclass(frozen=True)
class WrappedConfig:
    """The configuration of a user's network, with the sizes that are known.

    Attributes:
        kind: name of the class of the user's module, or of the user's function.
        calling: input format of the network.
        hooks: map from our hook name to the location in the user's network, for all locations that were named or found.
    """

    d_vocab: int
    d_vocab_out: int
    n_ctx: int
    n_layers: int
    kind: str
    calling: Calling
    hooks: Mapping[str, Location]
    positional = False
    attn_biases = False
    n_heads = 0
    check = BaseConfig.check

    @property
    def summary(self) -> str:
        """A short description of the parts of the network that were found."""
        return f"{self.kind}, {len(self.hooks)} hook points" if self.hooks else f"{self.kind}, seen from outside"

    @property
    def found(self) -> str:
        """Describe where the parts of the network were found or named; empty for a black-box network."""
        return ", ".join(f"{name.removeprefix('blocks.')} at {location}" for name, location in self.hooks.items())

    @property
    def forward_pass(self) -> str:
        """A short text that says how the network is called."""
        return f"that of the module itself, called with {self.calling}, {self.calling.where_it_is_read}"
