"""Define the common part of all hooked networks: config, named weights, and products of weights."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from modinterp.models.base_config import Weights
from modinterp.models.lens import ActivationCache, FactoredMatrix, HookedRootModule


class Component(nn.Module):
    """Base class of components, which hold their weights under HookedTransformer's names."""

    def __init__(self, prefix: str, weights: Weights):
        super().__init__()
        for name, tensor in weights.items():
            if name.startswith(prefix) and "." not in name[len(prefix) :]:
                setattr(self, name[len(prefix) :], nn.Parameter(tensor.clone()))


def returned(logits: Float[Tensor, "batch pos output"], return_type: str | None, labels: Tensor | None) -> Any:
    """Return logits, the loss at the last position [nats], both, or None, as `return_type` says; see
    `Transformer.forward`.

    Raises:
        ValueError: `return_type` is unknown, or a loss is requested without labels.
    """
    if return_type in ("logits", None):
        return logits if return_type else None
    if return_type not in ("loss", "both"):
        raise ValueError(f"return_type is 'logits', 'loss', 'both' or None, got {return_type!r}")
    if labels is None:
        raise ValueError("a loss needs the right answers: labels=task.answers()")
    loss = torch.nn.functional.cross_entropy(logits[:, -1], labels.to(logits.device))
    return loss if return_type == "loss" else (logits, loss)


