"""Ablate the edges of a one-layer transformer, and score methods that look for the important edges.

Nodes are `embed` (token and position), the heads `a0.h0`, `a0.h1`, ..., the MLP `m0` and `logits`; an edge carries the
output of one node into the input of another. Ablating an edge gives its reader, at each position, the mean of the
writer's output over all inputs. Every other reader gets the usual input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from modinterp.models import Network, TransformerConfig
from modinterp.tasks import Task

EMBED, MLP, LOGITS = "embed", "m0", "logits"
Edge = tuple[str, str]  # from, to


def edges(network: Network) -> tuple[Edge, ...]:
    """Return all edges of a network, in the order of its forward pass.

    Raises:
        ValueError: the network is not a transformer of one layer with an MLP.
    """
    c = network.cfg
    if not isinstance(c, TransformerConfig) or c.n_layers != 1 or c.d_mlp is None:
        raise ValueError(f"edges are defined for a transformer of one layer with an MLP, got {c.summary}")
    heads = [f"a0.h{head}" for head in range(c.n_heads)]
    into_mlp = [(node, MLP) for node in (EMBED, *heads)]
    return tuple([(EMBED, head) for head in heads] + into_mlp + [(node, LOGITS) for node in (EMBED, *heads, MLP)])


class Graph:
    """A network on all inputs of its task, in which each edge can be replaced."""

    def __init__(self, network: Network, task: Task):
        self.network, self.labels, self.edges = network, task.labels()[:, 0], edges(network)
        with torch.no_grad():
            _, cache = network.run_with_cache(task.inputs())
            pos = cache["hook_pos_embed"] if network.cfg.positional else 0
            self.written = {EMBED: cache["hook_embed"] + pos} | self._heads(cache["blocks.0.attn.hook_z"])
            self.written[MLP] = cache["blocks.0.hook_mlp_out"]
        self.changes = {(a, b): self.written[a].mean(dim=0, keepdim=True) - self.written[a] for a, b in self.edges}

    def _heads(self, z: Tensor) -> dict[str, Tensor]:
        """Return the output of each head, `[input, pos, d_model]`; the first head includes the attention's bias."""
        attn = self.network.blocks[0].attn
        written = torch.einsum("bphd,hdm->hbpm", z, attn.W_O)
        bias = getattr(attn, "b_O", torch.zeros(()))
        return {f"a0.h{head}": out + bias * (head == 0) for head, out in enumerate(written)}

    def logits(self, changes: Mapping[Edge, Tensor]) -> Tensor:
        """Return the logits at the last position after adding the given changes to the values that some edges carry."""
        written = dict(self.written)

        def read(node: str, reader: str) -> Tensor:
            return written[node] + changes[node, reader] if (node, reader) in changes else written[node]

        heads = [node for node in written if node.startswith("a0.")]
        written |= {head: self._head(head, read(EMBED, head)) for head in heads if (EMBED, head) in changes}
        written[MLP] = self.network.blocks[0].mlp(torch.stack([read(node, MLP) for node in (EMBED, *heads)]).sum(dim=0))
        resid = torch.stack([read(node, LOGITS) for node in (EMBED, *heads, MLP)]).sum(dim=0)
        logits = resid[:, -1] @ self.network.W_U
        return logits + self.network.unembed.b_U if self.network.cfg.unembed_bias else logits

    def _head(self, head: str, read: Tensor) -> Tensor:
        """Return the output of a head for another input."""
        kept: list[Tensor] = []
        with self.network.hooks(fwd_hooks=[("blocks.0.attn.hook_z", lambda z, hook: kept.append(z))]):
            self.network.blocks[0].attn(read, read)
        return self._heads(kept[0])[head]

    def loss(self, logits: Tensor) -> Tensor:
        """Return the mean cross-entropy over all inputs [nats]."""
        return F.cross_entropy(logits.double(), self.labels)

    def effects(self) -> dict[Edge, float]:
        """Return the exact rise of the loss [nats] when each edge is ablated, with one forward pass per edge."""
        with torch.no_grad():
            whole = self.loss(self.logits({}))
            return {e: float(self.loss(self.logits({e: self.changes[e]})) - whole) for e in self.edges}

    def attributions(self) -> dict[Edge, float]:
        """Estimate `effects` to first order from one backward pass: attribution patching (Nanda 2023; Syed et al.
        2023).
        """
        nothing = {edge: torch.zeros_like(change).requires_grad_() for edge, change in self.changes.items()}
        gradients = torch.autograd.grad(self.loss(self.logits(nothing)), list(nothing.values()))
        return {edge: float((self.changes[edge] * g).sum()) for edge, g in zip(self.edges, gradients, strict=True)}


def auc(scores: Mapping[Edge, float], known: Sequence[Edge]) -> float:
    """Return the area under the ROC curve (AUC) of scores for finding the edges that matter.

    The AUC is the share of pairs of an important and an unimportant edge in which the important edge scores higher;
    ties count half. The AUC is NaN if all edges are important, or if none is.

    Args:
        scores: score of every edge; a larger score means that the edge matters more.
        known: the edges that matter.
    """
    inside, outside = ([s for e, s in scores.items() if (e in known) == wanted] for wanted in (True, False))
    wins = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
    return sum(wins) / len(wins) if wins else float("nan")
