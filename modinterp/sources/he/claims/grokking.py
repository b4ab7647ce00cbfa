"""Claims on networks trained on three quarters of the pairs: memorisation, mirrored pairs, generalisation, weight
decay.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import refuted
from modinterp.interventions.effects import answers_moved
from modinterp.measurements import CyclicMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.he.idealised import own_logits
from modinterp.sources.he.neuron_waves import NeuronWaves, check_shape, network_at
from modinterp.sources.he.pair_kinds import PairKinds
from modinterp.sources.he.runs import named

MEMORISED, AT_90, AT_95 = (
    "first epoch with train accuracy 1",
    "first with test accuracy .9",
    "first with test accuracy .95",
)
OFF_PLATEAU, TRUE, TRUE_LOSS = (
    "test accuracy less the share of mirrored pairs",
    "accuracy on pairs of which neither order was seen",
    "their loss over ln p",
)
RARE, LEAST_RARE = (
    "accuracy on rare pairs when common ones are memorised",
    "least mean probability of rare pairs, times p",
)
IPR = {key: f"inverse participation {key}" for key in ("at the start", "memorised", "generalised", "at the end")}
SLOPES, SINES = (
    "growth of inverse participation in stage II over stage I",
    "largest change of mean |sin D| over a stage",
)
SLOPE, SHRUNK = "slope of log norm over minus eta lambda", "norm at the end over its maximum"


def kinds_of(m: CyclicMeasurements) -> PairKinds:
    """Sort the pairs of a run's split into kinds, such as pairs whose mirrored pair (y, x) is held out.

    Raises:
        NoSuchPart: the network does not sum the embeddings of its tokens.
        NotRecorded: the run holds out no pairs, or the run's split is not known.
    """
    check_shape(m)
    if not len(m.split.test) or not len(m.history):
        raise NotRecorded(f"{m.name} holds out no pairs")
    return PairKinds.of(m.split, m.p)


def first_epoch(m: CyclicMeasurements, column: str, least: float) -> float:
    """Return the first logged epoch at which an accuracy reaches a level; NaN if the accuracy never does."""
    reached = m.history[m.history[column] >= least]
    return float(reached["epoch"].iloc[0]) if len(reached) else math.nan


def _stages(m: CyclicMeasurements) -> dict[str, Value]:
    kinds_of(m)
    at_90 = first_epoch(m, "test_accuracy", 0.9)
    if math.isnan(at_90) and m.history["epoch"].iloc[-1] >= 20_000:
        at_90 = math.inf  # trained for long enough, and later than all that is expected
    return {
        MEMORISED: first_epoch(m, "train_accuracy", 1.0),
        AT_90: at_90,
        AT_95: first_epoch(m, "test_accuracy", 0.95),
    }


def _memorised(m: CyclicMeasurements) -> int:
    """Return the first logged epoch with train accuracy 1.

    Raises:
        NotRecorded: there is none, as before training.
    """
    epoch = first_epoch(m, "train_accuracy", 1.0)
    if math.isnan(epoch):
        raise NotRecorded(f"{m.name} has not memorised")
    return int(epoch)


def logits_at(m: CyclicMeasurements, epoch: int) -> Tensor:
    """Return the logits of all pairs at the snapshot of an epoch, in float64."""
    return own_logits(NeuronWaves.of(network_at(m, epoch)))


def right_probability(logits: Tensor) -> Tensor:
    """Return the network's probability of the right answer x + y for every pair, `[x, y]`."""
    p = len(logits)
    x = torch.arange(p)
    return logits.softmax(dim=-1).gather(-1, ((x.unsqueeze(1) + x) % p).unsqueeze(-1)).squeeze(-1)


def mean_where(x: Tensor, where: Tensor) -> float:
    """Return the mean of a table's entries over the pairs where a mask is True."""
    return float(x[where].double().mean())


def _mirror(m: CyclicMeasurements) -> dict[str, Value]:
    kinds, logits = kinds_of(m), logits_at(m, _memorised(m))
    right, test = answers_moved(logits), kinds.mirrored | kinds.unseen | kinds.diagonal
    share = float(kinds.mirrored.sum() / test.sum())
    return {
        OFF_PLATEAU: mean_where(right, test) - share,
        TRUE: mean_where(right, kinds.unseen),
        TRUE_LOSS: mean_where(-right_probability(logits).log(), kinds.unseen) / math.log(m.p),
        "share of mirrored pairs in the test set": share,
    }


