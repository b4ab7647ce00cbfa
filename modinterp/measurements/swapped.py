"""Swap a part of an activation between two pairs, and test which pair's answer the network gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from modinterp.interventions.planes import block_planes, interchange_tools
from modinterp.interventions.turning import moved_at_random
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.views import View

Interchange = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Swapped(View):
    """The answers of a network that takes a part of one activation from another pair.

    Attributes:
        hook: name of the activation that was swapped, at the last position.
        parts: text that names the parts taken from the other pair.
        rank: number of directions that were exchanged between the pairs.
        to_other: share of the pairs that get the other pair's answer, over pairs where the two answers differ.
        stays: share of the pairs that keep their own answer after the swap.
        controls: map from the name of a control swap of equal rank or size to the share of pairs that get the other
            pair's answer.
    """

    hook: str
    parts: str
    rank: int
    to_other: float
    stays: float
    controls: dict[str, float]

    def __str__(self) -> str:
        controls = "".join(f"\n  {name}: {share:.1%}" for name, share in self.controls.items())
        return (
            f"{self.parts} of another pair at {self.hook} ({self.rank} directions): {self.to_other:.1%} of the pairs "
            f"get the other pair's answer, {self.stays:.1%} keep their own{controls}"
        )


def swap(m: Any, hook: str, blocks: Sequence[int | str] = (), heads: Sequence[int] = (), seed: int = 0) -> Swapped:
    """Exchange a part of an activation at the last position between randomly matched pairs.

    Args:
        m: measurements of a network over pairs.
        hook: name of the hook of the activation, such as `blocks.0.hook_resid_mid`.
        blocks: frequencies, or names of representations, whose directions are exchanged; by default all directions.
        heads: indices of heads to exchange, if the activation has an axis of heads.
        seed: seed of the random pairs.
    Raises:
        ValueError: both blocks and heads are given, or the activation does not have these heads.
        NoSuchPart: the network has no such hook, or the activation has no energy in the given frequencies or
            representations.
    """
    if blocks and heads:
        raise ValueError("name either blocks or heads to exchange")
    named = {m.basis.name(block): block for block in m.basis.all_blocks}
    if unknown := [str(name) for name in blocks if str(name) not in named]:
        raise ValueError(f"{m.basis.blocks_name} are {', '.join(named)}, got {', '.join(unknown)}")
    m.activation(hook)
    x = m.grid[hook]  # in the task's order, as the network takes it
    flat = x.flatten(2).flatten(0, 1)
    names = ", ".join(map(str, blocks))
    if blocks:
        planes = block_planes(m.activation(hook).flatten(2), m.basis, [named[str(name)] for name in blocks])
        if not planes.shape[1]:
            raise NoSuchPart(f"{hook} of {m.name} holds no waves of {names}")
        exchange, parts, rank = (
            interchange_tools().SubspaceInterchange(planes.float()),
            f"{m.basis.blocks_name} {names}",
            planes.shape[1],
        )
    else:
        own = _of_heads(x, heads)
        exchange, rank = partial(_with_coordinates, own.to(x.device)), int(own.sum())
        parts = f"heads {', '.join(map(str, heads))}" if heads else "everything"

    other = torch.randperm(len(flat), generator=torch.Generator().manual_seed(seed)).to(flat.device)
    logits = m.grid["logits"]
    answers, others = (
        m.basis.arranged(rows.view(logits.shape), is_logits=True).argmax(dim=-1).flatten().cpu()
        for rows in (logits.flatten(0, 1), logits.flatten(0, 1)[other])
    )
    differ = others != answers

    def shares(change: Interchange) -> tuple[float, float]:
        new = change(flat, flat[other]).view(x.shape).to(x)
        given = m.logits_after({hook: new}).argmax(dim=-1).flatten().cpu()
        return float((given == others)[differ].double().mean()), float((given == answers)[differ].double().mean())

    def as_far(base: Tensor, source: Tensor) -> Tensor:
        return moved_at_random(base.cpu(), exchange(base, source).cpu(), seed + 1)

    to_other, stays = shares(exchange)
    controls = {"random directions, as far": shares(as_far)[0]}
    if rank < flat.shape[1]:
        drawn = interchange_tools().random_basis(flat.shape[1], rank, seed=seed).to(flat)
        controls["random planes"] = shares(interchange_tools().SubspaceInterchange(drawn))[0]
    return Swapped(hook, parts, rank, to_other, stays, controls)


def _with_coordinates(own: Tensor, base: Tensor, source: Tensor) -> Tensor:
    """Replace some coordinates of one input's activation by the coordinates of another input's activation."""
    return torch.where(own, source, base)


def _of_heads(x: Tensor, heads: Sequence[int]) -> Tensor:
    """Return a mask of the flattened coordinates of an activation that belong to the given heads; all by default."""
    if not heads:
        return torch.ones(x[0, 0].numel(), dtype=torch.bool)
    if x.ndim != 4 or not {*heads} <= {*range(x.shape[2])}:
        raise ValueError(f"the activation has shape {tuple(x.shape[2:])} and not the heads {list(heads)}")
    own = torch.zeros(x.shape[2:], dtype=torch.bool)
    own[list(heads)] = True
    return own.flatten()
