"""A network over pairs in the order of the cyclic group that its task is, and the matrix that its logits come from."""

from __future__ import annotations

from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import ablations
from modinterp.analyses.fourier.transforms import sums
from modinterp.explanations.behaviour import Behaviour, Score
from modinterp.measurements import PairMeasurements
from modinterp.models import Network, Wrapped
from modinterp.runs import TrainedRun
from modinterp.tasks import cyclic


def readout_matrix(network: Network) -> Float[Tensor, "feature output"]:
    """W_L of a network, or its W_U where there are no neurons."""
    has_neurons = f"blocks.{network.cfg.n_layers - 1}.mlp.hook_post" in network.hook_dict
    return network.W_L if has_neurons else network.W_U.detach()


def without_means(logits: Float[Tensor, "a b output"]) -> Float[Tensor, "a b output"]:
    """Logits without the mean of each pair, which no softmax sees, and of each class, which a bias gives."""
    rows = logits - logits.mean(dim=-1, keepdim=True)
    return rows - rows.mean(dim=(0, 1))


class CyclicMeasurements(Behaviour, PairMeasurements):
    """A network whose task is addition or subtraction, perhaps under other names, in the order of the cyclic group.

    Waves are those of the cyclic group: numbers stand in its order, and pairs of others take no part. Of a network that
    is seen from outside alone the logits themselves are what the frequencies are looked for in.

    Args:
        run: of a task for which there is a `Cyclic`.
    Raises:
        ValueError: the task is addition under no names.
    """

    def __init__(self, run: TrainedRun):
        found = cyclic(run.task)
        if found is None:
            raise ValueError(f"{run.name} learned {run.task.name}, which is addition mod n under no names")
        super().__init__(run)
        self.cyclic = found

    @property
    def sign(self) -> int:
        """1 for a + b, -1 for a - b."""
        return self.cyclic.sign

    @property
    def p(self) -> int:
        """Order of the cyclic group; for a + b and a - b, the modulus."""
        return self.cyclic.n

    @cached_property
    def labels(self) -> Int[Tensor, "input output"]:
        """The right answers to the pairs of the cyclic group, in its order."""
        return sums(self.p, self.sign).reshape(-1, 1)

    @cached_property
    def _renamed(self) -> dict[str, Tensor]:
        return {}

    def activation(self, name: str) -> Tensor:
        """An activation at the last position over the pairs of the cyclic group, in its order, by the hook's name.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        activation = super().activation(name)
        if not self.cyclic.is_renamed:
            return activation
        if name not in self._renamed:
            order = self.cyclic.order.to(activation.device)
            activation = activation[order][:, order]
            self._renamed[name] = activation[..., order] if name == "logits" else activation
        return self._renamed[name]

    @property
    def operation(self) -> str:
        """What the answer is a wave of: such as `a + b`, or places i and j in the cyclic group."""
        return super().operation if not self.cyclic.is_renamed else f"i {'+' if self.sign > 0 else '-'} j"

    @property
    def W_E(self) -> Float[Tensor, "a d_model"]:
        """Embedding of the first numbers in the order of the cyclic group, detached from the graph of gradients."""
        return self.model.W_E[self.cyclic.order.to(self.model.device)].detach()

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
        """Whether no matrix is known that its logits come from, so that frequencies are looked for in the logits.

        It is seen from outside alone, or its last neurons make less than half of the logits' variance, the mean of each
        pair and of each class left out, as where earlier layers do the work.
        """
        if isinstance(self.model, Wrapped) and self.model.readout is None:
            return True
        if not self.has_neurons:
            return False
        rest = self.logits - self.post @ self._matrix
        whole, left = (without_means(x).square().sum() for x in (self.logits, rest))
        return bool(left > 0.5 * whole)

    def _rows(self, rows: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
        """Rows of the task's inputs as rows of the pairs of the cyclic group, those that are none of them left out."""
        if not self.cyclic.is_renamed:
            return rows
        order, size = self.cyclic.order, self.task.grid[1]
        place = torch.full((size * size,), -1)
        place[(order[:, None] * size + order).flatten()] = torch.arange(self.p**2)
        return place[rows][place[rows] >= 0]

    def score(self, logits: Float[Tensor, "a b output"], rows: Int[Tensor, " row"] | None = None) -> Score:
        """Accuracy and loss of some logits over the pairs of the cyclic group, or some rows of the task's inputs."""
        some = None if rows is None else self._rows(rows)
        return Score(ablations.accuracy_on(logits, self.labels, some), ablations.loss_on(logits, self.labels, some))

    @property
    def readout_name(self) -> str:
        """Name of the matrix that the logits come from: W_L, W_U without neurons, or the logits."""
        if self.is_opaque:
            return "the logits"
        return "W_L" if self.has_neurons else "W_U"

    @cached_property
    def _readout(self) -> tuple[Float[Tensor, "a b feature"], Float[Tensor, "feature output"]]:
        """Features and the matrix that makes logits of them; of hidden ones an orthonormal basis of the logits."""
        if self.is_opaque:
            q, r = torch.linalg.qr(self.logits.flatten(0, 1).double())
            return q.unflatten(0, (self.p, self.p)), r
        return (self.post if self.has_neurons else self.activation(f"{self.last_block}.hook_resid_post")), self._matrix

    @property
    def _matrix(self) -> Float[Tensor, "feature output"]:
        return readout_matrix(self.model).double()[:, self.cyclic.order.to(self.model.device)]

    @property
    def readout_matrix(self) -> Float[Tensor, "feature output"]:
        """The matrix that the logits come from, in float64: W_L, or W_U in a network of attention alone."""
        return self._readout[1]

    @property
    def features_name(self) -> str:
        """What the readout matrix acts on, in words."""
        if self.is_opaque:
            return "the logits"
        return "neurons" if self.has_neurons else "the residual stream"

    @property
    def features(self) -> Float[Tensor, "a b feature"]:
        """What the readout matrix acts on: neurons of the last layer, or the residual stream where there are none."""
        return self._readout[0]
