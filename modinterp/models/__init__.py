"""Define networks as HookedRootModules with TransformerLens' names of hooks and weights."""

from modinterp.models.base_config import ACTIVATIONS, Weights
from modinterp.models.base_network import Network
from modinterp.models.bridge import to_bridge, to_hooked_transformer_state_dict
from modinterp.models.calling import FORMS, REFUSALS, Calling
from modinterp.models.config import Config, TransformerConfig
from modinterp.models.convert import ForwardPass, fitting, from_state_dict, modular_task, with_tokens_of
from modinterp.models.folding import folded
from modinterp.models.forward import Drop, indexed, no_dropout, read_logits
from modinterp.models.from_weights import hooked
from modinterp.models.initial import initial_weights, labelled_weights
from modinterp.models.locations import Location
from modinterp.models.mlp import PairMLP
from modinterp.models.mlp_config import MLPConfig
from modinterp.models.nonlinearity import neuron_inputs
from modinterp.models.outside import Outside
from modinterp.models.transformer import Transformer
from modinterp.models.wrapped import Wrapped, WrappedConfig

__all__ = [
    "ACTIVATIONS",
    "FORMS",
    "REFUSALS",
    "Calling",
    "Config",
    "Drop",
    "ForwardPass",
    "MLPConfig",
    "Network",
    "Outside",
    "PairMLP",
    "Location",
    "Transformer",
    "TransformerConfig",
    "Weights",
    "Wrapped",
    "WrappedConfig",
    "fitting",
    "folded",
    "from_state_dict",
    "hooked",
    "indexed",
    "initial_weights",
    "labelled_weights",
    "modular_task",
    "with_tokens_of",
    "neuron_inputs",
    "no_dropout",
    "read_logits",
    "to_bridge",
    "to_hooked_transformer_state_dict",
]
