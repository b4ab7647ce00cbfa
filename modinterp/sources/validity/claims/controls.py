"""Claims on internal validity: minimal parts, two tasks, confounds, and the course of training."""

from __future__ import annotations

from modinterp.analyses.statistics.resampling import e_value_bound
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements, PairMeasurements
from modinterp.sources.validity import dissociation
from modinterp.sources.validity.runs import MAIN, MULTITASK, WITH_NEURONS, WITH_SNAPSHOTS
from modinterp.sources.validity.turns import SEEN, causal

OTHERS_ALONE = "accuracy above chance on the other tasks with one period alone, most"
SCRUBBED = "accuracy with everything but the read directions that of other pairs"
ADDITIVE = "fall of the margins without two circles that the single falls explain, FVE"


def _minimality(m: CyclicMeasurements) -> dict[str, Value]:
    table = m.causal.without_each
    keys = table[table.index.isin(m.freqs)]
    return {
        "loss without the least needed circle, times the loss with all": float(
            keys["loss"].min() / table.attrs["loss"]
        ),
        "accuracy without the least needed circle": float(keys["accuracy"].max()),
    }


def _dissociation(m: PairMeasurements) -> dict[str, Value]:
    table = dissociation.by_period(m)
    own = table["task"] == table["period"]
    above = table["accuracy"] - table["chance"]

    def of(change: str, is_own: bool) -> list[bool]:
        return [*((table["change"] == change) & (own == is_own))]

    return {
        "accuracy above chance on the own task without its period, most": float(above[of("without", True)].max()),
        "accuracy on the other tasks without one period, least": float(table["accuracy"][of("without", False)].min()),
        "accuracy on the own task with its period alone, least": float(table["accuracy"][of("alone", True)].min()),
        OTHERS_ALONE: float(above[of("alone", False)].max()),
        "accuracy without random directions, least": float(table["accuracy"][table["change"] == "random"].min()),
    }


def _confounds(m: CyclicMeasurements) -> dict[str, Value]:
    neurons, low = m.causal.at_neurons, ~m.neurons.explained
    by_method = [neurons.without_keys(how) for how in ("zero", "mean", "resampled")]
    return {
        "accuracy without the keys by whichever method, most": max(m.causal.accuracy_without, m.causal.accuracy_resampled, *by_method),
        SCRUBBED: neurons.scrubbed,
        **{f"accuracy with the less periodic neurons at {name}": neurons.without(low, how)
           for name, how in (("zero", "zero"), ("their mean", "mean"), ("those of other pairs", "resampled"))},
    }  # fmt: skip


def _e_value(m: CyclicMeasurements) -> dict[str, Value]:
    harmed, spared = m.causal.without_circles_is_wrong
    return {"E-value, lower bound": e_value_bound(harmed, spared, m.p**2)}


def _epistasis(m: CyclicMeasurements) -> dict[str, Value]:
    found = causal(m).synergy
    return {
        ADDITIVE: found.additive,
        "largest synergy in accuracy, over the larger single cost": found.largest,
        "largest synergy of two other circles": found.null,
    }


def _onset(m: CyclicMeasurements) -> dict[str, Value]:
    table = causal(m).onset
    accuracy, moved = table["accuracy, held-out"], table["half turn, held-out"]
    solved = accuracy >= 0.999
    return {
        "half turn ahead of the accuracy, most": float((moved - accuracy).max()),
        "half turn at the first snapshot that answers 99.9%": (
            float(moved[solved].iloc[0]) if any(solved) else float("nan")
        ),
        "snapshots": len(table),
    }


def _order(m: CyclicMeasurements) -> dict[str, Value]:
    table = causal(m).onset
    return {
        "rank correlation of half turn and accuracy over snapshots": float(
            table["accuracy, held-out"].rank().corr(table["half turn, held-out"].rank())
        )
    }


