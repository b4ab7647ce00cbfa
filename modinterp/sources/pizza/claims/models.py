"""Claims on networks of constant and of softmax attention: the source's Model A and Model B."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import Finding, mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.pizza.claims.changes import MEDIAN_OF_ONE
from modinterp.sources.pizza.claims.conditions import (
    CIRCULAR,
    CIRCULAR_RUNS,
    CIRCULARITY,
    HAS_SOLVED,
    ROUND,
    SOLVED,
    SOLVED_RUNS,
    chosen_or_all,
    circular,
    circularity,
    middle,
    rate,
    solved,
)
from modinterp.sources.pizza.runs import ATTENTION, CONSTANT, SOFTMAX

GS, MEDIAN_GS = "gradient symmetricity", "median gradient symmetricity"
RELEASED_GS = "gradient symmetricity, the 100 triples of the released code"
DI_OF_SOLVED = "distance irrelevance of the runs that solve the task"
DI_WRONG_OF_SOLVED = f"{DI_OF_SOLVED}, largest wrong logit"
MEDIAN_DI = "median distance irrelevance"
GS_GAP = "least symmetricity with constant attention less largest with softmax attention"
DI_GAP = "least irrelevance with softmax attention less largest with constant attention, circular runs"
FREQUENCIES, SHARE = "frequencies with more than 2% of W_E", "their share of W_E"
ROUND_A, ROUND_B = "circular runs with constant attention", "circular runs with softmax attention"
LEAST_PURE = "least share at one frequency among the leading four components of circular runs"
PURITY = "least share at one frequency among the leading circles of circular runs"
SWINGING_HEADS = "heads that swing with one number at a time to 90%, and with one frequency to 60%"
BEST_FREQUENCY = "least share of one frequency in heads that vary with one number at a time"
NAN = float("nan")


def _unlike(*runs: CyclicMeasurements) -> dict[str, Value]:
    chosen = chosen_or_all(solved(runs), runs)
    found = [m.symmetricity_over_pairs for m in chosen]
    return {
        SOLVED_RUNS: len(solved(runs)),
        GS: found,
        MEDIAN_GS: middle(found),
        RELEASED_GS: [m.symmetricity_of_released_triples for m in chosen],
    }


def _independent(*runs: CyclicMeasurements) -> dict[str, Value]:
    chosen = chosen_or_all(solved(runs), runs)
    found = [m.irrelevance.correct for m in chosen]
    wrong = [m.irrelevance.largest_wrong for m in chosen]
    return {
        SOLVED_RUNS: len(solved(runs)),
        DI_OF_SOLVED: found,
        MEDIAN_DI: middle(found),
        DI_WRONG_OF_SOLVED: wrong,
    }


def _separate(*runs: CyclicMeasurements) -> dict[str, Value]:
    all_solved, all_circular = chosen_or_all(solved(runs), runs), chosen_or_all(circular(runs), runs)
    gs = {kind: [m.symmetricity_over_pairs for m in all_solved if rate(m) == kind] for kind in (0, 1)}
    di = {kind: [m.irrelevance.correct for m in all_circular if rate(m) == kind] for kind in (0, 1)}
    return {
        ROUND_A: sum(rate(m) == 0 for m in circular(runs)),
        ROUND_B: sum(rate(m) == 1 for m in circular(runs)),
        GS_GAP: min(gs[0], default=NAN) - max(gs[1], default=NAN),
        DI_GAP: min(di[1], default=NAN) - max(di[0], default=NAN),
    }


def _sparse(m: CyclicMeasurements) -> dict[str, Value]:
    strong = m.embedding_shares[m.embedding_shares > 0.02]
    return circularity(m) | {FREQUENCIES: len(strong), SHARE: float(strong.sum())}


def _circularity(*runs: CyclicMeasurements) -> dict[str, Value]:
    chosen = circular(runs)
    return {
        CIRCULARITY: [m.isolation.circularity.mean for m in runs],
        "share of runs with circularity of at least 0.995": (
            sum(m.isolation.circularity.mean >= ROUND for m in runs) / len(runs) if runs else NAN
        ),
        ROUND_A: sum(rate(m) == 0 for m in chosen),
        ROUND_B: sum(rate(m) == 1 for m in chosen),
        LEAST_PURE: [min(m.isolation.circularity.by_component) for m in chosen],
        PURITY: [min(one.purity for one in m.isolation.leading_components) for m in chosen],
    }


def _periodic(m: CyclicMeasurements) -> dict[str, Value]:
    linear = [best for of_one, best in m.attention_shares if of_one >= 0.9]
    return circularity(m) | {
        SWINGING_HEADS: sum(best >= 0.6 for best in linear),
        BEST_FREQUENCY: min(linear, default=NAN),
    }


_BOTH = (f"{CONSTANT[0][:-1]}*", f"{SOFTMAX[0][:-1]}*")
_ONE_OF_EACH = {
    name: at_least(1, "the statement is about circular networks with constant and with softmax attention")
    for name in (ROUND_A, ROUND_B)
}

CLAIMS = (
    Claim(
        id="pizza.modelA.gs",
        where="section 3.1",
        statement="With constant attention a logit has similar gradients with respect to the two embeddings.",
        source_says="the symmetricity is 0.99367 in the evaluation notebook, and 0.992 to 0.995 in the released table",
        measure=each(
            lambda m: {
                GS: m.symmetricity_over_pairs,
                RELEASED_GS: m.symmetricity_of_released_triples,
                "gradient symmetricity without the skip around attention": m.symmetricity_without_skip,
            }
        ),
        given=SOLVED,
        expected={GS: at_least(0.98, "the released Model A has a symmetricity of 0.9938 over 20,000 triples")},
        printed={RELEASED_GS: 0.99367},
        needs=CONSTANT,
        scope="any seed",
        figure="phases",
        control="also true of random labels",
    ),
    Claim(
        id="pizza.modelB.gs",
        where="section 3.1",
        statement="With softmax attention a logit has different gradients with respect to the two embeddings.",
        source_says="the symmetricity is 33.36% in Model B; in the released table its median is 0.451, and its deciles are 0.286 and 0.586",
        measure=_unlike,
        expected={
            GS: at_most(0.80, "the largest symmetricity is 0.598, in a network that is not circular"),
            MEDIAN_GS: at_most(0.65, "in the released table the median symmetricity is 0.451"),
        },
        given=HAS_SOLVED,
        needs=SOFTMAX,
        scope="any seed",
        control="also true before training",
        figure="phases",
    ),
    Claim(
        id="pizza.modelA.di",
        where="sections 3.2 and 4.1",
        statement="With constant attention, the correct logit depends on the distance a - b of the two numbers.",
        source_says="in the evaluation notebook the distance irrelevance is 0.1717",
        measure=each(circularity),
        given=CIRCULAR,
        expected={
            "distance_irrelevance": at_most(
                0.60,
                "the tolerance is for circular networks; in the released table the median distance "
                "irrelevance of all networks is 0.36",
            )
        },
        reported=("distance_irrelevance_wrong",),
        needs=CONSTANT,
        scope="any seed",
        finding=Finding(
            "holds",
            (
                "Only in attention-0-1 are the embedding's principal components circles; attention-0-1 has a distance irrelevance of 0.42. Networks with constant attention whose principal components are not circles have distance irrelevances of 0.19 to 0.27; the statement does not cover such networks."
            ),
        ),
        changed=(MEDIAN_OF_ONE,),
        figure="distance",
    ),
    Claim(
        id="pizza.modelA.di.median",
        where="sections 3.2 and 4.1",
        statement="In networks with constant attention, the correct logit depends mostly on the distance a - b, judged by the median distance irrelevance.",
        source_says="in the evaluation notebook the distance irrelevance is 0.1717",
        measure=lambda *runs: {
            CIRCULAR_RUNS: len(circular(runs)),
            MEDIAN_DI: middle([m.irrelevance.correct for m in chosen_or_all(circular(runs), runs)]),
        },
        given={
            CIRCULAR_RUNS: at_least(3, "the statement is about the median of networks whose components are circles")
        },
        expected={MEDIAN_DI: at_most(0.40, "the released Model A has a distance irrelevance of 0.17")},
        needs=CONSTANT,
        scope="any seed",
        finding=Finding(
            "open",
            "Among our networks, only attention-0-1 has principal components that are circles. The distance irrelevance of attention-0-1, 0.42, is above the tolerance for the median distance irrelevance of circular networks.",
            reason="does not apply",
        ),
        changed=(MEDIAN_OF_ONE,),
        figure="distance",
    ),
    Claim(
        id="pizza.modelB.di",
        where="sections 3.2 and 4.1",
        statement="With softmax attention, the correct logit hardly depends on the distance a - b of the two numbers.",
        source_says="the distance irrelevance is 0.85",
        measure=_independent,
        expected={
            DI_OF_SOLVED: at_least(
                0.55,
                "in the released table the lower decile of the distance irrelevance of the largest wrong "
                "logit is 0.713",
            ),
            MEDIAN_DI: at_least(0.65, "the released Model B has a distance irrelevance of 0.85"),
        },
        given=HAS_SOLVED,
        needs=SOFTMAX,
        scope="any seed",
        control="also true before training",
        figure="distance",
    ),
    Claim(
        id="pizza.separate",
        where="ours, from section 3",
        statement="Gradient symmetricity and distance irrelevance each separate networks with constant attention "
        "from networks with softmax attention, without overlap.",
        source_says="symmetricity and distance irrelevance are 0.994 and 0.17 (constant attention), 0.334 and 0.85 (softmax), and 0.598 and 0.897 (a third network)",
        measure=_separate,
        given=_ONE_OF_EACH,
        expected={
            GS_GAP: at_least(1e-9, "the values for constant attention and for softmax attention should not overlap"),
            DI_GAP: at_least(1e-9, "the values for constant attention and for softmax attention should not overlap"),
        },
        needs=(*CONSTANT, *SOFTMAX),
        required=_BOTH,
        scope="any seed",
        figure="phases",
    ),
    Claim(
        id="pizza.embed.sparse",
        where="section 2.1, figure 2",
        statement="The embeddings of the numbers lie on a few circles.",
        source_says="the released Model A has six circles, and Model B has four",
        measure=each(_sparse),
        given=SOLVED,
        expected={
            FREQUENCIES: between(2, 8, "the released networks have six and four circles"),
            SHARE: at_least(0.95, "each circle of the released networks has 0.99 of its energy at one frequency"),
        },
        needs=(*CONSTANT, *SOFTMAX),
        scope="any seed",
        figure="components",
        finding=mixed(),
    ),
    Claim(
        id="pizza.circularity",
        where="section 4.1, appendix",
        statement="In some runs, but not in all, the leading principal components of the embedding form circles.",
        source_says="the circularity of Model A is 0.99782; in the released table 27% to 39% of the runs that solve the task are circular",
        measure=_circularity,
        expected={
            "share of runs with circularity of at least 0.995": between(
                0.1, 0.9, "in the released table 0.27 to 0.39 of the networks are circular; we have few seeds"
            ),
            ROUND_A: at_least(1, "in the released table 39% of the runs with constant attention are circular"),
            ROUND_B: at_least(1, "in the released table 37% of the runs with softmax attention are circular"),
        },
        needs=(*CONSTANT, *SOFTMAX),
        required=_BOTH,
        scope="any seed",
        figure="components",
    ),
    Claim(
        id="pizza.noncircular",
        where="section 4.4",
        statement="Networks whose embedding has principal components that are not circles still use few "
        "frequencies, which are mixed in the components.",
        source_says="in a released network of circularity 0.734, four frequencies hold 0.974 of the embedding",
        measure=each(_sparse),
        given=SOLVED | {CIRCULARITY: at_most(0.9, "the statement is about networks whose components are not circles")},
        expected={
            FREQUENCIES: between(1, 8, "the embedding of the released network has four frequencies"),
            SHARE: at_least(0.90, "in the released network four frequencies hold 0.974 of the embedding"),
        },
        needs=ATTENTION,
        scope="any seed",
        finding=mixed(),
    ),
    Claim(
        id="pizza.attention.periodic",
        where="ours, after Nanda et al. 2023, section 4.1",
        statement="With softmax attention, each head's attention varies with a and with b separately, and at one "
        "frequency.",
        source_says="in the released Model B separate functions of a and b explain 0.986 to 0.988 of each head's attention, and one frequency explains 0.977 to 0.982",
        measure=each(_periodic),
        given=CIRCULAR,
        expected={
            SWINGING_HEADS: at_least(
                3, "in Model B one frequency explains 0.977 and more of the attention of all four heads"
            ),
        },
        reported=(BEST_FREQUENCY,),
        needs=SOFTMAX,
        scope="any seed",
        finding=Finding(
            "holds",
            "In attention-1-2, the attention of three heads varies with one frequency, which has a share of 0.855 and more. In attention-1-2, the attention of the fourth head has two frequencies, with shares of 0.51 and 0.37.",
        ),
        changed=(
            Change(
                date="2026-11-25",
                was="refuted",
                what="the heads that must have one frequency",
                before=(
                    "every head whose attention varies with one number at a time had to have one frequency; in "
                    "attention-1-2, one head's main frequency has a share of only 0.51, so the claim was refuted"
                ),
                now=(
                    "three heads must have one frequency, as many as must vary with one number at a time; in attention-1-2 "
                    "three of the four heads have one frequency"
                ),
                why=(
                    "the statement that we wrote before measuring allows one head of four to differ; before the change, only "
                    "the condition on varying heads, not the condition on frequencies, used this allowance"
                ),
            ),
        ),
    ),
)
