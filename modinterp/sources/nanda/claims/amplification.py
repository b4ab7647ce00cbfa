"""Claims on training (sections 1 and 6; appendices C.2, D.2 and E.1): a circuit grows and memorisation vanishes, both
smoothly.
"""

from __future__ import annotations

import numpy as np
import torch

from modinterp.analyses.fourier.ablations import loss_on
from modinterp.analyses.training.curves import rank_correlation, slingshots
from modinterp.analyses.training.phases import first_epoch, value_at
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.trainings import curve
from modinterp.sources.nanda.runs import MAIN, SEEDS

RANK_CORRELATION = "rank correlation with the excluded loss"
UNTIL_T3 = f"{RANK_CORRELATION}, until the end of cleanup"


def _slingshots(*runs: CyclicMeasurements) -> dict[str, Value]:
    springs = [slingshots(curve(m, "epoch"), curve(m, "train_loss")) for m in runs]
    before = [int((epochs < m.grokking.grokked).sum()) for m, epochs in zip(runs, springs, strict=True)]
    return {
        "slingshots of the main network before it groks": before[0],
        "networks that grok without one": sum(m.grokking.delayed and not n for m, n in zip(runs, before, strict=True)),
    }


def _scaled(m: CyclicMeasurements) -> dict[str, Value]:
    logits, answers = m.logits.flatten(0, 1).double(), m.labels.to(m.logits.device)
    others = logits.scatter(1, answers, -torch.inf).max(dim=1).values
    loss = {scale: loss_on(scale * m.logits, m.labels) for scale in (1, 1.1, 1.5)}
    return {
        "loss at logits times 1.1 over loss": loss[1.1] / loss[1],
        "loss at 1.5 over loss at 1.1": loss[1.5] / loss[1.1],
        "smallest margin [logits]": float((logits.gather(1, answers)[:, 0] - others).min()),
    }


def _smaller(m: CyclicMeasurements) -> dict[str, Value]:
    table, t1, t2 = m.progress, m.phases.memorisation_ended, m.phases.formed
    end = table.iloc[-1]
    plateau = float(table["train_loss"][table["epoch"].between(t1, t2)].median())
    return {
        "squared weights at the end over t1": (
            float(end["sum_of_squared_weights"]) / value_at(table, t1, "sum_of_squared_weights")
        ),
        "train loss at the end over its plateau": float(end["train_loss"]) / plateau,
    }


def _largest_exclusion(m: CyclicMeasurements) -> dict[str, Value]:
    both = m.largest_exclusion.merge(m.progress, on="epoch", suffixes=("_largest", "_keys"))
    until_t3 = both[both["epoch"] <= m.phases.cleaned]
    columns = ("excluded_loss_train_largest", "excluded_loss_train_keys")
    return {
        RANK_CORRELATION: rank_correlation(*(both[c].tolist() for c in columns)),
        UNTIL_T3: rank_correlation(*(until_t3[c].tolist() for c in columns)),
        "correlation of the logarithms of both": float(np.log(both[columns[0]]).corr(np.log(both[columns[1]]))),
    }


def _in_cleanup(m: CyclicMeasurements) -> dict[str, Value]:
    coefficients = [column for column in m.progress if column.startswith("cos_")]
    table = m.progress.assign(total=m.progress[coefficients].sum(axis=1))
    half = first_epoch(table["epoch"], table["test_accuracy"] >= 0.5)
    return {
        "restricted accuracy when half the test pairs are right": value_at(table, half, "restricted_accuracy"),
        "sum of the coefficients then, over its final value": (
            value_at(table, half, "total") / float(table["total"].iloc[-1])
        ),
    }


CLAIMS = (
    Claim(
        id="nanda.s1.grok_in_cleanup",
        where="sections 1, 5.2 and 6",
        statement=(
            "When test accuracy jumps, the circuit that adds by key frequencies already exists. In grokking the "
            "circuit that generalises grows gradually, and then memorised answers are removed; grokking is not a "
            "chance discovery."
        ),
        source_says="none printed",
        measure=each(_in_cleanup),
        expected={
            "restricted accuracy when half the test pairs are right": at_least(
                0.95, "in figure 13 the circuit alone answers almost all pairs by then"
            ),
            "sum of the coefficients then, over its final value": at_least(
                0.5, "in figure 14 most of the growth of the coefficients is over by then"
            ),
        },
        behaviour=("restricted accuracy when half the test pairs are right",),
        needs=SEEDS,
        scope="any seed",
        figure="restricted_accuracy",
        control="also true of a contrast",
        contrast=("nanda/fraction-90-0",),
    ),
    Claim(
        id="nanda.fn3.max_excluded",
        where="appendix C.2, footnote 3",
        statement=(
            "The largest excluded loss over single frequencies needs no knowledge of the key frequencies, "
            "and follows the excluded loss of the key frequencies."
        ),
        source_says="the plots of the two excluded losses are broadly similar",
        measure=_largest_exclusion,
        expected={RANK_CORRELATION: at_least(0.9, "the paper sees broadly similar plots of the two excluded losses")},
        needs=(MAIN,),
        finding=mixed(
            "In most networks, the largest excluded loss over single frequencies and that of the key frequencies "
            "fall and rise together by orders of magnitude. Over the snapshots of training, the ranks of the two "
            "excluded losses agree less closely. Most snapshots of training are after cleanup, when both "
            "excluded losses are constant. The single frequency with the largest excluded loss is nearly always "
            "a key frequency."
        ),
        reported=(UNTIL_T3, "correlation of the logarithms of both"),
        figure="largest_exclusion",
        control="without control",
    ),
    Claim(
        id="nanda.D2.unnecessary",
        where="appendix D.2",
        statement="Networks of one layer grok without slingshots.",
        source_says="many networks of one layer grok without slingshots",
        measure=_slingshots,
        expected={
            "slingshots of the main network before it groks": equals(
                0, "the loss is computed in float64, which should prevent slingshots"
            ),
            "networks that grok without one": at_least(
                4,
                "at least four of five networks must grok without slingshots before: the main network and three more "
                "seeds",
            ),
        },
        needs=SEEDS,
        figure="curves",
    ),
    Claim(
        id="nanda.E1.always_lower",
        where="appendix E.1, footnote 4",
        statement="Cross-entropy never reaches zero: if every answer is right, larger logits still lower the loss.",
        source_says="larger logits lower the loss",
        measure=_scaled,
        expected={
            "accuracy": equals(1, "the statement is about a network that answers every pair correctly"),
            "loss at logits times 1.1 over loss": at_most(
                0.999, "larger logits must lower the loss by more than rounding"
            ),
            "loss at 1.5 over loss at 1.1": at_most(0.999, "larger logits must lower the loss by more than rounding"),
            "smallest margin [logits]": at_least(
                0, "with a negative margin, larger logits would raise the loss in the end"
            ),
        },
        needs=(MAIN,),
    ),
    Claim(
        id="nanda.E1.generalisation_smaller_norm",
        where="appendix E.1",
        statement=(
            "The network's generalising solution has smaller weights and even a slightly lower train loss than "
            "the memorising solution."
        ),
        source_says="train loss 2.7e-8 at epoch 10,000 and 9e-9 at 107,000 in an archived network of the authors",
        measure=_smaller,
        expected={
            "squared weights at the end over t1": at_most(
                0.6, ("in figure 7 the sum of squared weights falls to less than half")
            ),
            "train loss at the end over its plateau": at_most(1, "the claim only says that the train loss is lower"),
        },
        needs=(MAIN,),
        figure="progress",
    ),
)
