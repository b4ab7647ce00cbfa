"""Claims of sections 1 and 4.4 and figure 6: loss and accuracy when parts of the computation are removed."""

from __future__ import annotations

from functools import cache

from modinterp.activations import logits_on_grid
from modinterp.analyses.fourier.ablations import (
    Terms,
    excluded_logits,
    part_at,
    restricted_embedding,
    restricted_logits,
)
from modinterp.claims.band import Band, at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Measure, Value
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.trainings import settled_alone
from modinterp.sources.nanda.runs import MAIN

LOSS = "ablated loss"
LOSS_RATIO = "loss over original"
TEST_LOSS_RATIO = "test loss over original"
ACCURACY = "ablated accuracy"
OTHER_FREQUENCIES = "share of frequencies that are others"
OTHER_COMPONENTS = "share of components of one number that are others"
WITH_MEAN = {name: f"{name}, skip around the MLP at its mean" for name in (LOSS, LOSS_RATIO)}
N_HARMFUL = "frequencies without which the loss is tenfold"
N_HARMLESS = "frequencies without which the loss is 1.5-fold at most"

WORKS: dict[str, Band] = {ACCURACY: at_least(0.999, "removing other frequencies leaves the paper's accuracy at 1")}
COUNTED: dict[str, Terms] = {"4 products": "products", "2 waves of a + b": "sums"}
SMALLEST_KEY_RATIO = {terms: f"smallest ratio, key frequencies ({name})" for name, terms in COUNTED.items()}
LARGEST_OTHER_RATIO = {terms: f"largest ratio, all others ({name})" for name, terms in COUNTED.items()}
RATIO_WITH_TERMS: dict[Terms, str] = {
    "polynomial": "loss over original, 8 terms a frequency",
    "products": "loss over original, 4 terms a frequency",
    "sums": "loss over original, 2 terms a frequency",
}
LOSS_WITH_TERMS: dict[Terms, str] = {
    "polynomial": "loss, 8 terms a frequency",
    "products": "loss, 4 terms a frequency",
    "sums": "restricted_loss",
}
RATIO_ALONE = {terms: f"{name}, without the constant" for terms, name in RATIO_WITH_TERMS.items()}
LOSS_ALONE = {terms: name.replace("loss over original", "loss") for terms, name in RATIO_ALONE.items()}
SOLVED: dict[str, Band] = {"accuracy": at_least(0.999, "the paper ablates a network that solves the task")}


@cache
def intervention(name: str) -> Measure:
    """Return a measuring function for the loss and accuracy under one intervention of `m.ablations`."""

    def measure(m: CyclicMeasurements) -> dict[str, Value]:
        ablation = m.ablated(name)
        return {
            LOSS_RATIO: ablation.loss_ratio,
            TEST_LOSS_RATIO: ablation.test_loss_ratio,
            LOSS: ablation.loss,
            ACCURACY: ablation.accuracy,
        }

    return measure


@cache
def _projection(name: str) -> Measure:
    """Return the measure of an intervention, and the same with the mean in place of what goes around the MLP."""

    def measure(m: CyclicMeasurements) -> dict[str, Value]:
        without_skip = m.ablated_without_skip(name)
        return {
            **intervention(name)(m),
            WITH_MEAN[LOSS_RATIO]: without_skip.loss_ratio,
            WITH_MEAN[LOSS]: without_skip.loss,
        }

    return measure


def _each_frequency(m: CyclicMeasurements) -> dict[str, Value]:
    numbers: dict[str, Value] = {}
    for terms in COUNTED.values():
        ratios = dict(enumerate((m.loss_without_each[terms] / m.ablated("original").loss).tolist(), start=1))
        numbers[SMALLEST_KEY_RATIO[terms]] = min(ratios[k] for k in m.freqs)
        numbers[LARGEST_OTHER_RATIO[terms]] = max(ratio for k, ratio in ratios.items() if k not in m.freqs)
        if terms == "products":
            numbers[N_HARMFUL] = sum(ratio >= 10 for ratio in ratios.values())
            numbers[N_HARMLESS] = sum(ratio <= 1.5 for ratio in ratios.values())
    return numbers


