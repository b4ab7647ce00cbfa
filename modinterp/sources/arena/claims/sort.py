"""Claims on the sorted list: which number each position attends to, and which numbers each head copies."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.sequences.circuits import copying_tables, is_copied, owners, position_score_tables, score_tables
from modinterp.analyses.training.curves import rank_correlation
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, each
from modinterp.claims.finding import mixed
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.subject import ACCURACY, LOSS, LOWEST, SEED, seed
from modinterp.sources.arena.runs import SORT

EITHER, OWNER = (
    "share of queries that attend most to the next number, either head",
    "share of queries that attend most to the next number, the head that copies the number",
)
SMALLEST, FALLING = "share of SEP that attends most to the smallest", "rank correlation of score and number, 0 to 30"
COPIED, BOTH = "numbers copied by a head", "numbers copied by both heads"
LARGER, SMALLER = "rise of the loss without the head that copies more", "rise of the loss without the other"
TIMES, MORE = "size of the larger domain over the smaller", "rise without the larger over that without the smaller"
ABOVE, NEXT = "share of numbers that score highest 1 to 7 above", "share that scores highest 1 above"
ZERO, EARLY = "numbers of 13 that score 0 among the highest 5", "largest score of small keys at late positions"
SPLIT = ({*range(28, 38)}, {*range(51)} - {*range(29, 36)})  # of the two heads of the source


def tables(m: SequenceMeasurements) -> Float[Tensor, "head token output"]:
    """Return the effect on each number's logit of attending to each number, for each head."""
    limit = m.task.limit
    return copying_tables(m.folded)[:, :limit, :limit]


def owner_of(m: SequenceMeasurements) -> Int[Tensor, " number"]:
    """Return for each number the head that copies this number best."""
    return owners(tables(m))


def copied(m: SequenceMeasurements) -> Bool[Tensor, "head number"]:
    """Return a mask over heads and numbers that is True where the head copies the number."""
    return is_copied(tables(m))


def larger_head(m: SequenceMeasurements) -> int:
    """Return the head that copies the larger set of numbers."""
    return int(copied(m).sum(dim=1).argmax())


def attended(m: SequenceMeasurements) -> Int[Tensor, "input head query"]:
    """Return the token to which each head attends most, from SEP and from each sorted number except the last."""
    most = m.patterns[0][:, :, m.task.n : 2 * m.task.n].argmax(dim=-1)
    return m.inputs.unsqueeze(1).expand(-1, most.shape[1], -1).gather(2, most)


def _solved(m: SequenceMeasurements) -> dict[str, float]:
    found = m.answered
    return {
        ACCURACY: found.accuracy,
        "share of the lists sorted throughout": found.whole_accuracy,
        LOSS: found.loss,
        LOWEST: float(found.sureness.min()),
    }


def _next_larger(m: SequenceMeasurements) -> dict[str, float]:
    following = m.answers[:, 1 : m.task.n]
    hits = attended(m)[:, :, 1:] == following.unsqueeze(1)
    by_owner = hits.gather(1, owner_of(m)[following].unsqueeze(1)).squeeze(1)
    return {EITHER: float(hits.any(dim=1).double().mean()), OWNER: float(by_owner.double().mean())}


def _sep(m: SequenceMeasurements) -> dict[str, float]:
    hits = attended(m)[:, :, 0] == m.answers[:, :1]
    of_token, of_position = score_tables(m.folded)[:, m.task.limit], position_score_tables(m.folded)[:, m.task.n]
    scores, numbers = (of_token + of_position)[:, : m.task.limit], list(range(m.task.limit))
    by_head = [rank_correlation(row[:31].tolist(), numbers[:31]) for row in scores]
    best = min(range(len(by_head)), key=lambda head: by_head[head])
    return {
        SMALLEST: float(hits.any(dim=1).double().mean()),
        FALLING: by_head[best],
        "rank correlation of score and number, 31 to 50": rank_correlation(scores[best, 31:].tolist(), numbers[31:]),
    }


def _copies(m: SequenceMeasurements) -> dict[str, float]:
    found = copied(m)
    return {COPIED: int(found.any(dim=0).sum()), BOTH: int(found.all(dim=0).sum())}


def _split(m: SequenceMeasurements) -> dict[str, float]:
    sets = [set(row.nonzero()[:, 0].tolist()) for row in copied(m)]
    return {"copied sets are the source's": float(tuple(sorted(sets, key=len)) == SPLIT), SEED: seed(m)}


def _heads(m: SequenceMeasurements) -> dict[str, float]:
    sizes, rises, most = copied(m).sum(dim=1).tolist(), m.head_rises[0].tolist(), larger_head(m)
    return {
        LARGER: rises[most],
        SMALLER: rises[1 - most],
        TIMES: sizes[most] / max(sizes[1 - most], 1),
        MORE: rises[most] / rises[1 - most],
    }


def _qk(m: SequenceMeasurements) -> dict[str, float]:
    d = torch.arange(36)
    scores = score_tables(m.folded)[owner_of(m)[d + 1], d][:, : m.task.limit]
    above = scores.argmax(dim=-1) - d
    return {ABOVE: float(((above >= 1) & (above <= 7)).double().mean()), NEXT: float((above == 1).double().mean())}


def _zero(m: SequenceMeasurements) -> dict[str, float]:
    head, limit = larger_head(m), m.task.limit
    scores = score_tables(m.folded)[head, 38:limit, :limit]
    ranks = (scores > scores[:, :1]).sum(dim=-1) + 1
    of_positions = position_score_tables(m.folded)[head][:, :limit]
    small = (of_positions - of_positions.mean(dim=-1, keepdim=True))[15:20, :5].mean(dim=-1)
    return {ZERO: int((ranks <= 5).sum()), EARLY: float(small.max())}


