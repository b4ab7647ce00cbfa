"""Measure inside a network on sequences: attention of heads, loss without each part, contribution of each part."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations import heads_at_mean, mean_outputs, patterns
from modinterp.interventions.at_positions import seen
from modinterp.measurements.answering import score_of
from modinterp.measurements.component import Component
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.score import Score
from modinterp.models import Network, Wrapped, folded
from modinterp.models.lens import HookPoint
from modinterp.tasks import Examples

SAMPLED, TOKENS = 1_000, 30_000  # inputs whose attention is looked at and whose parts are changed; fewer long ones
MOST_POSITIONS = 32  # that are put to their mean


def sampled(n_ctx: int) -> int:
    """Return the number of inputs on which parts are measured and changed, given the number of tokens of an input."""
    return max(1, min(SAMPLED, TOKENS // n_ctx))


class Inside(Component[Any]):
    """Attention, ablations and attribution of a network on sequences; available as `m.inside`.

    Raises:
        NoSuchPart: only the network's answers are visible, or the network lacks the requested part.
    """

    @property
    def network(self) -> Network:
        """The network, if its activations are accessible."""
        network: Network = self.m.model
        if isinstance(network, Wrapped) or not hasattr(network, "blocks") or not len(network.blocks):
            raise NoSuchPart(f"only the outputs of {self.m.name} are visible, and no activation inside it")
        return network

    @cached_property
    def sample(self) -> Examples:
        """The first inputs of the task, on which the network is evaluated."""
        inputs, labels = self.m.asked
        count = sampled(inputs.shape[1])
        return Examples(inputs[:count], labels[:count])

    @property
    def is_asked(self) -> Bool[Tensor, "input answer"]:
        """True for each evaluated input and answer position at which the input has an answer."""
        return self.m.answering.is_asked[: len(self.sample.inputs)]

    @cached_property
    def attention(self) -> Float[Tensor, "layer head query key"]:
        """Mean attention of every head between all positions."""
        return self._attention[0]

    def looks(self) -> pd.DataFrame:
        """Return a table with the three positions that each head attends to most, for each position with an answer."""
        names, rows = self.m.task.position_names, []
        for layer, heads in enumerate(self.attention):
            for head, pattern in enumerate(heads):
                for query in self.m.task.read_positions:
                    most = pattern[query].topk(min(3, len(names)))
                    shares = [f"{names[key]} {share:.0%}" for share, key in zip(most.values, most.indices, strict=True)]
                    rows.append({"layer": layer, "head": head, "from": names[query], "looks at": ", ".join(shares)})
        return pd.DataFrame(rows)

    @cached_property
    def to_answer(self) -> Float[Tensor, "layer head"]:
        """Mean attention from the answer positions to the tokens equal to the answer.

        Raises:
            NoSuchPart: the answers are not tokens of the inputs.
        """
        found = self._attention[1]
        if isinstance(found, NoSuchPart):
            raise found
        return found

    @cached_property
    def _attention(self) -> tuple[Tensor, Tensor | NoSuchPart]:
        """Values of `attention` and `to_answer` from one forward pass; the second value is an exception if it does not
        exist.

        The attention patterns of all inputs are too large to keep.
        """
        if not getattr(self.network.cfg, "n_heads", 0):
            raise NoSuchPart(f"{self.m.name} has no attention")
        found = patterns(self.network, self.sample.inputs).cpu()
        try:
            places = self.m.interchanges.answer_tokens
        except NoSuchPart as error:
            return found.mean(dim=1), NoSuchPart(str(error))
        per_answer = torch.stack(
            [
                (found[:, :, :, query] * places[:, column, None].to(found)).sum(dim=-1)[:, self.is_asked[:, column]]
                .mean(dim=1)
                for column, query in enumerate(self.m.task.read_positions)
            ]
        )  # fmt: skip
        return found.mean(dim=1), per_answer.mean(dim=0)

    @cached_property
    def effects(self) -> pd.DataFrame:
        """Table of accuracy, loss and rise of the loss [nats] after setting each head, MLP or position to its mean.

        To remove a head or an MLP, its output is set to its mean at each position. To remove a position, its embedding
        is set to the mean embedding.
        """
        start = self._score(self.network)
        found = (("none", -1, start), *self._ablations())
        return pd.DataFrame(
            {"part": part, "layer": layer, "accuracy": score.accuracy, "loss [nats]": score.loss,
             "rise [nats]": score.loss - start.loss}
            for part, layer, score in found
        )  # fmt: skip

    def effect_of(self, kind: str) -> dict[str, float]:
        """Return the rise of the loss without each part of a kind, `head`, `MLP` or `position`. [nats]"""
        rows = self.effects[self.effects["part"].str.startswith(kind)]
        if not len(rows):
            raise NoSuchPart(f"{self.m.name} has no {kind}")
        return dict(zip(rows["part"], rows["rise [nats]"], strict=True))

    def _ablations(self) -> Iterator[tuple[str, int, Score]]:
        network, inputs = self.network, self.sample.inputs
        if getattr(network.cfg, "n_heads", 0):
            means = mean_outputs(network, inputs)
            for layer in range(means.shape[0]):
                for head in range(means.shape[2]):
                    with heads_at_mean(network, means, [(layer, head)]) as hooked:
                        score = self._score(hooked)
                    yield f"head {layer}.{head}", layer, score
        for layer in range(len(network.blocks)):
            if (hook := f"blocks.{layer}.hook_mlp_out") in network.hook_dict:
                yield f"MLP {layer}", layer, self._at_mean(hook, self._mean(hook), slice(None))
        if "hook_embed" in network.hook_dict:
            names, mean = self.m.task.position_names, self._mean("hook_embed")
            for position in torch.linspace(0, len(names) - 1, min(len(names), MOST_POSITIONS)).round().int().tolist():
                where = slice(position, position + 1)
                yield f"position {names[position]}", -1, self._at_mean("hook_embed", mean, where)

    def _mean(self, hook: str) -> Float[Tensor, "pos d"]:
        return seen(self.network, self.sample.inputs, [hook])[hook].mean(dim=0)

    def _at_mean(self, hook: str, mean: Float[Tensor, "pos d"], where: slice) -> Score:
        """Return accuracy and loss with an activation set to its mean over inputs, at some positions."""

        def put(x: Tensor, hook: HookPoint) -> Tensor:  # in blocks of inputs, whose mean is that of the sample
            x = x.clone()
            x[:, where] = mean.to(x)[where]
            return x

        with self.network.hooks(fwd_hooks=[(hook, put)]) as hooked:
            return self._score(hooked)

    def _score(self, network: Network) -> Score:
        return score_of(network, self.m.task, self.sample)

    @cached_property
    def attribution(self) -> pd.DataFrame:
        """Contribution of each part of the network to the right logit minus the mean logit, at the answer positions.
        [logits]

        The last normalisation uses the same divisor as in the forward pass. For one input, the contributions of all
        parts add up to the right logit minus the mean logit.

        Raises:
            NoSuchPart: the network is not a transformer whose normalisation can be folded.
        """
        try:
            network = folded(self.network.in_float64())
        except ValueError as error:
            raise NoSuchPart(f"attribution is not possible for {self.m.name}: {error}") from error
        parts = ["hook_embed", "hook_pos_embed"]
        for layer in range(len(network.blocks)):
            parts += [f"blocks.{layer}.attn.hook_z", f"blocks.{layer}.hook_mlp_out"]
        names = [name for name in (*parts, "ln_final.hook_scale") if name in network.hook_dict]
        found = seen(network, self.sample.inputs, names)
        rows = []
        for name in (name for name in names if name in parts):
            if name.endswith("hook_z"):
                layer = int(name.split(".")[1])
                written = torch.einsum("iqhd,hdm->hiqm", found[name], network.blocks[layer].attn.W_O.detach())
                rows += [(f"head {layer}.{head}", self._adds(network, x, found)) for head, x in enumerate(written)]
            else:
                title = {"hook_embed": "token", "hook_pos_embed": "position"}.get(name, f"MLP {name.split('.')[1]}"
                                                                                  if "." in name else name)  # fmt: skip
                rows.append((title, self._adds(network, found[name], found)))
        return pd.DataFrame(rows, columns=["part", "right logit above the mean"])

    def _adds(self, network: Network, written: Float[Tensor, "input pos d_model"], cache: dict[str, Tensor]) -> float:
        """Return the mean contribution of a part of the residual stream to the right logit, over inputs and answers.
        [logits]
        """
        columns = list(self.m.task.read_positions)
        scale = cache["ln_final.hook_scale"][:, columns] if "ln_final.hook_scale" in cache else 1.0
        right: Int[Tensor, "input answer"] = self.m.answering.answers.right[: len(written)]
        directions = network.W_U.detach().T[right]  # centred over the outputs, by folding
        added = ((written[:, columns] * directions).sum(dim=-1, keepdim=True) / scale).squeeze(-1)
        return float(added[self.is_asked].mean())
