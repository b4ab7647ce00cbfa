"""Draw the figures of Chughtai et al. 2023 from runs that follow the paper's released code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import pandas as pd
import plotly.graph_objects as go

from modinterp.analyses.groups.characters import conjugacy_classes
from modinterp.analyses.groups.irreps import irrep, irreps
from modinterp.claims.prevalence import Share
from modinterp.figures import representations
from modinterp.measurements import GroupMeasurements
from modinterp.models import MLPConfig
from modinterp.runs import NotRecorded
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.groups.claims.conditions import has_learned
from modinterp.sources.groups.claims.progress import learned_at
from modinterp.sources.groups.runs import MAIN, MLPS, TRANSFORMERS
from modinterp.tasks import Group

_ORDER = ("place in the order of learning (median)", "epoch of learning (median)")


def _names(m: GroupMeasurements) -> list[str]:
    return [rho.name for rho in m.irreps]


def _similarities(m: GroupMeasurements) -> go.Figure:
    title = "The logits contain the characters of a few representations and no other characters"
    return representations.similarities(m.similarities, _names(m), m.least_similarity, title)


def _shares(m: GroupMeasurements) -> go.Figure:
    layers = {name: list(m.shares(matrix).values()) for name, matrix in m.embeddings.items()}
    layers |= {"W_L": list(m.shares(m.W_L.T).values()), "neurons": m.pair_shares.total().tolist()}
    return representations.shares(
        layers,
        _names(m),
        "Every layer contains the key representations; the unembedding also contains a mean over answers",
    )


def _losses(m: GroupMeasurements) -> go.Figure:
    found = {
        rho.name: (m.neurons_loss_without((rho,)), m.loss_of(m.logits_of_products((rho,)))) for rho in m.irreps[1:]
    }
    title = "Without a key representation the network fails; without any other representation the loss does not change"
    return representations.losses(found, m.loss_of(m.logits), title)


def _clusters(m: GroupMeasurements) -> go.Figure:
    sizes = {
        f"by the neuron's input from {of}": [found.sizes(m.irreps).get(name, 0) for name in _names(m)]
        for of, found in m.neurons.items()
    }
    return representations.counts(sizes, _names(m), "neurons", "Each neuron responds to a single representation")


def _cosets(m: GroupMeasurements) -> pd.DataFrame:
    rows = [(of, order, count) for of, found in m.coset_shares.items() for order, count in found.orders.items()]
    return pd.DataFrame(
        rows, columns=["by the element", "order of the subgroup", ("neurons constant on the subgroup's cosets")]
    )


def _progress(m: GroupMeasurements) -> go.Figure:
    title = "Key representations grow in the logits and the embedding long before the test loss falls"
    return representations.over_training(m.progress, m.key_names, title)


def _by_class(m: GroupMeasurements) -> go.Figure:
    classes = {m.task.written(members[0]): members for members in conjugacy_classes(m.task)}
    title = f"In {m.task.group}, the logit of c depends on the class of a b c^-1, and is largest where c = a b"
    return representations.by_class(m.logit_by_quotient, m.formula_by_quotient, classes, title)


def _prevalence(measured: Mapping[str, GroupMeasurements]) -> go.Figure | None:
    learned = [m for m in measured.values() if has_learned(m)]
    if not learned:
        return None
    return representations.prevalence(_counts(learned), "The seed decides which representations networks learn")


def _counts(measured: Sequence[GroupMeasurements]) -> dict[str, dict[str, Share]]:
    """Architecture and group to representation to how many of the networks of these have it as a key one."""
    return {
        name: {rho: Share(sum(rho in m.key_names for m in runs), len(runs)) for rho in _names(runs[0])[1:]}
        for name, runs in _families(measured).items()
    }


def _families(measured: Sequence[GroupMeasurements]) -> dict[str, list[GroupMeasurements]]:
    """Map each architecture and group to its networks."""
    families: dict[str, list[GroupMeasurements]] = {}
    for m in measured:
        kind = "MLP" if isinstance(m.config, MLPConfig) else "transformer"
        families.setdefault(f"{m.task.group}, {kind}", []).append(m)
    return families


def _prevalence_table(measured: Mapping[str, GroupMeasurements]) -> pd.DataFrame | None:
    learned = [m for m in measured.values() if has_learned(m)]
    if not learned:
        return None
    orders = _orders(learned)
    rows = [
        (family, name, rho.dim, share.held, share.of, *share.interval, *orders[family].get(name, (None, None)))
        for family, shares in _counts(learned).items()
        for name, share in shares.items()
        for rho in irreps(Group(family.partition(",")[0]))
        if rho.name == name and (share.held or len(shares) < 9)
    ]
    columns = ["networks", "representation", "dimension", "learned by", "of", "interval from", "to (95%)", *_ORDER]
    return pd.DataFrame(rows, columns=columns)


def _orders(measured: Sequence[GroupMeasurements]) -> dict[str, dict[str, tuple[float, float]]]:
    """Family to representation to its median place in the order in which a network learns, and its median epoch."""
    return {family: _order([_learned_at(m) for m in runs]) for family, runs in _families(measured).items()}


def _order(learned: Sequence[Mapping[str, int]]) -> dict[str, tuple[float, float]]:
    """Representation to its median place and its median epoch in networks that learn it.

    Args:
        learned: of each network, representation to epoch.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for when in learned:
        for name, epoch in when.items():
            found.setdefault(name, []).append((1 + sum(other < epoch for other in when.values()), epoch))
    return {name: (median(p for p, _ in each), median(e for _, e in each)) for name, each in found.items()}


def _learned_at(m: GroupMeasurements) -> dict[str, int]:
    """Return the result of `learned_at`, or an empty map for a network without progress measures."""
    try:
        return learned_at(m)
    except NotRecorded:
        return {}


def _matrices() -> go.Figure:
    task = Group("S5")
    rho = irrep(task, "standard")
    shown = {task.written(g): rho.matrices[g] for g in (0, 1, 7, 32)}
    return representations.matrices(
        shown, "The standard representation of S5: permutations as rotations and reflections"
    )


_SOME = (MAIN, *MLPS, *TRANSFORMERS)  # the main run, or else the first that is there
FIGURES = {
    "matrices": Drawing(number="Section 3", draw=_matrices, needs_no_run=True),
    "curves": Drawing(number="Training", draw=pairs.curves, all_of=MLPS),
    "similarities": Drawing(number="Section 5.1", draw=_similarities, first_of=_SOME),
    "classes": Drawing(number="Section 5.1", draw=_by_class, first_of=_SOME, beside="similarities"),
    "shares": Drawing(number="Section 5.2", draw=_shares, first_of=_SOME),
    "clusters": Drawing(
        number="Section 5.3",
        draw=_clusters,
        first_of=_SOME,
        table=Table(title="Neurons that are constant on cosets", make=_cosets),
    ),
    "losses": Drawing(number="Section 5.5", draw=_losses, first_of=_SOME),
    "progress": Drawing(number="Section 5.6", draw=_progress, first_of=_SOME),
    "prevalence": Drawing(
        number="Section 6",
        draw=_prevalence,
        all_of=(*MLPS, *TRANSFORMERS),
        table=Table(title="Networks that learn each representation, and in which order", make=_prevalence_table),
    ),
}
