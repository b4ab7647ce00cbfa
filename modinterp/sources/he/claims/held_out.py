"""Claims on the final answers of networks trained on three quarters of the pairs, with and without weight decay."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.interventions.effects import answers_moved
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.he.claims.grokking import TRUE, kinds_of, mean_where
from modinterp.sources.he.idealised import own_logits
from modinterp.sources.he.neuron_waves import waves_of
from modinterp.sources.he.runs import named

FINAL, OFF_DIAGONAL, ON_DIAGONAL = (
    "test accuracy at the end",
    "test accuracy off the diagonal",
    "errors on the diagonal, share",
)
UNSEEN_DIAGONAL = "pairs x = y in the test set"


def _final(m: CyclicMeasurements) -> dict[str, Value]:
    kinds = kinds_of(m)
    right = answers_moved(own_logits(waves_of(m)))
    off, test = kinds.mirrored | kinds.unseen, kinds.mirrored | kinds.unseen | kinds.diagonal
    wrong = test & ~right
    return {
        FINAL: mean_where(right, test),
        OFF_DIAGONAL: mean_where(right, off),
        ON_DIAGONAL: float((wrong & kinds.diagonal).sum() / wrong.sum()) if wrong.any() else 1.0,
        UNSEEN_DIAGONAL: int(kinds.diagonal.sum()),
    }


def _decay(m: CyclicMeasurements) -> dict[str, Value]:
    kinds = kinds_of(m)
    right, test = answers_moved(own_logits(waves_of(m))), kinds.mirrored | kinds.unseen | kinds.diagonal
    share = float(kinds.mirrored.sum() / test.sum())
    return {
        "test accuracy at the end less the share of mirrored pairs": mean_where(right, test) - share,
        FINAL: mean_where(right, test),
        TRUE: mean_where(right, kinds.unseen),
    }


CLAIMS = (
    Claim(
        id="he.grok.final",
        where="section 5.4",
        statement="After the cleanup stage of training, the test accuracy is perfect.",
        source_says="the source says that the test accuracy is 100%; its network has .9774",
        measure=each(_final),
        expected={FINAL: equals(1, 'the source calls the test accuracy "perfect"')},
        reported=(UNSEEN_DIAGONAL,),
        needs=named("grok"),
        scope="any seed",
        figure="kinds_of_pairs",
        finding=refuted(
            "The test accuracy ends at .93 to .98, as in the source's own network. The network answers the "
            "held-out pairs x = y wrongly, and all other held-out pairs correctly.",
            "source",
        ),
    ),
    Claim(
        id="he.grok.final_diagonal",
        where="ours",
        statement=(
            "The network learns to answer all pairs except those pairs x = y that were not in the training set."
        ),
        source_says="not stated",
        measure=each(_final),
        expected={
            OFF_DIAGONAL: at_least(0.99, "in the authors' network 130 of 130 unseen pairs with x != y are right"),
            ON_DIAGONAL: at_least(0.9, "in the authors' network all three errors are on the diagonal"),
        },
        behaviour=(OFF_DIAGONAL,),
        reported=(UNSEEN_DIAGONAL, FINAL),
        needs=named("grok"),
        scope="any seed",
        figure="kinds_of_pairs",
    ),
    Claim(
        id="he.grok.decay",
        where="sections 5.3 and 6",
        statement="Without weight decay, the test accuracy stays on its plateau.",
        source_says="the source says that weight decay turns memorisation into generalisation",
        measure=each(_decay),
        expected={
            "test accuracy at the end less the share of mirrored pairs": at_most(
                0.05, "the test accuracy should stay within five points of the plateau"
            )
        },
        reported=(FINAL, TRUE),
        needs=named("grok-wd0"),
        scope="any seed",
        figure="stages",
        control="also true before training",
        finding=mixed(),
    ),
)