def _common(m: CyclicMeasurements) -> dict[str, Value]:
    kinds, least, at_common = kinds_of(m), math.inf, math.nan
    last = _memorised(m)
    epochs = [e for e in m.snapshots if 0 < e <= last]
    if not epochs or epochs[0] > m.history["epoch"].iloc[1]:
        raise NotRecorded(f"the first snapshots of {m.name} were not kept")
    for epoch in epochs:
        logits = logits_at(m, epoch)
        right = answers_moved(logits)
        least = min(least, mean_where(right_probability(logits), kinds.rare) * m.p)
        if math.isnan(at_common) and mean_where(right, kinds.common) >= 0.99:
            at_common = mean_where(right, kinds.rare)
    return {RARE: at_common, LEAST_RARE: least}


def stage_ends(m: CyclicMeasurements) -> list[int]:
    """Return four epochs: the start, the end of memorisation, generalisation to an accuracy of .95, and the end.

    Raises:
        NotRecorded: the network has not reached one of the epochs.
    """
    generalised = first_epoch(m, "test_accuracy", 0.95)
    if math.isnan(generalised):
        raise NotRecorded(f"{m.name} has not generalised")
    return [0, _memorised(m), int(generalised), int(m.history["epoch"].iloc[-1])]


def _sparsity(m: CyclicMeasurements) -> dict[str, Value]:
    kinds_of(m)
    epochs = stage_ends(m)
    found = [NeuronWaves.of(network_at(m, epoch)) for epoch in epochs]
    ipr, sines = [w.inverse_participation for w in found], [w.mean_sine for w in found]
    slopes = [(ipr[i + 1] - ipr[i]) / (epochs[i + 1] - epochs[i]) for i in (0, 1)]
    return {
        SLOPES: slopes[1] / slopes[0],
        SINES: max(after - before for before, after in pairwise(sines)),
        **dict(zip(IPR.values(), ipr, strict=True)),
    }


def _cleanup(m: CyclicMeasurements) -> dict[str, Value]:
    kinds_of(m)
    if m.spec is None or len(m.history) < 10:
        raise NotRecorded(f"the training of {m.name} is not known")
    norms = torch.tensor((m.history["sum_of_squared_weights"] ** 0.5).to_numpy())
    epochs = torch.tensor(m.history["epoch"].to_numpy()).double()
    late = epochs >= epochs[-1] - 10_000
    steps, logs = epochs[late] - epochs[late].mean(), norms[late].log()
    slope = float((steps * logs).sum() / steps.square().sum())
    recipe = m.spec.recipe
    return {
        SLOPE: slope / -(recipe.lr * recipe.weight_decay),
        SHRUNK: float(norms[-1] / norms.max()),
    }


