"""A one-layer network as look-ups: what every token at every position asks for, offers, and hands on when attended to.

In one layer these depend on token and position alone, so a few tables hold all that attention can do. The answer at a
position whose own token is fixed, such as CLS, needs less still: a score and a contribution of every token (`Reading`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.shown import shown
from modinterp.models import Network, TransformerConfig
from modinterp.models.config import ACTIVATIONS


@shown
@dataclass(frozen=True, eq=False)
class Head:
    """From the residual stream after attention to the logits: the MLP, if there is one, and the unembedding.

    Attributes:
        W_U: [d_model, output]; b_U [output].
        W_in, b_in, W_out, b_out: of the MLP; without neurons where there is none.
        act_fn: a key of `ACTIVATIONS`.
    """

    W_in: Float[Tensor, "d_model neuron"]
    b_in: Float[Tensor, " neuron"]
    W_out: Float[Tensor, "neuron d_model"]
    b_out: Float[Tensor, " d_model"]
    W_U: Float[Tensor, "d_model output"]
    b_U: Float[Tensor, " output"]
    act_fn: str

    def pre(self, resid: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch neuron"]:
        """Neurons before their nonlinearity."""
        return resid @ self.W_in + self.b_in

    def logits(self, resid: Float[Tensor, "*batch d_model"], mlp: bool = True) -> Float[Tensor, "*batch output"]:
        """Logits of residual streams after attention, with the MLP or with its skip alone."""
        if mlp:
            resid = resid + ACTIVATIONS[self.act_fn](self.pre(resid)) @ self.W_out + self.b_out
        return resid @ self.W_U + self.b_U


@shown
@dataclass(frozen=True, eq=False)
class Reading:
    """The answer at one position whose own token is fixed.

    Attributes:
        scores: of every token at every position up to this one, over sqrt(d_head). [nats]
        written: what each head adds to the residual stream here when it attends to that token alone.
        start: the residual stream here without attention.
        own: the token here.
    """

    scores: Float[Tensor, "pos token head"]
    written: Float[Tensor, "pos token head d_model"]
    start: Float[Tensor, " d_model"]
    own: int
    head: Head

    def _gathered(self, table: Tensor, tokens: Int[Tensor, "input token"]) -> Tensor:
        return table[torch.arange(len(table)), tokens[:, : len(table)]]

    def pattern(self, tokens: Int[Tensor, "input token"]) -> Float[Tensor, "input head pos"]:
        """Attention from here to every position up to here."""
        return self._gathered(self.scores, tokens).softmax(dim=1).transpose(1, 2)

    def resid(
        self, tokens: Int[Tensor, "input token"], pattern: Float[Tensor, "input head pos"] | None = None
    ) -> Float[Tensor, "input d_model"]:
        """Residual stream here after attention, by the network's pattern or another one."""
        pattern = self.pattern(tokens) if pattern is None else pattern
        return self.start + torch.einsum("bhp,bphm->bm", pattern, self._gathered(self.written, tokens))

    def logits(
        self, tokens: Int[Tensor, "input token"], pattern: Tensor | None = None
    ) -> Float[Tensor, "input output"]:
        """Logits here. What stands after this position is not looked at."""
        return self.head.logits(self.resid(tokens, pattern))

    def scored_by(self, scores: Float[Tensor, "pos token head"]) -> Reading:
        """The same with other scores."""
        return replace(self, scores=scores)

    def mirrored(self) -> Reading:
        """The same with every number x renamed to the largest there is less x, so that the smallest is the largest."""
        limit = self.head.W_U.shape[1]
        names = torch.cat([torch.arange(limit).flip(0), torch.arange(limit, self.scores.shape[1])])
        head = replace(self.head, W_U=self.head.W_U.flip(1), b_U=self.head.b_U.flip(0))
        return replace(self, scores=self.scores[:, names], written=self.written[:, names], head=head)

    def copies(self, n: int) -> Float[Tensor, "token d_model"]:
        """What all heads together add when they attend to one token alone, its position averaged over the first n."""
        return self.written[:n].mean(dim=0).sum(dim=1)


@shown
@dataclass(frozen=True, eq=False)
class Lookups:
    """Tables of a one-layer network, in float64.

    Attributes:
        resid: the residual stream before attention.
        queries, keys: of each head; scores are their product over sqrt(d_head).
        written: what each head adds to the residual stream of whoever attends to the token alone, W_V W_O of it.
        b_O: added by attention whatever it attends to.
    """

    resid: Float[Tensor, "pos token d_model"]
    queries: Float[Tensor, "pos token head d_head"]
    keys: Float[Tensor, "pos token head d_head"]
    written: Float[Tensor, "pos token head d_model"]
    b_O: Float[Tensor, " d_model"]
    head: Head

    @property
    def scale(self) -> float:
        """sqrt(d_head), by which scores are divided."""
        return math.sqrt(self.keys.shape[-1])

    def reading(self, pos: int, token: int) -> Reading:
        """How the answer at a position comes about when a token stands there."""
        scores = torch.einsum("hd,pthd->pth", self.queries[pos, token], self.keys[: pos + 1]) / self.scale
        return Reading(scores, self.written[: pos + 1], self.resid[pos, token] + self.b_O, token, self.head)

    @cached_property
    def number_scores(self) -> Float[Tensor, "head query key"]:
        """W_E W_Q W_K^T W_E^T / sqrt(d_head): the score of every token with every token, positions averaged. [nats]"""
        queries, keys = self.queries.mean(dim=0), self.keys.mean(dim=0)
        return torch.einsum("qhd,khd->hqk", queries, keys) / self.scale


def _weight(weights: Mapping[str, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    found = weights.get(name)
    return torch.zeros(shape, dtype=torch.float64) if found is None else found


def lookups(network: Network) -> Lookups:
    """The tables of a one-layer transformer, biases and positions included where it has them.

    Raises:
        ValueError: the network is no transformer, or has more than one layer.
    """
    c = network.cfg
    if not isinstance(c, TransformerConfig) or c.n_layers != 1:
        raise ValueError(f"look-ups are those of a transformer of one layer, got {c.summary}")
    w = {name: x.detach().double().cpu() for name, x in network.state_dict().items()}
    resid = w["embed.W_E"] + _weight(w, "pos_embed.W_pos", (c.n_ctx, c.d_model))[: c.n_ctx, None]

    def projected(letter: str) -> Tensor:
        x = torch.einsum("ptm,hmd->pthd", resid, w[f"blocks.0.attn.W_{letter}"])
        return x + _weight(w, f"blocks.0.attn.b_{letter}", (c.n_heads, c.d_head))

    written = torch.einsum("pthd,hdm->pthm", projected("V"), w["blocks.0.attn.W_O"])
    neurons, mlp = c.d_mlp or 0, "blocks.0.mlp."
    head = Head(
        _weight(w, f"{mlp}W_in", (c.d_model, neurons)), _weight(w, f"{mlp}b_in", (neurons,)),
        _weight(w, f"{mlp}W_out", (neurons, c.d_model)), _weight(w, f"{mlp}b_out", (c.d_model,)),
        w["unembed.W_U"], _weight(w, "unembed.b_U", (c.d_vocab_out,)), c.act_fn,
    )  # fmt: skip
    b_O = _weight(w, "blocks.0.attn.b_O", (c.d_model,))
    return Lookups(resid, projected("Q"), projected("K"), written, b_O, head)
