"""Define networks that `huggingface_hub` reads and writes: `HubTransformer.from_pretrained("OWNER/REPO")`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from huggingface_hub import PyTorchModelHubMixin

from modinterp.models import Config, MLPConfig, Network, PairMLP, Transformer, TransformerConfig

LIBRARY, KIND = "modinterp", "kind"


def configuration(config: Config) -> dict[str, Any]:
    """Return the content of `config.json`: the configuration of a network, and the class that reads it."""
    labelled = config.labelled()
    return {KIND: "HubPairMLP" if isinstance(labelled, MLPConfig) else "HubTransformer", **asdict(labelled)}


def _zeros(config: Config) -> dict[str, torch.Tensor]:
    return {name: torch.zeros(shape) for name, shape in config.shapes().items()}


class HubTransformer(PyTorchModelHubMixin, Transformer, library_name=LIBRARY):
    """A `Transformer` built from the fields of its configuration; its weights are zeros until weights are loaded."""

    def __init__(self, kind: str = "HubTransformer", **sizes: Any):
        config = TransformerConfig(**sizes)
        Transformer.__init__(self, config, _zeros(config))


class HubPairMLP(PyTorchModelHubMixin, PairMLP, library_name=LIBRARY):
    """A `PairMLP` built from the fields of its configuration; its weights are zeros until weights are loaded."""

    def __init__(self, kind: str = "HubPairMLP", **sizes: Any):
        config = MLPConfig(**sizes)
        PairMLP.__init__(self, config, _zeros(config))


def hub_class(network: Network) -> type[HubTransformer] | type[HubPairMLP]:
    """Return the class that reads a network from the Hub."""
    return HubPairMLP if isinstance(network, PairMLP) else HubTransformer
