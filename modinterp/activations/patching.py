"""Activation and path patching on the grid: put activations of one pair into the run of another pair.

Every pair (a, b) of the grid is run with some of its activations taken from another pair, its source. TransformerLens'
`transformer_lens.patching` also works on these networks, for other metrics and sweeps over positions.
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
    """An intervention left every logit as it was, so that nothing can be concluded from it."""


def other_b(by: int = 1) -> Source:
    """The source (a, b + by) of every pair (a, b), the numbers taken modulo the size of the grid."""
    return lambda a, b: (a, (b + by) % (int(b.max()) + 1))


def other_a(by: int = 1) -> Source:
    """The source (a + by, b) of every pair (a, b), the numbers taken modulo the size of the grid."""
    return lambda a, b: ((a + by) % (int(a.max()) + 1), b)


def sources(task: Task, source: Source) -> tuple[Int[Tensor, "a b"], Int[Tensor, "a b"]]:
    """The source of every pair, as two grids.

    Raises:
        ValueError: the inputs form no grid of pairs, or a source is none of them.
    """
    if task.grid is None or len(task.grid) != 2:
        raise ValueError(f"the inputs of {task.name} form no grid of pairs")
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
    """Logits of every pair with some activations at the last position taken from its source.

    >>> from modinterp import models, tasks
    >>> task = tasks.addition(5)
    >>> config = models.TransformerConfig.of(task)
    >>> network = models.hooked(config, models.initial_weights(config, seed=0))
    >>> patched(network, task, ["blocks.0.mlp.hook_post"], other_b()).shape
    torch.Size([5, 5, 5])

    Args:
        names: hooks, such as `blocks.0.attn.hook_z`.
        head: the only head that is patched, of hooks that have heads.
    Raises:
        NothingChanged: every logit stayed as it was.
        ValueError: a name that is no hook of this network; the inputs form no grid of pairs.
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
    """An activation over the grid, or that of one head, from the source of every pair."""
    moved = x[a, b]
    if head is None:
        return moved
    changed = x.clone()
    changed[:, :, head] = moved[:, :, head]
    return changed


def path_patched(
    network: Network, task: Task, sender: str, receiver: str, source: Source, head: int | None = None
) -> Float[Tensor, "a b output"]:
    """Logits of every pair where a sender is taken from the source, but only the receiver gets to see it.

    The receiver is computed with the sender's activation from the source, and all other heads and neurons unchanged;
    then the network runs with that receiver.

    Args:
        sender: hook of what is patched, such as `blocks.0.attn.hook_z`.
        receiver: hook of what sees it, at the last position, such as `blocks.0.mlp.hook_pre`.
        head: the only head that is patched, of a sender that has heads.
    Raises:
        NothingChanged: every logit stayed as it was, such as where no path leads from the sender to the receiver.
        ValueError: a name that is no hook of this network; the inputs form no grid of pairs.
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
    """Effect of patching each head and each MLP alone: 1 where the network gives the source's answer, 0 where nothing
    changes.

    One row per component: mean logit difference between the source's answer and the pair's own, from 0 (network
    unchanged) to 1 (source's run).

    Raises:
        ValueError: the inputs form no grid of pairs, or source and pair have the same answer everywhere.
    """
    (a, b), cache = sources(task, source), activations(network, task)
    answers = task.answers().view(a.shape).to(cache[LOGITS].device)
    others = answers[a, b]
    if torch.equal(answers, others):
        raise ValueError("every pair has the answer of its source: there is no difference to see")

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
