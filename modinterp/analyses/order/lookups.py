"""Represent a one-layer transformer by look-up tables: query, key and OV output of every token at every position.

In one layer, scores and OV outputs depend only on token and position, so a few tables determine the attention. A query
position with a fixed token, such as CLS, only needs the score and the OV output of every token (`QueryPosition`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable
from modinterp.models import Network, TransformerConfig
from modinterp.models.base_config import ACTIVATIONS


@printable
@dataclass(frozen=True, eq=False)
class LogitMap:
    """The map from the residual stream after attention to the logits: the MLP, if there is one, and the unembedding.

    Attributes:
        W_in, b_in, W_out, b_out: weights of the MLP; with 0 neurons if the network has no MLP.
        W_U, b_U: weights of the unembedding.
        act_fn: activation function, a key of `modinterp.models.config.ACTIVATIONS`.
    """

    W_in: Float[Tensor, "d_model neuron"]
    b_in: Float[Tensor, " neuron"]
    W_out: Float[Tensor, "neuron d_model"]
    b_out: Float[Tensor, " d_model"]
    W_U: Float[Tensor, "d_model output"]
    b_U: Float[Tensor, " output"]
    act_fn: str

    def pre(self, resid: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch neuron"]:
        """Pre-activations of the neurons for residual streams after attention."""
        return resid @ self.W_in + self.b_in

    def logits(self, resid: Float[Tensor, "*batch d_model"], mlp: bool = True) -> Float[Tensor, "*batch output"]:
        """Return logits for residual streams after attention, with the MLP or, for `mlp=False`, only with its skip."""
        if mlp:
            resid = resid + ACTIVATIONS[self.act_fn](self.pre(resid)) @ self.W_out + self.b_out
        return resid @ self.W_U + self.b_U

    def logits_between(
        self, one: Float[Tensor, "pair d_model"], other: Float[Tensor, "pair d_model"], shares: Iterable[float]
    ) -> Iterator[Float[Tensor, "pair output"]]:
        """Return the logits of the mixture `(1 - e) * one + e * other` for every share e. The linear part is computed
        only at both ends.

        Args:
            one, other: residual streams after attention.
            shares: values of e, from 0 (the residual stream is `one`) to 1 (the residual stream is `other`).
        """
        act, W_L, bias = ACTIVATIONS[self.act_fn], self.W_out @ self.W_U, self.b_out @ self.W_U + self.b_U
        pre, skip = (self.pre(one), self.pre(other)), (one @ self.W_U + bias, other @ self.W_U + bias)
        for e in shares:
            yield torch.lerp(*skip, e).addmm(act(torch.lerp(*pre, e)), W_L)


@printable
@dataclass(frozen=True, eq=False)
class QueryPosition:
    """Everything that determines the logits at one query position with a fixed token.

    Attributes:
        scores: attention score of every token at every position up to the query position, divided by sqrt(d_head).
            [nats]
        ov: output of each head to the residual stream of the query position if it attends only to one token.
        start: the residual stream of the query position without attention.
        token: the token at the query position.
        logit_map: the MLP and the unembedding.
    """

    scores: Float[Tensor, "pos token head"]
    ov: Float[Tensor, "pos token head d_model"]
    start: Float[Tensor, " d_model"]
    token: int
    logit_map: LogitMap

    def _gathered(self, table: Tensor, tokens: Int[Tensor, "input token"]) -> Tensor:
        return table[torch.arange(len(table)), tokens[:, : len(table)]]

    def pattern(self, tokens: Int[Tensor, "input token"]) -> Float[Tensor, "input head pos"]:
        """Attention from the query position to every position up to it.

        Args:
            tokens: input tokens; tokens after the query position do not matter.
        """
        return self._gathered(self.scores, tokens).softmax(dim=1).transpose(1, 2)

    def resid(
        self, tokens: Int[Tensor, "input token"], pattern: Float[Tensor, "input head pos"] | None = None
    ) -> Float[Tensor, "input d_model"]:
        """Residual stream of the query position after attention.

        Args:
            pattern: attention from the query position; the network's own by default.
        """
        pattern = self.pattern(tokens) if pattern is None else pattern
        return self.start + torch.einsum("bhp,bphm->bm", pattern, self._gathered(self.ov, tokens))

    def logits(
        self, tokens: Int[Tensor, "input token"], pattern: Tensor | None = None
    ) -> Float[Tensor, "input output"]:
        """Return the logits of the query position, with the network's own attention pattern or with a given one.
        [logits]
        """
        return self.logit_map.logits(self.resid(tokens, pattern))

    def with_scores(self, scores: Float[Tensor, "pos token head"]) -> QueryPosition:
        """Return a copy of the query position with other attention scores. [nats]"""
        return replace(self, scores=scores)

    def mirror_image(self) -> QueryPosition:
        """Return a copy in which every number x is relabelled limit - 1 - x, so that the smallest number becomes the
        largest.
        """
        limit = self.logit_map.W_U.shape[1]
        names = torch.cat([torch.arange(limit).flip(0), torch.arange(limit, self.scores.shape[1])])
        logit_map = replace(self.logit_map, W_U=self.logit_map.W_U.flip(1), b_U=self.logit_map.b_U.flip(0))
        return replace(self, scores=self.scores[:, names], ov=self.ov[:, names], logit_map=logit_map)

    def copies(self, n: int) -> Float[Tensor, "token d_model"]:
        """Return the summed output of all heads when they attend to only one token, averaged over the first n
        positions.
        """
        return self.ov[:n].mean(dim=0).sum(dim=1)


@printable
@dataclass(frozen=True, eq=False)
class Lookups:
    """Look-up tables of a one-layer transformer, in float64.

    Attributes:
        resid: the residual stream before attention: token and positional embedding.
        queries, keys: query and key of each head; attention scores are their product divided by sqrt(d_head).
        ov: OV output of each head, added to the residual stream of a position that attends only to the token.
        b_O: bias that attention adds regardless of its pattern.
        logit_map: the MLP and the unembedding.
    """

    resid: Float[Tensor, "pos token d_model"]
    queries: Float[Tensor, "pos token head d_head"]
    keys: Float[Tensor, "pos token head d_head"]
    ov: Float[Tensor, "pos token head d_model"]
    b_O: Float[Tensor, " d_model"]
    logit_map: LogitMap

    @property
    def scale(self) -> float:
        """The square root of d_head, by which attention scores are divided."""
        return math.sqrt(self.keys.shape[-1])

    def query_position(self, pos: int, token: int) -> QueryPosition:
        """Return everything that determines the logits at a position that holds a given token."""
        scores = torch.einsum("hd,pthd->pth", self.queries[pos, token], self.keys[: pos + 1]) / self.scale
        start = self.resid[pos, token] + self.b_O
        return QueryPosition(scores, self.ov[: pos + 1], start, token, self.logit_map)

    @cached_property
    def number_scores(self) -> Float[Tensor, "head query key"]:
        """Return the full QK circuit: the attention score of every query token with every key token, averaged over
        positions. [nats]

        Without positions and biases, the score is W_E W_Q W_K^T W_E^T / sqrt(d_head).
        """
        queries, keys = self.queries.mean(dim=0), self.keys.mean(dim=0)
        return torch.einsum("qhd,khd->hqk", queries, keys) / self.scale


def _weight(weights: Mapping[str, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    """Return a weight by its name, or zeros if the network has no weight of this name."""
    weight = weights.get(name)
    return torch.zeros(shape, dtype=torch.float64) if weight is None else weight


@checked
def lookups(network: Network) -> Lookups:
    """Return look-up tables of a one-layer transformer, with its biases and positions.

    Raises:
        ValueError: the network is not a transformer, or has more than one layer.
    """
    c = network.cfg
    if not isinstance(c, TransformerConfig) or c.n_layers != 1:
        raise ValueError(f"look-up tables need a transformer of one layer, got {c.summary}")
    w = {name: x.detach().double().cpu() for name, x in network.state_dict().items()}
    resid = w["embed.W_E"] + _weight(w, "pos_embed.W_pos", (c.n_ctx, c.d_model))[: c.n_ctx, None]

    def projected(letter: str) -> Tensor:
        x = torch.einsum("ptm,hmd->pthd", resid, w[f"blocks.0.attn.W_{letter}"])
        return x + _weight(w, f"blocks.0.attn.b_{letter}", (c.n_heads, c.d_head))

    ov = torch.einsum("pthd,hdm->pthm", projected("V"), w["blocks.0.attn.W_O"])
    neurons, mlp = c.d_mlp or 0, "blocks.0.mlp."
    logit_map = LogitMap(
        W_in=_weight(w, f"{mlp}W_in", (c.d_model, neurons)),
        b_in=_weight(w, f"{mlp}b_in", (neurons,)),
        W_out=_weight(w, f"{mlp}W_out", (neurons, c.d_model)),
        b_out=_weight(w, f"{mlp}b_out", (c.d_model,)),
        W_U=w["unembed.W_U"],
        b_U=_weight(w, "unembed.b_U", (c.d_vocab_out,)),
        act_fn=c.act_fn,
    )
    b_O = _weight(w, "blocks.0.attn.b_O", (c.d_model,))
    return Lookups(resid, projected("Q"), projected("K"), ov, b_O, logit_map)
