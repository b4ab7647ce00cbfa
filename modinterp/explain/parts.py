"""Which parts of anybody's network are seen, and the matrix that its logits come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.explain.behaviour import Behaviour
from modinterp.models import Config, Network, Wrapped, indexed, initial_weights, read_logits

DRAWS_AT_START = 19


def readout_matrix(network: Network) -> Float[Tensor, "feature output"]:
    """W_L of a network, or its W_U where there are no neurons."""
    has_neurons = f"blocks.{network.cfg.n_layers - 1}.mlp.hook_post" in network.hook_dict
    return network.W_L if has_neurons else network.W_U.detach()


def without_means(logits: Float[Tensor, "a b output"]) -> Float[Tensor, "a b output"]:
    """Logits without the mean of each pair, which no softmax sees, and of each class, which a bias gives."""
    rows = logits - logits.mean(dim=-1, keepdim=True)
    return rows - rows.mean(dim=(0, 1))


class Parts(Behaviour):
    """What is known of the inside of a network, whatever its task."""

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return self.model.cfg.n_layers

    @property
    def has_embedding(self) -> bool:
        """Whether it is known where the embedding is."""
        return "hook_embed" in self.model.hook_dict

    @property
    def has_attention(self) -> bool:
        """Whether it is known where the last layer has attention."""
        return f"{self.last_block}.attn.hook_pattern" in self.model.hook_dict

    @property
    def has_neurons(self) -> bool:
        """Whether it is known where the last layer has neurons."""
        return f"{self.last_block}.mlp.hook_post" in self.model.hook_dict

    @cached_property
    def is_opaque(self) -> bool:
        """Whether no matrix is known that its logits come from, so that what they are made of is looked for in them.

        It is seen from outside alone, or its last neurons make less than half of the logits' variance, the mean of each
        pair and of each class left out, as where earlier layers do the work.
        """
        if isinstance(self.model, Wrapped) and self.model.readout is None:
            return True
        if not self.has_neurons:
            return False
        rest = self.logits - self.activation(f"{self.last_block}.mlp.hook_post").double() @ self._matrix
        whole, left = (without_means(x).square().sum() for x in (self.logits, rest))
        return bool(left > 0.5 * whole)

    @property
    def readout_name(self) -> str:
        """Name of the matrix that the logits come from: W_L, W_U without neurons, or the logits."""
        if self.is_opaque:
            return "the logits"
        return "W_L" if self.has_neurons else "W_U"

    @property
    def features_name(self) -> str:
        """What the readout matrix acts on, in words."""
        if self.is_opaque:
            return "the logits"
        return "neurons" if self.has_neurons else "the residual stream"

    @property
    def output_order(self) -> Int[Tensor, " output"] | slice:
        """The outputs in the order in which logits are looked at."""
        return slice(None)

    @cached_property
    def _readout(self) -> tuple[Float[Tensor, "a b feature"], Float[Tensor, "feature output"]]:
        """Features and the matrix that makes logits of them; of hidden ones an orthonormal basis of the logits."""
        if self.is_opaque:
            q, r = torch.linalg.qr(self.logits.flatten(0, 1).double())
            return q.unflatten(0, (self.p, self.p)), r
        name = "mlp.hook_post" if self.has_neurons else "hook_resid_post"
        return self.activation(f"{self.last_block}.{name}").double(), self._matrix  # of a module that casts, too

    @property
    def _matrix(self) -> Float[Tensor, "feature output"]:
        return readout_matrix(self.model).double()[:, self.output_order]

    @property
    def readout_matrix(self) -> Float[Tensor, "feature output"]:
        """The matrix that the logits come from, in float64: W_L, or W_U in a network of attention alone."""
        return self._readout[1]

    @property
    def features(self) -> Float[Tensor, "a b feature"]:
        """What the readout matrix acts on: neurons of the last layer, or the residual stream where there are none."""
        return self._readout[0]

    @property
    def config(self) -> Config | None:
        """Configuration from which networks of this shape can be drawn; None for a network of another make."""
        return None if isinstance(self.model, Wrapped) else self.model.cfg

    def logits_at_start(self) -> Iterator[Float[Tensor, "a b output"]] | None:
        """Logits of untrained networks, made one after the other; None for a network of another make.

        They are by the forward pass of training, which is several times as fast as the hooked one.
        """
        if self.config is None:
            return None
        config, inputs = self.config, self.task.inputs()
        index = indexed(config, inputs, inputs[:, -1].unique())

        def drawn(seed: int) -> Tensor:
            return read_logits(config, initial_weights(config, seed), index)[:, -1].unflatten(0, self.task.grid)

        return map(torch.no_grad()(drawn), range(DRAWS_AT_START))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: hundreds of small matrices are ten times as slow on two, on a busy CPU."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
