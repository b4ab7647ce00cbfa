"""Sections 1 and 4.4 and figure 6: what the network loses, or gains, when parts of the computation are taken out."""

from __future__ import annotations

from typing import cast

from modinterp.activations import logits_on_grid
from modinterp.analyses.ablations import Terms, excluded_logits, restricted_embedding, restricted_logits
from modinterp.claims.band import Band, at_least, at_most
from modinterp.claims.claim import Claim, Measure, Value, refuted
from modinterp.claims.evidence import evidence
from modinterp.models import Network
from modinterp.runs import TrainedRun

WORKS: dict[str, Band] = {"accuracy": at_least(0.999, "unchanged from 1 in the paper")}
COUNTED: dict[str, Terms] = {"4 products": "products", "2 waves of a + b": "sums"}
SOLVED: dict[str, Band] = {"accuracy before": at_least(0.999, "the paper ablates a network that solves the task")}


def intervention(name: str) -> Measure:
    """Measure what one of the interventions of `modinterp.analyses.components` leaves."""

    def measure(run: TrainedRun) -> dict[str, Value]:
        ev = evidence(run)
        row = ev.ablated(name)
        return {
            "loss over original": row.loss_ratio,
            "test loss over original": row.test_loss_ratio,
            "loss": row.loss,
            "accuracy": row.accuracy,
            "accuracy before": ev.accuracy,
        }

    return measure


def _each_frequency(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    found: dict[str, Value] = {}
    for name, terms in COUNTED.items():
        ratios = dict(enumerate((ev.loss_without_each[terms] / ev.ablated("original").loss).tolist(), start=1))
        found[f"smallest ratio, key frequencies ({name})"] = min(ratios[k] for k in ev.freqs)
        found[f"largest ratio, all others ({name})"] = max(ratio for k, ratio in ratios.items() if k not in ev.freqs)
    return found


def _key_only(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    counts: dict[str, Terms] = {"8": "polynomial", "4": "products", "2": "sums"}
    rows = {n: ev.changed(restricted_logits(ev.logits, ev.freqs, terms)) for n, terms in counts.items()}
    in_embedding = ev.changed(
        logits_on_grid(restricted_embedding(cast(Network, ev.grid.model), ev.p, ev.freqs), ev.task)
    )
    return {
        **{f"loss over original, {n} terms a frequency": row.loss_ratio for n, row in rows.items()},
        "loss over original, taken out of W_E": in_embedding.loss_ratio,
        "accuracy, taken out of W_E": in_embedding.accuracy,
        "accuracy before": ev.accuracy,
    }


def _keys_and_others(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    without_keys = ev.changed(excluded_logits(ev.logits, ev.freqs, "products"))
    without_others = ev.changed(restricted_logits(ev.logits, ev.freqs, "products"))
    return {
        "loss without key frequencies": without_keys.loss,
        "loss over original, without all others": without_others.loss_ratio,
        "share of frequencies that are others": 1 - len(ev.freqs) / (ev.p // 2),
        "share of components of one number that are others": 1 - 2 * len(ev.freqs) / ev.p,
        "share of components of two numbers that are others": 1 - 8 * len(ev.freqs) / ev.p**2,
        "accuracy before": ev.accuracy,
    }


CLAIMS = (
    Claim(
        "nanda.s44.neuron_poly",
        "section 4.4",
        "Replacing each explained neuron by its polynomial of degree two hardly changes the loss.",
        "2.41e-7 to 2.48e-7 (+3%)",
        intervention("neurons as polynomials"),
        {"loss over original": at_most(2, "1.03 in the paper"), **WORKS},
        figure="interventions",
    ),
    Claim(
        "nanda.s44.neuron_strict",
        "section 4.4",
        "Keeping of each neuron only its waves of a + b at the key frequencies improves the loss.",
        "5.54e-8, ratio 0.23",
        intervention("neurons as waves of a + b"),
        {"loss over original": at_most(1, "the direction is the claim"), **WORKS},
        figure="interventions",
    ),
    Claim(
        "nanda.fig6.per_freq",
        "section 4.4, figure 6",
        "Taking any one key frequency out of the logits raises the loss a lot; taking out any other does no harm.",
        "5 bars high, 51 at the baseline",
        _each_frequency,
        {
            **{
                f"smallest ratio, key frequencies ({n})": at_least(10, "orders of magnitude in figure 6")
                for n in COUNTED
            },
            **{
                f"largest ratio, all others ({n})": at_most(1.5, "at or below the baseline in figure 6")
                for n in COUNTED
            },
        },
        figure="ablations",
    ),
    Claim(
        "nanda.s44.keep_key_only",
        "section 4.4, figure 6",
        "Taking out everything but the key frequencies improves the loss, however their components are counted.",
        "7.24e-8, ratio 0.30",
        _key_only,
        {
            **{f"loss over original, {n} terms a frequency": at_most(1, "the direction is the claim") for n in "842"},
            **SOLVED,
        },
        figure="ablations",
    ),
    Claim(
        "nanda.abstract.other95",
        "section 1",
        "Without the key frequencies the network is at chance or below; without all others it is slightly better. The others are 91% of the frequencies, not 95%.",
        "chance, ln 113 = 4.73; improved",
        _keys_and_others,
        {
            "loss without key frequencies": at_least(4.73, "chance, ln 113"),
            "loss over original, without all others": at_most(1, "the direction is the claim"),
            **SOLVED,
        },
        figure="ablations",
    ),
    Claim(
        "nanda.s44.wl_project",
        "section 4.4",
        "Projecting the neurons onto the directions that W_L reads loses nothing.",
        "1.19e-7, ratio 0.49",
        intervention("neurons onto W_L directions"),
        {"loss over original": at_most(2, "0.49 in the paper, 1.09 in an archived network"), **WORKS},
        figure="interventions",
    ),
    Claim(
        "nanda.s44.wl_nullspace",
        "section 4.4",
        "Projecting the neurons off the directions that W_L reads leaves nothing: worse than guessing.",
        "5.27, more than ln 113",
        intervention("neurons off W_L directions"),
        {"loss": at_least(4.5, "5.27 in the paper, 5.73 in an archived network"), **SOLVED},
        figure="interventions",
        finding=refuted(
            "4.13, a little better than guessing, with 14% of the pairs right: in this network the path around the MLP writes something of the answer to the logits by itself"
        ),
    ),
)