CLAIMS = (
    Claim(
        id="validity.I3.minimality",
        reported=("accuracy without the least needed circle",),
        where="I3, minimality",
        statement="Each key circle is needed: removing any single key circle at least doubles the loss.",
        source_says="partial: the audited paper leaves 79 of 512 neurons unexplained",
        measure=each(_minimality),
        expected={
            "loss without the least needed circle, times the loss with all": at_least(
                2, f"a doubling of the loss is more than rounding error; {SEEN}"
            )
        },
        needs=WITH_NEURONS,
        scope="any seed",
        finding=mixed(
            "If the key circle with the smallest effect is removed, the loss of kissane-0 (fourteen key circles) "
            "grows by a factor of 1.8. In other networks, removing the key circle with the smallest effect makes "
            "the loss grow by a factor of 58 or more."
        ),
    ),
    Claim(
        id="validity.I3.neurons",
        where="I3, minimality",
        statement="The network needs nearly all of its neurons to get 99% of the answers right.",
        source_says="partial: the audited paper leaves 79 of 512 neurons unexplained",
        measure=each(
            lambda m: {"neurons that suffice for 99%, share": m.causal.at_neurons.fewest() / m.post.shape[-1]}
        ),
        expected={
            "neurons that suffice for 99%, share": at_least(0.95, "in a minimal set of neurons every neuron is needed")
        },
        needs=WITH_NEURONS,
        scope="any seed",
        finding=refuted(
            (
                "If the strongest neurons are kept first, 20% to 75% of the network's neurons suffice to get 99% of the "
                "answers right."
            ),
            "our own expectation",
        ),
        control="also true before training",
    ),
    Claim(
        id="validity.I6.double_dissociation",
        reported=("accuracy without random directions, least",),
        where="I6, double dissociation",
        statement=(
            "In a network that learned remainders modulo many primes, the embedding's functions of one prime's "
            "period are used for the remainder modulo this prime. If the functions of one prime's period are "
            "removed, the network fails only on the remainder modulo this prime. If only the functions of one "
            "prime's period are kept, the network succeeds only on the remainder modulo this prime."
        ),
        source_says="untested: without a double dissociation the audited claim cannot reach the audit's next tier",
        measure=_dissociation,
        expected={
            "accuracy above chance on the own task without its period, most": at_most(0.02, SEEN),
            "accuracy on the other tasks without one period, least": at_least(0.99, SEEN),
            "accuracy on the own task with its period alone, least": at_least(0.99, SEEN),
            OTHERS_ALONE: at_most(0.02, SEEN),
        },
        needs=(MULTITASK,),
        figure="periods",
    ),
    Claim(
        id="validity.I7.confounds",
        reported=(
            "accuracy with the less periodic neurons at their mean",
            "accuracy with the less periodic neurons at those of other pairs",
            "accuracy with the less periodic neurons at zero",
        ),
        where="I7, confounds",
        statement=(
            "Without its key circles the network fails, whatever replaces the key circles. If everything in the "
            "neurons except the key circles is taken from other pairs, the network still answers correctly."
        ),
        source_says="partial: the audit demands ablation by zero, by mean and by resampling, and causal scrubbing",
        measure=each(_confounds),
        expected={
            "accuracy without the keys by whichever method, most": at_most(
                0.25, f"we take the largest of five methods, at the embedding and at the neurons; {SEEN}"
            ),
            SCRUBBED: at_least(0.99, f"nothing outside the claimed circles should matter; {SEEN}"),
        },
        needs=WITH_NEURONS,
        scope="any seed",
    ),
    Claim(
        id="validity.I8.e_value",
        where="I8, E-value",
        statement=(
            "Removing the key circles makes far more answers wrong than removing as many other circles. We "
            "remove the circles ourselves, so no unmeasured cause can confound the effect; the E-value only "
            "serves for comparison with the source's audit."
        ),
        source_says="untested, as in all audits of this project: the audit demands an E-value of 2",
        measure=each(_e_value),
        expected={"E-value, lower bound": at_least(2, "the audit demands an E-value of at least 2")},
        needs=WITH_NEURONS,
        scope="any seed",
        control="also true after memorising",
    ),
    Claim(
        id="validity.I9.epistasis",
        reported=(
            "largest synergy in accuracy, over the larger single cost",
            "largest synergy of two other circles",
        ),
        where="I9, epistasis",
        statement="The effects of circles add up: removing two circles lowers the right logit's margin as much "
        "as the two single removals in sum.",
        source_says=(
            "partial: the audit demands that two circles together have over twice the single effects, which the"
            " theory of circles rules out"
        ),
        measure=each(_epistasis),
        expected={ADDITIVE: at_least(0.99, "the theory's formula for the logits is a sum over circles")},
        needs=WITH_NEURONS,
        scope="any seed",
        control="also true after memorising",
    ),
    Claim(
        id="validity.I11.onset",
        reported=("snapshots",),
        where="I11, onset",
        statement=(
            "Rotating the circles by half a step begins to change answers when the network generalises: never "
            "earlier, and for all pairs once every answer is right."
        ),
        source_says="confirmed: the audit demands that mechanism and capability appear at the same checkpoints",
        measure=each(_onset),
        expected={
            "half turn ahead of the accuracy, most": at_most(0.05, SEEN),
            "half turn at the first snapshot that answers 99.9%": at_least(0.95, SEEN),
        },
        behaviour=("half turn ahead of the accuracy, most",),
        needs=WITH_SNAPSHOTS,
        scope="any seed",
        control="without control",
        figure="onset",
    ),
    Claim(
        id="validity.I11.order",
        where="I11, onset",
        statement=(
            "Over the snapshots of training, the effect of rotating circles by half a step grows with the network's "
            "accuracy."
        ),
        source_says="confirmed: the audit demands that mechanism and capability appear at the same checkpoints",
        measure=_order,
        expected={"rank correlation of half turn and accuracy over snapshots": at_least(0.9, SEEN)},
        needs=(MAIN,),
        control="also true after memorising",
        figure="onset",
        changed=(
            Change(
                date="2026-11-28",
                what="the networks in which the rank correlation is measured",
                before=(
                    "all networks with snapshots of training counted, even with only three snapshots: the rank "
                    "correlation is 1 in mainline-0, 0.5 in no-pos-0, and undefined in two networks"
                ),
                now="only the network mainline-0 counts, which has thirteen snapshots of its training",
                why=(
                    "in networks with three snapshots, the accuracy is 1 at two of the three, and equal "
                    "accuracies have no order"
                ),
            ),
        ),
    ),
)
