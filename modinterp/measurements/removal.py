"""Remove frequencies, representations, heads or neurons from a network over pairs, at a stated site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import logits_on_grid
from modinterp.analyses.attention.components import Ablation
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.views import Without
from modinterp.models.lens import HookPoint

Site = Literal["embedding", "neurons", "logits"]
EMBED = "hook_embed"


def without(
    m: Any, blocks: Sequence[Any] = (), heads: Sequence[int] = (), neurons: Sequence[int] = (), site: Site = "logits"
) -> Without:
    """Remove some parts of a network, and return accuracy and loss over all, training and held-out pairs, before and
    after.

    At the site, the frequencies or representations (blocks) are removed by projection. In the embedding, the removed
    frequencies or representations are functions of each number. In the last layer's neurons and in the logits, the
    removed frequencies or representations are functions of the answer. Heads of the first layer and neurons of the last
    layer are set to their mean over all pairs.

    Args:
        m: measurements of a network over pairs.
        blocks: frequencies or representations to remove at the site, as the basis of `m` names them.
        heads: indices of first-layer heads to set to their mean.
        neurons: indices of last-layer neurons to set to their mean.
        site: where frequencies or representations are removed: `embedding`, `neurons` or `logits`.
    Raises:
        ValueError: a part does not exist, or the arguments name no part, or parts of several kinds.
        NoSuchPart: the network does not expose the activations at the site.
    """
    if sum(map(bool, (blocks, heads, neurons))) != 1:
        raise ValueError("name either frequencies or representations, or heads, or neurons to remove")
    if blocks:
        where, logits = str(site), _SITES[_known(site)](m, blocks)
        names = ", ".join(map(m.basis.name, blocks))
        parts = f"{m.basis.block if len(blocks) == 1 else m.basis.blocks_name} {names}"
    elif heads:
        where, logits = "heads", _without_heads(m, list(heads))
        parts = f"head{'s' * (len(heads) > 1)} {', '.join(map(str, heads))}"
    else:
        where, logits = "neurons", _without_neurons(m, list(neurons))
        parts = f"neuron {neurons[0]}" if len(neurons) == 1 else f"{len(neurons)} neurons"
    rows = {"all": None} | ({"train": m.split.train, "test": m.split.test} if m.run.knows_split else {})
    rows = {name: some for name, some in rows.items() if some is None or len(some)}
    before = {name: m.score(m.logits, some) for name, some in rows.items()}
    after = {name: m.score(logits, some) for name, some in rows.items()}
    return Without(parts, where, before, after, m.changed(logits), logits)


def each_head(m: Any) -> dict[str, Ablation]:
    """Return loss and accuracy with each first-layer head at its mean, by the head's name; empty without attention."""
    try:
        count = m.pattern.shape[2]
    except NoSuchPart:
        return {}
    return {f"head {head} at its mean": without(m, heads=[head]).ablation for head in range(count)}


def blocks_at_each_site(m: Any, blocks: Sequence[Any]) -> dict[str, Ablation]:
    """Return loss and accuracy without some frequencies or representations, by the name of the site."""
    found = {}
    for site in _SITES if blocks else ():
        with suppress(NoSuchPart):
            found[f"key {m.basis.blocks_name} out of the {site}"] = without(m, blocks, site=site).ablation
    return found


def _known(site: str) -> str:
    if site not in _SITES:
        raise ValueError(f"site must be {', '.join(_SITES)}, got {site!r}")
    return site


def _at_logits(m: Any, blocks: Sequence[Any]) -> Float[Tensor, "a b output"]:
    return m.logits.double() - m.basis.answer_part(m.logits, blocks)


def _at_neurons(m: Any, blocks: Sequence[Any]) -> Float[Tensor, "a b output"]:
    part = m.basis.answer_part(m.post, blocks)
    return m.logits - part @ m.W_L.to(part)


def _at_embedding(m: Any, blocks: Sequence[Any]) -> Float[Tensor, "a b output"]:
    if not m.has_embedding:
        raise NoSuchPart(f"the place of one embedding of both numbers in {m.name} is not known")
    grid = m.task.grid

    def project(embedded: Tensor, hook: HookPoint) -> Tensor:
        if embedded.ndim != 3 or len(embedded) != grid[0] * grid[1] or embedded.shape[1] < 2:
            raise NoSuchPart(f"the embedding of {m.name} has another shape than [pair, position, d_model]")
        changed = embedded.clone()
        for place in (0, 1):
            of_number = embedded[:, place].unflatten(0, grid).mean(dim=1 - place)  # the other number changes nothing
            order = m.basis.order.to(embedded.device)
            part = torch.zeros_like(of_number)
            part[order] = m.basis.part(of_number[order], blocks).to(part)
            pairs = part[:, None] if place == 0 else part[None]
            changed[:, place] -= pairs.expand(*grid, -1).flatten(0, 1)
        return changed

    with m.model.hooks(fwd_hooks=[(EMBED, project)]) as hooked:
        return m.basis.arranged(logits_on_grid(hooked, m.task).double(), is_logits=True)


def _without_heads(m: Any, heads: list[int]) -> Float[Tensor, "a b output"]:
    name = "blocks.0.attn.hook_z"
    m.activation(name)
    z = m.grid[name]
    if not {*heads} <= {*range(z.shape[2])}:
        raise ValueError(f"{m.name} has heads 0 to {z.shape[2] - 1}, got {heads}")
    changed, index = z.clone(), torch.tensor(heads, device=z.device)
    changed[:, :, index] = z[:, :, index].mean(dim=(0, 1))
    return m.logits_after({name: changed})


def _without_neurons(m: Any, neurons: list[int]) -> Float[Tensor, "a b output"]:
    post = m.post
    if not {*neurons} <= {*range(post.shape[2])}:
        raise ValueError(f"{m.name} has neurons 0 to {post.shape[2] - 1}, got {neurons}")
    some = post[..., neurons].double()
    return m.logits + (some.mean(dim=(0, 1)) - some) @ m.W_L[neurons].to(some)


_SITES: dict[Site, Callable[[Any, Sequence[Any]], Tensor]] = {
    "embedding": _at_embedding,
    "neurons": _at_neurons,
    "logits": _at_logits,
}
