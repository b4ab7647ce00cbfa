"""Claims on other groups and the other architecture: properties of all networks, and properties that vary with the
seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import mean

from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value
from modinterp.measurements import GroupMeasurements, one_at_a_time
from modinterp.sources.groups.claims.conditions import has_learned
from modinterp.sources.groups.claims.progress import ORDER_SIMILARITY
from modinterp.sources.groups.runs import (
    C113_MLP,
    C113_T,
    D59_MLP,
    D59_T,
    MLPS,
    S5_MLP,
    S5_NARROW,
)
from modinterp.tasks import Group

SEVERAL = "networks of one group that learned"
LEARN_SIGN, LEARN_STANDARD, LEARN_LARGEST = "seeds with sign", "seeds with standard", "seeds with (3, 1, 1)"
WIDE, NARROW = "test accuracy at 128 neurons", "test accuracy at 64 neurons"
WEAK = 0.035


def _keys_by_group(runs: Iterable[GroupMeasurements]) -> dict[str, list[tuple[str, ...]]]:
    """Return the name of a group to the key representations of each of its networks that learned."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for m in filter(has_learned, one_at_a_time(runs)):
        found.setdefault(m.task.group, []).append(m.key_names)
    return found


def _sets(*runs: GroupMeasurements) -> dict[str, Value]:
    found = _keys_by_group(runs)
    return {
        SEVERAL: max(map(len, found.values()), default=0),
        "different sets of key representations": max(
            (len(set(sets)) for sets in found.values() if len(sets) > 1), default=0
        ),
    }


def _frequency(*runs: GroupMeasurements) -> dict[str, Value]:
    keys = [m.key_names for m in one_at_a_time(runs)]
    counts = {name: sum(name in names for names in keys) for name in ("sign", "standard", "(3, 1, 1)")}
    return {
        LEARN_SIGN: counts["sign"],
        LEARN_STANDARD: counts["standard"],
        LEARN_LARGEST: counts["(3, 1, 1)"],
    }


def _number(*runs: GroupMeasurements) -> dict[str, Value]:
    found = {group: [len(names) for names in sets] for group, sets in _keys_by_group(runs).items()}
    return {
        SEVERAL: max(map(len, found.values()), default=0),
        "key representations of S5 MLPs that learned": found.get("S5", math.nan),
        "different numbers of key representations": max((len(set(counts)) for counts in found.values()), default=0),
    }


def strong(m: GroupMeasurements) -> tuple[str, ...]:
    """Return the names of the representations whose similarity exceeds 0.05."""
    return tuple(rho.name for rho in m.keys if m.similarity(rho.name) > ORDER_SIMILARITY)


def _fewer(*runs: GroupMeasurements) -> dict[str, Value]:
    tasks = [m.task if m.spec is None else m.spec.task for m in runs]  # what its settings say, which may be shuffled
    strongs = [len(strong(m)) for m in one_at_a_time(runs)]
    rows = [(task.group, task.equals, n) for task, n in zip(tasks, strongs, strict=True) if isinstance(task, Group)]
    counts = {
        name: {kind: [count for *of, count in rows if of == [name, kind]] for kind in (True, False)}
        for name in ("C113", "D59")
    }
    both = [of for of in counts.values() if of[True] and of[False]]
    # before training no network has any, whatever its kind
    ratios = [mean(of[True]) / mean(of[False]) if any(of[False]) else math.nan for of in both]
    return {"strong representations of transformers over those of MLPs": ratios}


def _frequencies(m: GroupMeasurements, names: Iterable[str]) -> set[int]:
    """Return the frequencies of the rotations among some representations."""
    return {int(name.rpartition(" ")[2]) for name in names if name.startswith("frequency")}


def _weak(m: GroupMeasurements) -> list[bool]:
    """Return, for each key frequency with a similarity below 0.035, True if it is twice a strong frequency."""
    n = m.task.n // (2 if m.task.group.startswith("D") else 1)
    doubled = {min(2 * k % n, -2 * k % n) for k in _frequencies(m, strong(m))}
    return [k in doubled for k in _frequencies(m, (name for name in m.key_names if m.similarity(name) < WEAK))]


def _doubles(*runs: GroupMeasurements) -> dict[str, Value]:
    weak = [is_double for m in one_at_a_time(runs) if has_learned(m) for is_double in _weak(m)]
    return {"weak frequencies that are doubled strong ones, share": mean(weak) if weak else math.nan}


def _width(*runs: GroupMeasurements) -> dict[str, Value]:
    widest = max(m.config.d_mlp for m in runs)
    accuracies = {is_wide: [m["final_test_accuracy"] for m in runs if (m.config.d_mlp == widest) == is_wide]
                  for is_wide in (True, False)}  # fmt: skip
    return {WIDE: accuracies[True], NARROW: accuracies[False]}