CLAIMS = (
    Claim(
        id="arena.sort.solved",
        where="October, the network",
        statement="The network sorts nearly every list.",
        source_says="accuracy .9989, loss .039; mean probability of the right answer .966, smallest .001",
        measure=each(_solved),
        expected={ACCURACY: at_least(0.995, "the source's accuracy is 0.9989")},
        reported=("share of the lists sorted throughout", LOSS, LOWEST),
        needs=SORT,
        scope="any seed",
    ),
    Claim(
        id="arena.sort.next_larger",
        where="October, summary",
        statement="In at least one head, each number attends to the next larger number of the list.",
        source_says="the source shows this in a figure",
        measure=each(_next_larger),
        expected={
            EITHER: at_least(0.75, "in the source's figure nearly every query attends to the next larger number")
        },
        reported=(OWNER,),
        needs=SORT,
        scope="any seed",
        figure="sort_attention",
    ),
    Claim(
        id="arena.sort.sep",
        where="October, SEP",
        statement=(
            "The separator SEP attends to the smallest number: the attention scores from SEP fall as "
            "the number rises, up to about 30."
        ),
        source_says="the source shows this in a figure",
        measure=each(_sep),
        expected={
            SMALLEST: at_least(0.95, "the source says that SEP attends to the smallest number"),
            FALLING: at_most(
                -0.9, "in the source the scores fall up to the number 30; we measure the head whose scores fall more"
            ),
        },
        reported=("rank correlation of score and number, 31 to 50",),
        needs=SORT,
        scope="any seed",
        changed=(
            Change(
                date="2026-11-28",
                what="the definition of the attention scores of SEP",
                before=(
                    "the scores of SEP's token embedding alone were measured, with a rank correlation of -0.928; held"
                ),
                now=(
                    "the scores of SEP's token and position embeddings together are measured, with a rank "
                    "correlation of -0.999"
                ),
                why=(
                    "SEP always stands at the same position, and including the position embedding reproduces "
                    "the authors' figures"
                ),
            ),
        ),
        figure="sort_scores",
    ),
    Claim(
        id="arena.sort.copies",
        where="October, OV circuit",
        statement="Heads copy the number that they attend to, and every number is copied by at least one head.",
        source_says="the heads copy all 51 numbers",
        measure=each(_copies),
        expected={COPIED: at_least(49, "in the source the heads copy all 51 numbers; rounding may cost two numbers")},
        needs=SORT,
        scope="any seed",
        figure="sort_copies",
    ),
    Claim(
        id="arena.sort.split_listed",
        where="October, OV circuit",
        statement="One head copies the numbers 28 to 37; the other head copies all numbers except 29 to 35.",
        source_says="one head copies 28 to 37; the other head copies nearly all other numbers",
        measure=each(_split),
        expected={
            "copied sets are the source's": equals(1, "each head should copy the set of numbers that the source lists")
        },
        given={
            SEED: equals(
                42,
                "heads of another seed divide the numbers differently, so the claim is only about networks with the"
                " authors' seed",
            )
        },
        needs=SORT[:1],
        figure="sort_copies",
    ),
    Claim(
        id="arena.sort.split",
        where="October, OV circuit",
        statement="The two heads divide the numbers: hardly any number is copied by both heads.",
        source_says="both heads copy the numbers 28, 36 and 37",
        measure=each(_copies),
        expected={
            BOTH: at_most(8, "in the source 3 numbers are copied by both heads; we allow other seeds a few more")
        },
        needs=SORT,
        scope="any seed",
        control="also true before training",
        figure="sort_copies",
    ),
    Claim(
        id="arena.sort.heads",
        where="October, ablation of heads",
        statement="Removing the head that copies more numbers raises the loss more than removing the other head.",
        source_says=".920, 4.963",
        measure=each(_heads),
        expected={MORE: at_least(1, "in the source the loss rises more without the head that copies more numbers")},
        given={TIMES: at_least(2, "in the source one head copies more numbers than the other head")},
        reported=(LARGER, SMALLER),
        needs=SORT,
        scope="any seed",
        control="also true before training",
    ),
    Claim(
        id="arena.sort.qk",
        where="October, QK circuit",
        statement=(
            "Attention scores are highest for keys slightly above the query's number, and often not for the "
            "number plus one."
        ),
        source_says="in a figure, the query 25 has its highest scores for the keys 28 and 29",
        measure=each(_qk),
        expected={
            ABOVE: at_least(
                0.85,
                "for queries up to 35, the highest score should be slightly above the query, in the head "
                "that copies the next number",
            ),
            NEXT: at_most(
                0.4999, "less than half of the numbers should have their highest score at the number plus one"
            ),
        },
        needs=SORT,
        scope="any seed",
        figure="sort_scores",
        finding=mixed(),
    ),
    Claim(
        id="arena.sort.zero",
        where="October, QK circuit",
        statement=(
            "Queries above 35 give the key 0 the highest score; late query positions lower the scores of small keys."
        ),
        source_says="the source shows this in a figure",
        measure=each(_zero),
        expected={
            ZERO: at_least(9, "we count queries from 38 to 50, in the head that copies more numbers"),
            EARLY: at_most(0, "at positions 15 to 19, keys 0 to 4 score below the mean of all keys"),
        },
        needs=SORT,
        scope="any seed",
        figure="sort_scores",
        finding=mixed(),
    ),
)
