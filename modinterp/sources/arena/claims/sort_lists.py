"""Claims on the sorted list: lists that the network sorts wrongly, and the choice between the successors d + 1 and d +
2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modinterp.analyses.sequences.attribution import attribution_by_source
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.claims.finding import mixed
from modinterp.measurements import SequenceMeasurements
from modinterp.models.lens import HookPoint
from modinterp.sources.arena.claims.lists import answers_behind, attention_from, jumps, triples
from modinterp.sources.arena.claims.sort import owner_of
from modinterp.sources.arena.runs import SORT

GAPS = (10, 15, 20, 25, 30, 35)
SMALL_GAP, LARGE_GAP = "share right behind a jump of 10", "share right behind a jump of 30"
FIRST, AFTER = "share of first answers right, lists within 30 to 50", "share right after the first answer"
PREFERS, RIGHT = "share that attends more to d + 2 than to d + 1", "share of triples answered with d + 1"
DOWN, UP = (
    "share in which d + 1 suppresses d + 2",
    "share in which d + 2 boosts d + 1",
)
WITHOUT, AS_NEXT = "share of triples right without the direct path", "share of triples answered with d + 2 without it"


def right_behind_jumps(m: SequenceMeasurements, gap: int) -> float:
    """Return the share of right answers for numbers whose successor in the list is larger by a given amount."""
    asked = jumps(m.task, gap)
    return float((answers_behind(m.precise, asked) == asked.number + gap).double().mean())


def _sep_advex(m: SequenceMeasurements) -> dict[str, float]:
    generator = torch.Generator().manual_seed(0)
    numbers = 30 + torch.rand(1_500, m.task.limit - 30, generator=generator).argsort(dim=1)[:, : m.task.n]
    correct = m.answers_to(m.task.examples(numbers)).correct.double()
    return {FIRST: float(correct[:, 0].mean()), AFTER: float(correct[:, 1:].mean())}


def _triples(m: SequenceMeasurements) -> dict[str, float]:
    asked = triples(m.task)
    d, inputs = asked.number, torch.arange(len(asked.number))
    pattern = attention_from(m, asked)[inputs, owner_of(m)[d + 1]]
    to_next, to_second = (pattern[inputs, asked.source(d + k)] for k in (1, 2))
    return {
        PREFERS: float((to_second > to_next).double().mean()),
        RIGHT: float((answers_behind(m.precise, asked) == d + 1).double().mean()),
    }


def _asymmetry(m: SequenceMeasurements) -> dict[str, float]:
    asked = triples(m.task)
    d, rows = asked.number, torch.arange(len(asked.number))
    parts = attribution_by_source(m.folded, asked.examples.inputs, asked.position)
    y, z = asked.source(d + 1), asked.source(d + 2)
    to_y, to_z = (parts[rows, y, token] + parts[rows, z, token] for token in (d + 1, d + 2))
    return {
        DOWN: float((parts[rows, y, d + 2] < 0).double().mean()),
        UP: float((parts[rows, z, d + 1] > 0).double().mean()),
        "share in which both together boost d + 1 more": float((to_y > to_z).double().mean()),
    }


def _direct(m: SequenceMeasurements) -> dict[str, float]:
    numbers, asked = torch.arange(m.task.limit - 2), triples(m.task)
    direct = (m.folded.W_E @ m.folded.W_U).detach()
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(asked.examples.inputs, names_filter=["blocks.0.hook_resid_pre"])

    def attention_alone(resid: Tensor, hook: HookPoint) -> Tensor:
        return resid - cache["blocks.0.hook_resid_pre"]

    with m.precise.hooks(fwd_hooks=[("blocks.0.hook_resid_post", attention_alone)]) as network:
        answered = answers_behind(network, asked)
    return {
        "share of numbers whose direct path favours d + 1": float(
            (direct[numbers, numbers + 1] > direct[numbers, numbers + 2]).double().mean()
        ),
        WITHOUT: float((answered == asked.number + 1).double().mean()),
        AS_NEXT: float((answered == asked.number + 2).double().mean()),
    }


CLAIMS = (
    Claim(
        id="arena.sort.gap",
        where="October, adversarial lists",
        statement=(
            "The network sorts lists with large jumps between neighbouring numbers wrongly. Lists with large "
            "jumps are rare in the training data."
        ),
        source_says="the network sorts a list of 0 and the numbers 40 to 48 wrongly",
        measure=each(lambda m: {SMALL_GAP: right_behind_jumps(m, 10), LARGE_GAP: right_behind_jumps(m, 30)}),
        expected={
            SMALL_GAP: at_least(0.99, "after a jump of 10, which is usual in training, answers should be right"),
            LARGE_GAP: at_most(
                0.6,
                "after a jump of 30 answers should be wrong; in the source the network sorts one list with a "
                "large jump wrongly",
            ),
        },
        needs=SORT,
        scope="any seed",
        figure="sort_gaps",
    ),
    Claim(
        id="arena.sort.sep_advex",
        where="October, adversarial lists, a guess",
        statement="If all numbers of a list lie between 30 and 50, the network's first answer is often wrong.",
        source_says="the source guesses this",
        measure=each(_sep_advex),
        expected={FIRST: at_most(0.2, "the first answer should often be wrong")},
        reported=(AFTER,),
        needs=SORT,
        scope="any seed",
        control="also true before training",
    ),
    Claim(
        id="arena.sort.triples",
        where="October, the mystery",
        statement="After the number d, d + 2 often gets more attention than d + 1, yet the network answers d + 1.",
        source_says="the source shows this in a figure",
        measure=each(_triples),
        expected={
            PREFERS: at_least(0.3, "d + 2 should often get more attention than d + 1"),
            RIGHT: at_least(0.99, "the network answers d + 1 although d + 2 gets more attention"),
        },
        needs=SORT,
        scope="any seed",
        figure="sort_triples",
    ),
    Claim(
        id="arena.sort.asymmetry",
        where="October, the mystery solved",
        statement=(
            "An attended number raises the logits of answers just below this number, and lowers the "
            "logits of answers just above."
        ),
        source_says="in one list, attended numbers change logits by 8.03, 1.80, -1.53 and 7.17",
        measure=each(_asymmetry),
        expected={
            DOWN: at_least(0.9, "attending to d + 1 must lower the logit of d + 2"),
            UP: at_least(0.9, "attending to d + 2 must raise the logit of d + 1"),
            "share in which both together boost d + 1 more": at_least(
                0.9, "together, these effects should give d + 1 a larger logit than d + 2"
            ),
        },
        needs=SORT,
        scope="any seed",
        figure="sort_triples",
        finding=mixed(),
    ),
    Claim(
        id="arena.sort.direct",
        where="October, the mystery solved",
        statement=(
            "The direct path (embedding to logits) favours the answer d + 1 over d + 2, but this "
            "path does not explain the answer d + 1."
        ),
        source_says="the source shows this in a figure",
        measure=each(_direct),
        expected={
            "share of numbers whose direct path favours d + 1": at_least(
                0.75, "the direct path should favour the answer d + 1"
            ),
            AS_NEXT: at_most(0.10, "even without the direct path, the network should not answer d + 2"),
        },
        reported=(WITHOUT,),
        needs=SORT,
        scope="any seed",
        finding=mixed(),
    ),
)
