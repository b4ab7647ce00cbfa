"""Patch activations and paths: put activations of one input pair into the forward pass of another pair.

The network runs on every pair (a, b), with some activations taken from another pair, called the source of (a, b). For
other metrics and for sweeps over positions, use `transformer_lens.patching`, which also works on these networks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import cast

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.capture import LOGITS, activations
from modinterp.activations.intervene import logits_with, replaced
from modinterp.models import Network
from modinterp.tasks import Task

Source = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class NothingChanged(ValueError):
    """Return a function that maps each pair (a, b) to the pair (a, b + by) from which activations are patched, modulo
    the size of the grid.
    """


def other_b(by: int = 1) -> Source:
    """Return a function that maps each pair (a, b) to the pair (a + by, b) from which activations are patched, modulo
    the size of the grid.
    """
    return lambda a, b: (a, (b + by) % (int(b.max()) + 1))


def other_a(by: int = 1) -> Source:
    """Return a function that gives each pair (a, b) the source (a + by, b), modulo the size of the grid."""
    return lambda a, b: ((a + by) % (int(a.max()) + 1), b)


def sources(task: Task, source: Source) -> tuple[Int[Tensor, "a b"], Int[Tensor, "a b"]]:
    """Return the pair from which activations are patched (the source), for every pair, as two grids of numbers.

    Raises:
        ValueError: the inputs form no grid of pairs, or a source pair lies outside the grid.
    """
    if task.grid is None or len(task.grid) != 2:
        raise ValueError(f"the inputs of {task.name} do not form a grid of pairs")
    a, b = torch.meshgrid(*map(torch.arange, task.grid), indexing="ij")
    of_a, of_b = source(a, b)
    for found, size in ((of_a, task.grid[0]), (of_b, task.grid[1])):
        if found.shape != a.shape or int(found.min()) < 0 or int(found.max()) >= size:
            raise ValueError(
                f"sources should be pairs of numbers from 0 to {size - 1}, one for each of {len(a)} x {a.shape[1]}"
            )
    return of_a, of_b


def _changed(logits: Tensor, before: Tensor, what: str) -> Tensor:
    if torch.equal(logits, before):
        raise NothingChanged(f"{what} changed no logit of any pair")
    return logits


def patched(
    network: Network, task: Task, names: Collection[str], source: Source, head: int | None = None
) -> Float[Tensor, "a b output"]:
    """Return the logits of every pair when some activations at the last position are taken from another pair, its
    source.

    >>> from modinterp import models, tasks
    >>> task = tasks.addition(5)
    >>> config = models.TransformerConfig.of(task)
    >>> network = models.hooked(config, models.initial_weights(config, seed=0))
    >>> patched(network, task, ["blocks.0.mlp.hook_post"], other_b()).shape
    torch.Size([5, 5, 5])

    Args:
        names: names of the patched hooks, such as `blocks.0.attn.hook_z`.
        head: index of the only head to patch, for hooks that have heads; all heads by default.
    Raises:
        NothingChanged: the patch changed no logit.
        ValueError: a name is not a hook of this network; the inputs form no grid of pairs.
    """
    (a, b), cache = sources(task, source), activations(network, task)
    precise = cast(Network, cache.model)
    values = {name: _from_source(_known(cache.cache_dict, name), a, b, head) for name in names}
    logits = logits_with(precise, task, values)
    return _changed(logits, cache[LOGITS], f"patching {', '.join(names)}")


def _known(activations_by_name: dict[str, Tensor], name: str) -> Tensor:
    if name not in activations_by_name:
        raise ValueError(f"no hook {name}; this network has {', '.join(activations_by_name)}")
    return activations_by_name[name]


def _from_source(x: Tensor, a: Tensor, b: Tensor, head: int | None) -> Tensor:
    """Return an activation, of all heads or of one head, taken from the source of every pair."""
    moved = x[a, b]
    if head is None:
        return moved
    changed = x.clone()
    changed[:, :, head] = moved[:, :, head]
    return changed


def path_patched(
    network: Network, task: Task, sender: str, receiver: str, source: Source, head: int | None = None
) -> Float[Tensor, "a b output"]:
    """Return the logits of every pair when only the receiver sees the sender's activation from the source pair.

    First, the receiver is computed with the sender's activation from the source pair, while all other heads and neurons
    stay unchanged. Then the network runs on the pair with the patched value of the receiver.

    Args:
        sender: hook of the patched activation, such as `blocks.0.attn.hook_z`.
        receiver: hook of the only activation that sees the patch, at the last position, such as
            `blocks.0.mlp.hook_pre`.
        head: index of the only head to patch, if the sender has heads; all heads by default.
    Raises:
        NothingChanged: the patch changed no logit, for example because no path leads from the sender to the receiver.
        ValueError: a name is not a hook of this network; the inputs form no grid of pairs.
    Source: Wang et al. 2022, "Interpretability in the Wild", appendix B; Goldowsky-Dill et al. 2023.
    """
    (a, b), cache = sources(task, source), activations(network, task)
    known, precise = cache.cache_dict, cast(Network, cache.model)
    frozen = {n: x for n, x in known.items() if n.endswith(("attn.hook_z", "mlp.hook_post")) and n != receiver}
    sent = frozen | {sender: _from_source(_known(known, sender), a, b, head)}
    _known(known, receiver)
    with torch.no_grad(), replaced(precise, sent):
        _, seen = precise.run_with_cache(task.inputs().to(network.device), names_filter=[receiver])
    value = seen[receiver][:, -1].unflatten(0, (len(a), a.shape[1]))
    logits = logits_with(precise, task, {receiver: value})
    return _changed(logits, cache[LOGITS], f"the path from {sender} to {receiver}")


def components(network: Network, task: Task, source: Source) -> pd.DataFrame:
    """Return the effect of patching each head and each MLP alone, as a share of the logit difference.

    The table of effects has one row per component. The effect of a component is the mean logit difference between the
    source's answer and the pair's own answer. The effect is scaled to 0 for the unpatched network, and to 1 for the
    network run on the source pair.

    Raises:
        ValueError: the inputs form no grid of pairs, or every pair has the same answer as its source pair.
    """
    (a, b), cache = sources(task, source), activations(network, task)
    answers = task.answers().view(a.shape).to(cache[LOGITS].device)
    others = answers[a, b]
    if torch.equal(answers, others):
        raise ValueError(
            "every pair has the same answer as its source pair, so patching shows no effect; choose source "
            "pairs with other answers"
        )

    def difference(logits: Tensor) -> float:
        gap = logits.gather(-1, others[..., None]) - logits.gather(-1, answers[..., None])
        return float(gap[answers != others].mean())

    start, end = difference(cache[LOGITS]), difference(cache[LOGITS][a, b])
    rows = []
    for layer, block in enumerate(network.blocks):
        heads = range(len(block.attn.W_O)) if hasattr(block, "attn") else ()
        parts = [(f"head {layer}.{h}", f"blocks.{layer}.attn.hook_z", h) for h in heads]
        parts += [(f"MLP {layer}", f"blocks.{layer}.mlp.hook_post", None)] * hasattr(block, "mlp")
        for name, hook, head in parts:
            values = {hook: _from_source(cache[hook], a, b, head)}
            changed = difference(logits_with(cast(Network, cache.model), task, values))
            rows.append((name, (changed - start) / (end - start)))
    return pd.DataFrame(rows, columns=["component", "share of the way"])
