"""Build a hooked network from a configuration and weights."""

from __future__ import annotations

from modinterp.models.base_config import Weights
from modinterp.models.base_network import Network
from modinterp.models.config import Config
from modinterp.models.initial import labelled_weights
from modinterp.models.mlp import PairMLP
from modinterp.models.mlp_config import MLPConfig
from modinterp.models.transformer import Transformer


def hooked(config: Config, weights: Weights) -> Network:
    """Return the hooked network of a configuration, with a copy of the weights, in evaluation mode.

    The hooked network has only outputs that are the answer to some input. If the configuration has unlabelled outputs,
    the network's `cfg` is `config.labelled()`.

    Args:
        weights: named weights with the shapes of `config.shapes()`, or of `config.labelled().shapes()`.
    """
    labelled, weights = config.labelled(), labelled_weights(config, weights)
    network = PairMLP(labelled, weights) if isinstance(labelled, MLPConfig) else Transformer(labelled, weights)
    return network.eval()
