"""Claims of appendices D.3 and E.2: the effect of each head in networks on sequences, and heads that depend on one
another.
"""

from __future__ import annotations

import torch

from modinterp.analyses.attention.trigrams import attention_to, direct_path
from modinterp.claims.band import at_least, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.nanda.claims.sequences import REPEATED, TRIGRAMS

KINDS = ("previous token", "induction")
RATIO_TO_BOTH = {kind: f"loss without {kind} heads over that without both" for kind in KINDS}
RATIO_TO_INTACT = {kind: f"loss without {kind} heads over the intact one" for kind in KINDS}


def _trigrams(m: SequenceMeasurements) -> dict[str, Value]:
    n = m.task.output_sizes[0]
    path = direct_path(m.model, torch.arange(n, 2 * n)).cpu()
    attention = attention_to(m.patterns[0, :, :, -1], m.inputs >= n)
    return {
        "skip trigrams whose direct path is largest at their own token": int(
            (path.argmax(dim=1) == torch.arange(n)).sum()
        ),
        "mean attention to the token asked for": float(attention.mean()),
    }


def _composition(m: SequenceMeasurements) -> dict[str, Value]:
    loss = m.losses_without
    return {
        **{name: loss[kind] / loss["both"] for kind, name in RATIO_TO_BOTH.items()},
        **{name: loss[kind] / loss["none"] for kind, name in RATIO_TO_INTACT.items()},
    }


CLAIMS = (
    Claim(
        id="nanda.D3.skip_ten_trigrams",
        where="appendix D.3",
        statement=(
            'Ten skip trigrams ("A ... B" is followed by C) in the network solve the task of predicting skip '
            "trigrams. On skip trigrams, the last token attends to the one relevant token, and the heads copy "
            "the relevant token to the answer."
        ),
        source_says="the network contains all ten skip trigrams",
        measure=each(_trigrams),
        expected={
            "skip trigrams whose direct path is largest at their own token": equals(
                10, "for every skip trigram, the head must copy the relevant token to the answer"
            ),
            "mean attention to the token asked for": at_least(
                0.9, "the skip trigrams alone must have nearly the accuracy of the whole network"
            ),
        },
        needs=TRIGRAMS,
        scope="any seed",
        figure="trigrams_path",
    ),
    Claim(
        id="nanda.E2.composition",
        where="appendix E.2",
        statement=(
            "A head that attends to the previous token and an induction head do not lower the loss without each other."
        ),
        source_says="removing either head is as bad as removing both",
        measure=each(_composition),
        expected={
            RATIO_TO_BOTH["previous token"]: at_least(
                0.8, "the loss without one kind of head must be as high as without both kinds, within a fifth"
            ),
            RATIO_TO_INTACT["previous token"]: at_least(
                5, "without one kind of head the loss must be much higher than with both kinds in place"
            ),
            RATIO_TO_BOTH["induction"]: at_least(
                0.8, "the loss without one kind of head must be as high as without both kinds, within a fifth"
            ),
            RATIO_TO_INTACT["induction"]: at_least(
                5, "without one kind of head the loss must be much higher than with both kinds in place"
            ),
        },
        needs=REPEATED,
        scope="any seed",
        figure="composition",
    ),
)