class Network(HookedRootModule):
    """Base class of all networks of this package, with a config, named weights, and products of weights."""

    cfg: Any
    embed: Any
    pos_embed: Any
    blocks: Any
    unembed: Any

    def __init__(self, config: Any):
        super().__init__()
        self.cfg = config

    def run_with_cache(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ActivationCache]:
        """Return logits and all activations, with the arguments of `HookedRootModule.run_with_cache`."""
        logits, cache = super().run_with_cache(*args, **kwargs)
        return logits, ActivationCache(cache, self)

    def at_last_position(self, n: int = 1) -> AbstractContextManager[Network]:
        """Skip computations that the answers at the last n positions do not need, until the `with` statement ends.

        In the base class, `at_last_position` skips nothing.
        """
        return nullcontext(self)

    @property
    def device(self) -> torch.device:
        """The torch device of the network's weights."""
        return self.W_E.device

    def in_float64(self) -> Network:
        """Return a copy of the network that computes in float64."""
        return copy.deepcopy(self).double()

    @property
    def W_E(self) -> Float[Tensor, "d_vocab d_model"]:
        """The embedding matrix of the tokens."""
        return self.embed.W_E

    @property
    def W_U(self) -> Float[Tensor, "d_in output"]:
        """The unembedding matrix, which maps the last residual stream to logits; in a pair MLP it maps neurons to
        logits.
        """
        return self.unembed.W_U

    def _stacked(self, part: str, name: str) -> Tensor:
        """Return a weight of all layers, stacked along a new first axis.

        Raises:
            ValueError: the network does not have this weight.
        """
        if not all(hasattr(getattr(block, part, None), name) for block in self.blocks):
            raise ValueError(f"this network has no {name}: it is {self.cfg.summary}")
        return torch.stack([getattr(getattr(block, part), name) for block in self.blocks])

    @property
    def W_Q(self) -> Float[Tensor, "layer head d_model d_head"]:
        """Query weights W_Q of all heads."""
        return self._stacked("attn", "W_Q")

    @property
    def W_K(self) -> Float[Tensor, "layer head d_model d_head"]:
        """Key weights W_K of all heads."""
        return self._stacked("attn", "W_K")

    @property
    def W_V(self) -> Float[Tensor, "layer head d_model d_head"]:
        """Value weights W_V of all heads."""
        return self._stacked("attn", "W_V")

    @property
    def W_O(self) -> Float[Tensor, "layer head d_head d_model"]:
        """Output weights W_O of all heads."""
        return self._stacked("attn", "W_O")

    @property
    def QK(self) -> FactoredMatrix:
        """QK circuits W_Q W_K^T of all heads, `[layer, head, d_model, d_model]`."""
        return FactoredMatrix(self.W_Q, self.W_K.transpose(-2, -1))

    @property
    def OV(self) -> FactoredMatrix:
        """OV circuits W_V W_O of all heads, `[layer, head, d_model, d_model]`."""
        return FactoredMatrix(self.W_V, self.W_O)

    def set_use_attn_result(self, use: bool) -> None:
        """Choose whether each head's output passes through `hook_result`, as in HookedTransformer.

        Raises:
            ValueError: the network has no attention.
        """
        if not all(hasattr(block, "attn") for block in self.blocks):
            raise ValueError(f"this network has no heads: it is {self.cfg.summary}")
        for block in self.blocks:
            block.attn.use_result = use

    def to_tokens(self, text: str | Sequence[str]) -> Int[Tensor, "batch pos"]:
        """Turn written inputs such as `3 5 =` into tokens: a number is its own token, and = is the last token.

        Raises:
            ValueError: a word is neither a number nor =, or a number exceeds the vocabulary.
        """
        lines = [text] if isinstance(text, str) else list(text)
        last = self.cfg.d_vocab - 1
        tokens = [[last if word == "=" else self.to_single_token(word) for word in line.split()] for line in lines]
        if len({len(row) for row in tokens}) != 1 or max(max(row, default=last + 1) for row in tokens) > last:
            raise ValueError(
                f"each input must have the same count of numbers from 0 to {last}, such as '3 5 =', got {lines!r}"
            )
        return torch.tensor(tokens, device=self.device)

    @property
    def W_L(self) -> Float[Tensor, "neuron output"]:
        """The matrix from neurons to logits, W_out W_U of the last layer, without a gradient.

        Raises:
            ValueError: the network has no MLP.
        Source: Nanda et al. 2023, section 3, equation 3.
        """
        if not hasattr(self.blocks[-1], "mlp"):
            raise ValueError("a network without an MLP has no W_L: its W_U reads the residual stream")
        mlp = self.blocks[-1].mlp
        return (mlp.W_out @ self.W_U if hasattr(mlp, "W_out") else self.W_U).detach()

    def tokens_to_residual_directions(self, tokens: str | int | Tensor) -> Float[Tensor, "*batch d_model"]:
        """Return the columns of W_U for some answers; these directions raise the answers' logits, as
        `ActivationCache.logit_attrs` needs.

        Raises:
            ValueError: the network has no output for one of the answers.
        """
        answers = torch.as_tensor(self.to_single_token(tokens) if isinstance(tokens, str) else tokens)
        outputs = self.W_U.shape[1]
        if answers.is_floating_point() or bool(((answers < 0) | (answers >= outputs)).any()):
            raise ValueError(f"answers are numbers from 0 to {outputs - 1}, got {tokens!r}")
        return self.W_U.T[answers.to(self.W_U.device)]

    def to_single_token(self, word: str) -> int:
        """Return the token whose number is written in a string; `ActivationCache` calls this method.

        Raises:
            ValueError: the string is not a number.
        """
        if not word.strip().isdecimal():
            raise ValueError(f"answers are numbers from 0 to {self.W_U.shape[1] - 1}, got {word!r}")
        return int(word)

    def accumulated_bias(
        self, layer: int, mlp_input: bool = False, include_mlp_biases: bool = True
    ) -> Float[Tensor, " d_model"]:
        """Return the sum of the biases added to the residual stream before a layer; `ActivationCache` calls this
        method.

        Args:
            layer: index of the layer; the number of layers gives the sum of all biases.
            mlp_input: True to include the attention bias of the layer itself.
            include_mlp_biases: True to include the biases of the MLPs.
        """
        total = torch.zeros_like(self.W_E[0])
        for number, block in enumerate(self.blocks):
            if number < layer + mlp_input and hasattr(block, "attn"):
                total = total + getattr(block.attn, "b_O", 0)
            if number < layer and include_mlp_biases and hasattr(block, "mlp"):
                total = total + getattr(block.mlp, "b_out", 0)
        return total
