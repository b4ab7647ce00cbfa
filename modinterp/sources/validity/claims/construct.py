"""Claims on construct validity: whether our measurement measures the named concept."""

from __future__ import annotations

from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed
from modinterp.interventions.turning import doubles
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.validity.runs import SOLVED, UNSOLVED, WITH_NEURONS
from modinterp.sources.validity.turns import HALF, SEEN, causal, circles_between, circles_by_method, half_turn


def _half_turn_of_keys(m: CyclicMeasurements) -> dict[str, Value]:
    turned = m.causal.turned(freqs=m.freqs)
    return {"half turn of the key circles: the answer moves by one": turned.moved, "formula kept": turned.kept}


def _structure(m: CyclicMeasurements) -> dict[str, Value]:
    falls = m.causal.without_each["margin lost"]
    others = falls[~falls.index.isin(m.freqs)]
    strongest, weakest_key = int(others.idxmax()), float(falls[falls.index.isin(m.freqs)].min())
    return {
        "strongest other circle is twice a key, or costs next to nothing": (
            strongest in doubles(m.freqs, m.p) or float(others.max()) < 0.05 * weakest_key
        ),
        "strongest other circle": strongest,
    }


def _convergence(m: CyclicMeasurements) -> dict[str, Value]:
    sets = circles_by_method(m)
    weights, activations, behaviour = (set(sets[name]) for name in ("weights", "activations", "behaviour"))
    pairs = ((weights, activations), (weights, behaviour), (activations, behaviour))
    return {
        "agreement of weights, activations and answers, least": min(jaccard(x, y) for x, y in pairs),
        "keys that cost over a tenth of the strongest circle, share": (
            len(weights & set(sets["removal"])) / max(len(weights), 1)
        ),
        "agreement with the circles of W_E": jaccard(weights, set(sets["embedding"])),
    }


def _complementation(m: CyclicMeasurements) -> dict[str, Value]:
    crossed, pairs = causal(m).crossed
    return {
        "pairs of circles that tell other answers apart, share": crossed / pairs if pairs else float("nan"),
        "pairs of circles": pairs,
    }


CLAIMS = (
    Claim(
        id="validity.C2.structure",
        reported=("strongest other circle",),
        where="C2, structure",
        statement=(
            "The neuron-to-logit matrix W_L is sparse in the Fourier basis; matrices without structure are not "
            "sparse. Of the embedding's circles outside the key frequencies, the circle whose removal has the "
            "largest effect has twice a key frequency."
        ),
        source_says="confirmed: the audit demands that weights show the structure that the theory predicts",
        measure=each(_structure),
        expected={
            "p_value_gap": at_most(0.01, "we compare W_L with the sparsest of three matrices without structure"),
            "strongest other circle is twice a key, or costs next to nothing": equals(
                1,
                "a nonlinearity doubles frequencies; otherwise removing the circle must cost under 5% of "
                f"the margin that a key circle costs; {SEEN}",
            ),
        },
        needs=WITH_NEURONS,
        scope="any seed",
    ),
    Claim(
        id="validity.C3.convergence",
        reported=("agreement with the circles of W_E",),
        where="C3, convergence",
        statement=(
            "The weights, the activations and the answers each identify the same circles, and removing any of "
            "these circles lowers the margin of the right logit."
        ),
        source_says="partial: all of the audited methods were Fourier ablations",
        measure=each(_convergence),
        expected={
            "agreement of weights, activations and answers, least": at_least(
                0.8, "the Jaccard index (overlap) of the sets should be high; one circle in five may differ"
            ),
            "keys that cost over a tenth of the strongest circle, share": equals(
                1,
                "a key circle whose removal costs under a tenth of the margin that the strongest circle "
                "costs refutes the claim",
            ),
        },
        needs=WITH_NEURONS,
        scope="any seed",
    ),
    Claim(
        id="validity.C4.discriminant",
        reported=("formula kept",),
        where="C4, discriminant",
        statement=(
            "Rotating the embedding's circles by half a step, to angles without a token, changes the answer by "
            "one. Every circle is used by a Clock or by a Pizza algorithm; no circle lies between Clock and "
            "Pizza."
        ),
        source_says="partial: the audit demands a named rival mechanism, and a number that excludes it",
        measure=each(
            lambda m: {
                HALF: half_turn(m).moved,
                "circles between Clock and Pizza": circles_between(m),
                "formula kept": half_turn(m).kept,
            }
        ),
        expected={
            HALF: at_least(
                0.95, "a network that is a lookup table of tokens has no answer for a rotation by half a step"
            ),
            "circles between Clock and Pizza": equals(
                0, "a circle with a share below 0.25 counts as a Clock, and above 0.75 as a Pizza"
            ),
        },
        needs=SOLVED,
        scope="any seed",
        figure="doses",
        finding=mixed(
            "In the networks other-draw-2 and c113-t-2, one circle is neither clearly a Clock nor clearly a Pizza."
        ),
    ),
    Claim(
        id="validity.C6.complementation",
        reported=("pairs of circles",),
        where="C6, complementation",
        statement=(
            "Of any two circles that the network uses, each separates some answers that the other circle does not "
            "separate."
        ),
        source_says="untested: the audit treated all frequencies as equal",
        measure=each(_complementation),
        expected={
            "pairs of circles that tell other answers apart, share": at_least(
                0.9, "at least nine in ten pairs of circles should separate different answers"
            )
        },
        needs=WITH_NEURONS,
        scope="any seed",
        control="also true after memorising",
    ),
    Claim(
        id="validity.C4.memorised",
        reported=("formula kept",),
        where="C4, discriminant",
        statement=(
            "In networks that memorise without generalising, rotating the embedding's circles by half a step "
            "does not change answers by one."
        ),
        source_says="partial: the audit demands a named rival mechanism, and a number that excludes it",
        measure=each(_half_turn_of_keys),
        expected={
            "half turn of the key circles: the answer moves by one": at_most(
                0.05, "by chance one answer in p changes by one"
            )
        },
        needs=UNSOLVED,
        scope="any seed",
        control="also true before training",
    ),
)
