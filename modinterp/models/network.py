"""From a configuration and weights to the network that they make."""

from __future__ import annotations

from modinterp.models.config import Config, MLPConfig, Weights
from modinterp.models.mlp import PairMLP
from modinterp.models.transformer import Network, Transformer


def hooked(config: Config, weights: Weights) -> Network:
    """The hooked network of a configuration, with a copy of the weights; in the mode of evaluation, having no other."""
    return (PairMLP(config, weights) if isinstance(config, MLPConfig) else Transformer(config, weights)).eval()