CLAIMS = (
    Claim(
        id="he.grok.stages",
        where="figure 14",
        statement="The network memorises first, and needs several times as many epochs to generalise.",
        source_says=(
            "the source's network memorises at epoch 2,200 and generalises at epoch 9,000; its rerun with other"
            " thresholds does at 1,744 and 9,431"
        ),
        measure=each(_stages),
        expected={
            MEMORISED: between(1_000, 4_000, "the authors' network memorises at epoch 2,200"),
            AT_90: between(5_000, 20_000, "the authors' network generalises at epoch 9,000"),
        },
        reported=(AT_95,),
        needs=named("grok"),
        scope="any seed",
        figure="stages",
        contrast=("he/grok-wd0-42",),  # without weight decay, of which the source says that it only memorises
    ),
    Claim(
        id="he.grok.mirror",
        where="section 5.2, figure 15",
        statement="While the test accuracy stays on its plateau, the network answers the mirrors (y, x) of training pairs correctly, by symmetry. On the plateau of test accuracy, the network answers all test pairs wrongly whose mirror is not a training pair.",
        source_says="the test accuracy has a plateau near 70%",
        measure=each(_mirror),
        expected={
            OFF_PLATEAU: between(
                -0.01, 0.01, "in the authors' network the test accuracy equals the share of mirrored pairs"
            ),
            TRUE: at_most(
                0.05, "in the authors' network no answer to the 36 pairs of which neither order was seen is right"
            ),
            TRUE_LOSS: at_least(
                1, "the loss on pairs of which neither order was seen should exceed the loss of guessing"
            ),
        },
        behaviour=(OFF_PLATEAU, TRUE),
        reported=("share of mirrored pairs in the test set",),
        needs=named("grok"),
        scope="any seed",
        figure="kinds_of_pairs",
        control="without control",
    ),
    Claim(
        id="he.grok.common",
        where="figure 16",
        statement="The network memorises training pairs seen in both orders first. While it memorises the pairs seen in both orders, the network gives a very low probability to right answers of pairs seen in one order.",
        source_says=(
            "the network first memorises common pairs (seen in both orders) and suppresses rare pairs (seen in "
            "one order)"
        ),
        measure=each(_common),
        expected={
            RARE: at_most(0.1, "in the authors' network .000 of the rare pairs are right"),
            LEAST_RARE: at_most(1, "the probability of the right answer on rare pairs should be below chance"),
        },
        behaviour=(RARE,),
        changed=(
            Change(
                date="2026-11-28",
                what="the definition of common pairs",
                before="common pairs were all pairs trained in both orders, including x = y. Rare pairs, trained in one order, had an accuracy of .16 to .85 when common pairs were memorised",
                now=(
                    "common pairs are only pairs with x != y trained in both orders: rare pairs have an "
                    "accuracy of .000 to .020"
                ),
                why=(
                    "a pair x = y has only one order. The network memorises pairs x = y last, which hid that all "
                    "other common pairs are memorised first"
                ),
                was="refuted",
            ),
        ),
        needs=named("grok"),
        scope="any seed",
        figure="kinds_of_pairs",
        control="without control",
    ),
    Claim(
        id="he.grok.sparsity",
        where="section 5.3, figure 14",
        statement=(
            "In stage II (generalising), neurons concentrate on single frequencies faster than in stage I (memorising)."
        ),
        source_says="in stage II of training the concentration on few frequencies rises sharply",
        measure=each(_sparsity),
        expected={
            SLOPES: at_least(1, "energy should concentrate on few frequencies faster in stage II than in stage I")
        },
        reported=tuple(IPR.values()),
        needs=named("grok"),
        scope="any seed",
        figure="stages",
        finding=refuted(
            "Neurons concentrate on single frequencies in stage II (generalising) .16 to .18 times as fast as in stage I (memorising). When memorising ends, few frequencies already hold a share of .51 of a neuron's energy.",
            "source",
        ),
        control="without control",
    ),
    Claim(
        id="he.grok.alignment",
        where="section 5.3, figure 14",
        statement="Phase alignment improves in all three stages of training (memorising, generalising, cleanup).",
        source_says="alignment improves throughout training",
        measure=each(_sparsity),
        expected={
            SINES: at_most(
                0,
                (
                    "the misalignment should fall in each stage; in the authors' network it is .634 at "
                    "first, and .100, .073 and .045 after the three stages"
                ),
            )
        },
        needs=named("grok"),
        scope="any seed",
        figure="stages",
        control="without control",
    ),
    Claim(
        id="he.grok.cleanup",
        where="section 5.4",
        statement="In stage III (cleanup), only weight decay changes the weights; their norm shrinks at the rate eta lambda (learning rate times weight decay).",
        source_says="the weight norm decays at the rate lambda",
        measure=each(_cleanup),
        expected={
            SLOPE: between(0.5, 2, "the weight norm should decay at the rate eta lambda, within a factor of 2"),
            SHRUNK: at_most(0.98, "in the authors' network the final weight norm is .947 of its maximum"),
        },
        needs=named("grok"),
        scope="any seed",
        figure="stages",
        finding=refuted(
            "In stage III (cleanup) the loss gradient balances weight decay. In stage III the weight norm falls at less than a thousandth of the rate of weight decay, and ends 5% below its maximum.",
            "source",
        ),
        control="without control",
    ),
)