CLAIMS = (
    Claim(
        id="groups.universality.set",
        where="section 6",
        statement="The seed decides which representations a network learns: networks share the algorithm, but not "
        "the representations (weak universality).",
        source_says=(
            "50 seeds of the S5 MLP learn 9 different sets of representations; seeds 1 to 4 learn 3 different sets"
        ),
        measure=_sets,
        given={SEVERAL: at_least(2, "the statement is about several networks of one recipe")},
        expected={
            "different sets of key representations": at_least(
                2, "in the released table 4 seeds learn 3 different sets of representations"
            )
        },
        needs=MLPS,
        scope="any seed",
        figure="prevalence",
        changed=(
            Change(
                date="2026-11-25",
                what="the networks whose sets of key representations are counted",
                before="only networks of S5 counted, and only one network of S5 was trained, hence there was one set of "
                "representations",
                now=(
                    "the networks of each group are counted separately; in at least one group, networks must "
                    "have two different sets of representations. In D59 and C113 all sets differ; in A5 both "
                    "networks have equal sets of key representations"
                ),
                why="the statement is about any group, and one network cannot show a difference between seeds",
            ),
        ),
    ),
    Claim(
        id="groups.universality.frequency",
        where="section 6",
        statement="Networks learn low-dimensional representations more often than high-dimensional representations, "
        "with exceptions.",
        source_says=(
            "of 50 seeds, 49 learn the representation sign, 49 standard, 18 (2, 2, 1), 17 standard x sign, 10 "
            "(3, 2) and 0 (3, 1, 1)"
        ),
        measure=_frequency,
        expected={
            LEARN_SIGN: at_least(2, "in the source 49 of 50 seeds learn this representation; we have three seeds"),
            LEARN_STANDARD: at_least(2, "in the source 49 of 50 seeds learn this representation; we have three seeds"),
            LEARN_LARGEST: equals(0, "in the source no seed of 50 learns this representation"),
        },
        needs=S5_MLP,
        figure="prevalence",
    ),
    Claim(
        id="groups.universality.number",
        where="section 6",
        statement="The number of representations that a network learns varies with the seed.",
        source_says="of 50 seeds, 20 learn two representations, 19 learn three, 9 learn four, 2 learn five",
        measure=_number,
        given={SEVERAL: at_least(2, "the statement is about several networks of one recipe")},
        expected={
            "key representations of S5 MLPs that learned": between(
                2, 5, "networks of 50 seeds learn 2 to 5 representations"
            ),
            "different numbers of key representations": at_least(
                2, "in 50 seeds the numbers 2, 3, 4 and 5 of representations all occur"
            ),
        },
        needs=MLPS,
        required=("groups/s5-mlp-[0-9]",),
        scope="any seed",
        figure="prevalence",
        changed=(
            Change(
                date="2026-11-25",
                what="the networks whose number of key representations counts",
                before=(
                    "only networks of S5 counted: the only S5 network had 4 key representations; the claim held, "
                    "and would have held even if this number never varied"
                ),
                now="networks of S5 must have 2 to 5 key representations, and the networks of at least one group "
                "must have two different numbers of them",
                why="one network cannot show that the number of key representations varies with the seed",
            ),
        ),
    ),
    Claim(
        id="groups.universality.arch",
        where="section 6",
        statement="Transformers use fewer representations than MLPs.",
        source_says=(
            "number of representations on C113: transformers 3, 4, 4, 3 and MLPs 8, 6, 9, 6; on D59: "
            "transformers 4, 3, 3, 5 and MLPs 8, 6, 7, 5"
        ),
        measure=_fewer,
        expected={
            "strong representations of transformers over those of MLPs": at_most(
                0.999, "in the released summaries transformers have 0.48 and 0.58 times as many representations as MLPs"
            )
        },
        needs=(*C113_MLP, *C113_T, *D59_MLP, *D59_T),
        required=("groups/c113-mlp-*", "groups/c113-t-*", "groups/d59-mlp-*", "groups/d59-t-*"),
        figure="prevalence",
        shuffled=True,
        control="also true of shuffled settings",
    ),
    Claim(
        id="groups.cyclic.doubles",
        where="not in the paper; counted in the released summaries",
        statement=(
            "Most weak frequencies of MLPs are twice a strong frequency: the ReLU makes such weak frequencies, "
            "which have no circuit of their own."
        ),
        source_says="all 18 weak frequencies on C113 are twice a strong frequency, and 15 of 16 on D59 (our count)",
        measure=_doubles,
        expected={
            "weak frequencies that are doubled strong ones, share": at_least(
                0.8, "in the released summaries 18 of 18 and 15 of 16 weak frequencies are twice a strong frequency"
            )
        },
        needs=(*C113_MLP, *D59_MLP),
        scope="any seed",
        figure="similarities",
        changed=(
            Change(
                date="2026-11-25",
                what="the weak frequencies over which the share is computed",
                before=(
                    "the share of weak frequencies that are twice a strong frequency was computed for each "
                    "network: one network was measured and met the tolerance, so the claim held"
                ),
                now=(
                    "the share of weak frequencies that are twice a strong frequency is computed over all "
                    "trained networks together: this share is 1, so the claim held"
                ),
                why="a network has one to five weak frequencies, too few to test whether at least four fifths of them are "
                "twice a strong frequency",
            ),
            Change(
                date="2026-11-28",
                what="the statement",
                before=(
                    "the statement said that weak frequencies are twice a strong frequency; of 29 weak "
                    "frequencies, 24 are twice a strong frequency"
                ),
                now="the statement says that most weak frequencies are twice a strong frequency",
                why="five of the 29 weak frequencies are not twice a strong frequency",
            ),
        ),
        # transformers, of which it is not said
        contrast=(*C113_T, *D59_T),
        control="also true of a contrast",
    ),
    Claim(
        id="groups.width",
        where="appendix",
        statement="Narrow networks generalise less often than wide networks.",
        source_says="networks generalise in 0 of 10 seeds with 32 neurons, 0 of 4 with 64 neurons, and 50 of 50 with "
        "128 neurons",
        measure=_width,
        expected={
            WIDE: at_least(0.99, "all 50 networks with 128 neurons generalise"),
            NARROW: at_most(0.99, "none of the 4 networks with 64 neurons generalises"),
        },
        needs=(*S5_MLP, *S5_NARROW),
        required=("groups/s5-mlp-[0-9]*", "groups/s5-mlp-width-64-*"),
    ),
)
