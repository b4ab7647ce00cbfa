"""Treat a user's module or function on sequences as a black box from tokens to logits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from modinterp.models.base_config import BaseConfig
from modinterp.models.base_network import Network
from modinterp.models.calling import REFUSALS
from modinterp.tasks import Task


@dataclass(frozen=True)
class OutsideConfig:
    """The configuration of a black-box network, of which only inputs and outputs are known.

    Attributes:
        kind: name of the user's class or function.
    """

    d_vocab: int
    d_vocab_out: int
    n_ctx: int
    kind: str
    n_layers = 0
    n_heads = 0
    attn_only = False
    check = BaseConfig.check

    @property
    def summary(self) -> str:
        """A short description of the network."""
        return f"{self.kind}, seen from outside"

    @property
    def forward_pass(self) -> str:
        """A short description of the network's input format."""
        return "that of the module itself, called with tokens"


class Outside(Network):
    """A user's module or function from tokens `[batch, pos]` to logits at all positions or at the last position.

    Args:
        network: module or function that returns logits `[batch, pos, output]`, or `[batch, output]` for the last
            position. The network may return its logits as the first entry of a tuple, or as the attribute `.logits`. A
            network that is a torch module is set to evaluation mode.
        task: the task of the network; outputs beyond the task's classes are dropped.
    Raises:
        ValueError: the network does not accept the tokens, or returns no logits at the positions of the answers.
    """

    def __init__(self, network: Callable[..., Any], task: Task):
        kind = getattr(network, "__name__", type(network).__name__)
        super().__init__(OutsideConfig(task.d_vocab, sum(task.output_sizes), task.n_ctx, kind))
        self.__dict__["inner"], self.__dict__["n_read"] = network, task.n_read
        if isinstance(network, nn.Module):
            network.eval()
        self.blocks = nn.ModuleList()
        try:
            with torch.no_grad():
                self(task.fresh(2, 0).inputs)
        except REFUSALS as error:
            if isinstance(error, ValueError) and str(error).startswith(kind):
                raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ValueError(f"{kind} does not accept {task.n_ctx} tokens below {task.d_vocab}: {reason}") from error

    @property
    def device(self) -> torch.device:
        """The torch device of the network's parameters."""
        inner = self.__dict__["inner"]
        parameters = inner.parameters() if isinstance(inner, nn.Module) else iter(())
        return next(parameters, torch.empty(0)).device

    def in_float64(self) -> Outside:
        """Return the black-box network unchanged; it always computes in its own dtype."""
        return self

    def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch read output"]:
        """Return the logits of the task's classes at all positions, or only at the last position if the task is read
        there.
        """
        c: OutsideConfig = self.cfg
        found = self.__dict__["inner"](tokens)
        found = found[0] if isinstance(found, tuple | list) else getattr(found, "logits", found)
        found = torch.as_tensor(found)
        found = found.unsqueeze(1) if found.ndim == 2 else found
        read, shape = self.__dict__["n_read"], list(found.shape)
        if found.ndim != 3 or len(found) != len(tokens) or shape[2] < c.d_vocab_out or shape[1] < read:
            wanted = f"[{len(tokens)}, {c.n_ctx if read > 1 else 1}, {c.d_vocab_out}]"
            raise ValueError(f"{c.kind} gives logits of shape {shape} for {len(tokens)} inputs, not {wanted}")
        return found[..., : c.d_vocab_out]
