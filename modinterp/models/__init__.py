"""What learns: HookedRootModules with TransformerLens hook and weight names."""

from modinterp.models.bridge import to_bridge, to_hooked_transformer_state_dict
from modinterp.models.config import Config, MLPConfig, TransformerConfig, Weights
from modinterp.models.convert import fitting, from_state_dict, modular_task
from modinterp.models.forward import Affine, Drop, indexed, no_dropout, read_logits
from modinterp.models.initial import initial_weights, labelled_weights
from modinterp.models.mlp import PairMLP
from modinterp.models.network import hooked
from modinterp.models.transformer import Network, Transformer

__all__ = [
    "Affine",
    "Config",
    "Drop",
    "MLPConfig",
    "Network",
    "PairMLP",
    "Transformer",
    "TransformerConfig",
    "Weights",
    "fitting",
    "from_state_dict",
    "hooked",
    "indexed",
    "initial_weights",
    "labelled_weights",
    "modular_task",
    "no_dropout",
    "read_logits",
    "to_bridge",
    "to_hooked_transformer_state_dict",
]