def _key_only(m: CyclicMeasurements) -> dict[str, Value]:
    left = {terms: m.changed(restricted_logits(m.logits, m.freqs, terms)) for terms in RATIO_WITH_TERMS}
    alone = {terms: m.changed(part_at(m.logits, m.freqs, terms)) for terms in RATIO_WITH_TERMS}
    in_embedding = m.changed(logits_on_grid(restricted_embedding(m.model, m.p, m.freqs), m.task))
    return {
        **{RATIO_WITH_TERMS[terms]: ablation.loss_ratio for terms, ablation in left.items()},
        **{LOSS_WITH_TERMS[terms]: ablation.loss for terms, ablation in left.items() if terms != "sums"},
        **{RATIO_ALONE[terms]: ablation.loss_ratio for terms, ablation in alone.items()},
        **{LOSS_ALONE[terms]: ablation.loss for terms, ablation in alone.items()},
        "loss over original, taken out of W_E": in_embedding.loss_ratio,
        "accuracy, taken out of W_E": in_embedding.accuracy,
    }


def _keys_and_others(m: CyclicMeasurements) -> dict[str, Value]:
    without_keys = m.changed(excluded_logits(m.logits, m.freqs, "products"))
    without_others = m.changed(restricted_logits(m.logits, m.freqs, "products"))
    return {
        "loss without key frequencies": without_keys.loss,
        "loss over original, without all others": without_others.loss_ratio,
        OTHER_FREQUENCIES: 1 - len(m.freqs) / (m.p // 2),
        OTHER_COMPONENTS: 1 - 2 * len(m.freqs) / m.p,
        "share of components of two numbers that are others": 1 - 8 * len(m.freqs) / m.p**2,
    }


CLAIMS = (
    Claim(
        id="nanda.s44.neuron_poly",
        where="section 4.4",
        statement="Replacing each explained neuron by its polynomial of degree two hardly changes the loss.",
        source_says="2.41e-7 to 2.48e-7 (+3%)",
        measure=intervention("neurons as polynomials"),
        printed={
            "loss": 2.41e-7,
            "test_loss": 2.41e-7,
            LOSS_RATIO: 1.03,
            TEST_LOSS_RATIO: 1.03,
            LOSS: 2.48e-7,
        },
        expected={
            LOSS_RATIO: at_most(2, "the paper's ratio of losses, with polynomials over without, is 1.03"),
            **WORKS,
        },
        behaviour=tuple(WORKS),
        needs=(MAIN,),
        figure="interventions",
        finding=mixed(
            "With polynomials in place of neurons, the test loss hardly changes or falls in some networks. In "
            "other networks the test loss with polynomials in place of neurons is several times the original "
            "test loss."
        ),
        control="also true before training",
    ),
    Claim(
        id="nanda.s44.neuron_strict",
        where="section 4.4",
        statement="Reducing each neuron to its waves of a + b at the key frequencies lowers the loss.",
        source_says="loss 5.54e-8, 0.23 times the original loss",
        measure=intervention("neurons as waves of the answer"),
        printed={LOSS_RATIO: 0.23, TEST_LOSS_RATIO: 0.23, LOSS: 5.54e-8},
        expected={LOSS_RATIO: at_most(1, "the claim only says that the test loss falls"), **WORKS},
        behaviour=tuple(WORKS),
        needs=(MAIN,),
        finding=mixed(),
        figure="interventions",
        control="also true before training",
    ),
    Claim(
        id="nanda.fig6.per_freq",
        where="section 4.4, figure 6",
        statement=(
            "Removing any one key frequency from the logits raises the loss a lot; removing any other frequency "
            "from the logits does no harm."
        ),
        source_says="figure 6 has 5 high bars (key frequencies) and 51 bars at the baseline",
        measure=_each_frequency,
        printed={N_HARMFUL: 5, N_HARMLESS: 51},
        by_selection=(N_HARMFUL, N_HARMLESS),
        expected={
            **{
                name: at_least(10, "without a key frequency the loss rises by orders of magnitude in figure 6")
                for name in SMALLEST_KEY_RATIO.values()
            },
            **{
                name: at_most(1.5, "in figure 6 the bars of the other frequencies are at or below the baseline")
                for name in LARGEST_OTHER_RATIO.values()
            },
        },
        needs=(MAIN,),
        figure="ablations",
        finding=mixed(),
        changed=settled_alone("removing one frequency that is not key from the logits gives 2.4 times the loss"),
    ),
    Claim(
        id="nanda.s44.keep_key_only",
        where="section 4.4, figure 6",
        statement=(
            "Keeping only the key frequencies in the logits lowers the loss, however the components of a "
            "frequency are counted."
        ),
        source_says="loss 7.24e-8, 0.30 times the original loss",
        measure=_key_only,
        printed={
            **dict.fromkeys((*RATIO_WITH_TERMS.values(), *RATIO_ALONE.values()), 0.30),
            **dict.fromkeys((*LOSS_WITH_TERMS.values(), *LOSS_ALONE.values()), 7.24e-8),
        },
        outside={
            LOSS_WITH_TERMS["sums"]: (
                "our definition differs: for this loss the paper counts 40 components, 8 for each key frequency"
            )
        },
        expected={
            **{name: at_most(1, "the claim only says that the test loss falls") for name in RATIO_WITH_TERMS.values()},
            **SOLVED,
        },
        needs=(MAIN,),
        figure="ablations",
        control="also true before training",
        finding=mixed(),
    ),
    Claim(
        id="nanda.abstract.other95",
        where="section 1",
        statement=(
            "Without the key frequencies in its logits the network is at chance or worse. Without all other "
            "frequencies in its logits (91% of all frequencies, not 95%) the network's loss is slightly lower."
        ),
        source_says="chance is ln 113 = 4.73; without the other 95% of the frequencies the loss improves",
        measure=_keys_and_others,
        printed={OTHER_FREQUENCIES: 0.95, OTHER_COMPONENTS: 0.95},
        outside=dict.fromkeys(
            (OTHER_FREQUENCIES, OTHER_COMPONENTS),
            "51 of the paper's 56 frequencies are not key frequencies, which is 91%",
        ),
        by_selection=(OTHER_FREQUENCIES, OTHER_COMPONENTS),
        expected={
            "loss without key frequencies": at_least(4.73, "the loss of guessing is ln 113"),
            "loss over original, without all others": at_most(1, "the claim only says that the test loss falls"),
            **SOLVED,
        },
        needs=(MAIN,),
        figure="ablations",
        control="also true before training",
        finding=mixed(),
    ),
    Claim(
        id="nanda.s44.wl_project",
        where="section 4.4",
        statement="Projecting the neurons onto the directions of W_L at key frequencies does not raise the loss.",
        source_says="loss 1.19e-7, 0.49 times the original loss",
        measure=_projection("neurons onto W_L directions"),
        printed={
            **dict.fromkeys((LOSS_RATIO, TEST_LOSS_RATIO, WITH_MEAN[LOSS_RATIO]), 0.49),
            **dict.fromkeys((LOSS, WITH_MEAN[LOSS]), 1.19e-07),
        },
        outside=dict.fromkeys(
            (LOSS_RATIO, TEST_LOSS_RATIO, WITH_MEAN[LOSS_RATIO], LOSS, WITH_MEAN[LOSS]),
            "the cause is unknown: in our networks the projection hardly changes the loss, and no variant "
            "halves the loss",
        ),
        expected={LOSS_RATIO: at_most(2, "the loss ratio is 0.49 in the paper, 1.09 in an archived network"), **WORKS},
        behaviour=tuple(WORKS),
        needs=(MAIN,),
        figure="interventions",
        finding=mixed(),
        control="also true before training",
    ),
    Claim(
        id="nanda.s44.wl_nullspace",
        where="section 4.4",
        statement=(
            "Removing the directions of W_L from the neurons destroys the answer: the loss is worse than guessing."
        ),
        source_says="loss 5.27, more than the loss of guessing (ln 113)",
        measure=_projection("neurons off W_L directions"),
        printed={LOSS: 5.27, WITH_MEAN[LOSS]: 5.27},
        expected={
            LOSS: at_least(4.5, "the loss is 5.27 in the paper, and 5.73 in an archived network of the authors"),
            **SOLVED,
        },
        needs=(MAIN,),
        finding=mixed(
            "In most networks the loss without the W_L directions is slightly below that of guessing, since the "
            "skip around the MLP also writes to logits. With the skip around the MLP at its mean, the loss "
            "without the W_L directions is 5.4 in our main network (paper: 5.27)."
        ),
        figure="interventions",
        control="also true before training",
    ),
)
