"""Claims on the sum of two numbers: heads that find carries, heads that add digits, and the effect of removing each
head.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan

from torch import Tensor

from modinterp.activations import heads_at_mean
from modinterp.analyses.sequences.answers import Answers
from modinterp.analyses.sequences.written_direction import written_direction
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import SequenceMeasurements
from modinterp.models import Network
from modinterp.models.lens import HookPoint
from modinterp.sources.arena.claims.columns import (
    Look,
    for_carry,
    foretold_share,
    nearest_for_carry,
    own_sum,
    sums,
    written,
)
from modinterp.sources.arena.runs import SUM

FOLLOWED, LEAST_FOLLOWED = (
    "columns with a head that follows the hierarchy",
    "smallest best agreement with the hierarchy",
)
IN_SET, STILL_RIGHT = "smallest share of digits that are the digit sum or one more", "largest accuracy of these digits"
WITH_CARRY, WITHOUT_CARRY = "largest accuracy where a carry came in", "largest accuracy where none came in"
CARRY_HEADS = "columns with a head whose agreement is 0.85 or more"
FORETOLD, ENERGY = "smallest R2 of the carry from what its head writes", "smallest energy of its first direction"
UNEVEN, STORING = (
    "largest unevenness of a head that looks at the column asked for",
    "heads that look at the column asked for",
)
BACKWARDS, FORWARDS = (
    "columns with a head that follows the hierarchy backwards",
    "columns with a second head, which follows the hierarchy forwards",
)
ELSEWHERE = "largest rise of a digit's loss without a first-layer head at another position"
ITSELF, FROZEN = "smallest attention of a second-layer head to itself", "accuracy with fixed second-layer attention"
MATTER_LESS = "rise without a second-layer head over that without the second of the first layer"
AGREES, ENOUGH, OPPOSES = 0.95, 0.85, 0.15  # agreement with the hierarchy


def best_agreements(m: SequenceMeasurements) -> list[float]:
    """Return, for each column, the best agreement of a head with the carry's hierarchy; 0 if no head attends to the
    column.
    """
    return [max((look.agreement for look in for_carry(m, i)), default=0.0) for i in range(1, m.task.digits)]


def _without(m: SequenceMeasurements, head: int, position: int) -> Answers:
    """Return the answers with a first-layer head set to its mean at one position."""
    with heads_at_mean(m.precise, m.means, [(0, head)], [position]) as network:
        return m.answers_to(m.sampled, network)


def carry_heads(m: SequenceMeasurements) -> dict[int, tuple[Look, Answers]]:
    """Return, for each column, the head that finds the column's carry, and the network's answers without this head.

    If several heads follow the hierarchy, the returned head is that whose removal most harms the digit that receives
    the carry.
    """
    found = {}
    for column in range(1, m.task.digits):
        without = [
            (look, _without(m, look.head, look.position)) for look in for_carry(m, column) if look.agreement >= ENOUGH
        ]
        if without:
            found[column] = max(without, key=lambda pair: float(pair[1].losses[:, column - 1].mean()))
    return found


def _carry_heads_or_nearest(m: SequenceMeasurements) -> tuple[int, dict[int, tuple[Look, Answers]]]:
    """Return how many columns have a head that finds their carry, and these; where none has, the nearest for each
    column.

    The latter is for networks that did not learn, as controls of a claim about such heads.
    """
    found = carry_heads(m)
    if found:
        return len(found), found
    nearest = {column: nearest_for_carry(m, column) for column in range(1, m.task.digits)}
    return 0, {column: (look, _without(m, look.head, look.position)) for column, look in nearest.items()}


def _carry_heads(m: SequenceMeasurements) -> dict[str, float]:
    best = best_agreements(m)
    return {FOLLOWED: sum(agreement >= AGREES for agreement in best), LEAST_FOLLOWED: min(best)}


def _carry_ablation(m: SequenceMeasurements) -> dict[str, float]:
    of, (count, found) = m.task.columns(m.sampled.inputs), _carry_heads_or_nearest(m)
    rows = []
    for column, (_, answers) in found.items():
        base, carry = of.base[:, column - 1], of.carry[:, column - 1].bool()
        given, correct = answers.given[:, column - 1], answers.correct[:, column - 1].double()
        in_set = (given == base) | (given == (base + 1) % 10)
        rows.append([float(x.double().mean()) for x in (in_set, correct, correct[carry], correct[~carry])])
    kept, right, with_carry, without_carry = zip(*rows, strict=True)
    return {
        CARRY_HEADS: count,
        IN_SET: min(kept),
        STILL_RIGHT: max(right),
        WITH_CARRY: max(with_carry),
        WITHOUT_CARRY: max(without_carry),
    }


def _carry_direction(m: SequenceMeasurements) -> dict[str, float]:
    attn, foretold, energies = m.folded.blocks[0].attn, [], []
    count, found = _carry_heads_or_nearest(m)
    for column, (look, _) in found.items():
        carry = (sums(m, column) >= 10).double().unsqueeze(1)
        foretold.append(foretold_share(written(m, [look])[0], carry))
        images = m.folded.W_E[:10] @ attn.W_V[look.head] @ attn.W_O[look.head]
        energies.append(written_direction(images.detach()).energy)
    return {CARRY_HEADS: count, FORETOLD: min(foretold), ENERGY: min(energies)}


def _even(m: SequenceMeasurements) -> dict[str, float]:
    looks = [look for column in range(m.task.digits) for look in own_sum(m, column)]
    return {UNEVEN: max((look.uneven for look in looks), default=nan), STORING: len(looks)}


def backwards(m: SequenceMeasurements) -> dict[str, float]:
    """Return the number of columns with a head that prefers the digit that does not decide the carry, and how many have
    the opposite head too.
    """
    by_column = [[look.agreement for look in own_sum(m, column)] for column in range(m.task.digits)]
    found = [row for row in by_column if row and min(row) <= OPPOSES]
    return {BACKWARDS: len(found), FORWARDS: sum(max(row) >= ENOUGH for row in found)}


def _places(m: SequenceMeasurements) -> dict[str, float]:
    used = {2 * m.task.digits, *m.task.read_positions}  # the last digit of the second number, and where digits are read
    whole, rises = m.answers_to(m.sampled).losses.mean(dim=0), []
    for position in set(range(m.task.n_ctx)) - used:
        for head in range(m.means.shape[2]):
            rises.append(float((_without(m, head, position).losses.mean(dim=0) - whole).max()))
    return {ELSEWHERE: max(rises)}


@contextmanager
def with_mean_attention(m: SequenceMeasurements, layer: int) -> Iterator[Network]:
    """Yield the network with the attention of one layer replaced by its mean over inputs."""
    mean = m.pattern_of(m.sampled.inputs)[layer].double().mean(dim=0)

    def fix(pattern: Tensor, hook: HookPoint) -> Tensor:
        return mean.to(pattern).expand_as(pattern)

    with m.precise.hooks(fwd_hooks=[(f"blocks.{layer}.attn.hook_pattern", fix)]) as network:
        yield network


def _layer1(m: SequenceMeasurements) -> dict[str, float]:
    read = list(m.task.read_positions)
    own = m.pattern_of(m.sampled.inputs)[1].diagonal(dim1=-2, dim2=-1)[..., read].mean(dim=(0, 2))
    first, second = m.head_rises[0].sort(descending=True).values, m.head_rises[1]
    with with_mean_attention(m, 1) as network:
        frozen = m.answers_to(m.sampled, network).accuracy
    return {ITSELF: float(own.min()), MATTER_LESS: float(second.max() / first[1]), FROZEN: frozen}


CLAIMS = (
    Claim(
        id="arena.sum.carry_heads",
        where="September, QK circuits",
        statement="For each carry, a head of the first layer attends to the digit that decides whether "
        "there is a carry.",
        source_says="the digits are ordered by the head's attention scores",
        measure=each(_carry_heads),
        expected={
            FOLLOWED: at_least(
                2,
                "in two of three columns, a head's order of the digits should agree with the hierarchy by 0.95 or more",
            ),
            LEAST_FOLLOWED: at_least(
                0.85, "in all columns, a head's order of the digits should agree with the hierarchy by 0.85 or more"
            ),
        },
        needs=SUM,
        scope="any seed",
        finding=mixed(
            "In the authors' seed and some other seeds, every column has a head that attends to the digit "
            "that decides whether there is a carry. In the remaining networks, only some columns or no "
            "columns have a head that attends to the digit that decides the carry."
        ),
        figure="sum_agreement",
    ),
    Claim(
        id="arena.sum.carry_ablation",
        where="September, ablation of heads",
        statement=(
            "Without the output of the head that finds the carry, the network answers the digit sum or one "
            "more. Without the head that finds the carry, the network cannot choose between the digit sum "
            "and one more."
        ),
        source_says="the source shows this in a figure",
        measure=each(_carry_ablation),
        expected={
            IN_SET: at_least(0.98, "the source says that without the carry the answer is the digit sum or one more"),
            STILL_RIGHT: at_most(0.75, "without the carry, the network should choose between the two digits by chance"),
        },
        behaviour=(STILL_RIGHT,),
        given={CARRY_HEADS: at_least(1, "some head must find a carry, otherwise the claim does not apply")},
        reported=(WITH_CARRY, WITHOUT_CARRY),
        finding=mixed(),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.carry_direction",
        where="September, singular vectors",
        statement="The head that finds the carry writes the carry along one direction.",
        source_says="the source shows this in a figure",
        measure=each(_carry_direction),
        expected={
            FORETOLD: at_least(0.8, "a linear fit on half of the inputs must predict the carry on the other half")
        },
        given={CARRY_HEADS: at_least(1, "some head must find a carry, otherwise the claim does not apply")},
        reported=(ENERGY,),
        finding=mixed(),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.even",
        where="September, a first look",
        statement="Heads that store a digit sum attend equally to both digits.",
        source_says="attention to both digits is uniform",
        measure=each(_even),
        expected={UNEVEN: at_most(0.10, "attention to both digits should be equal")},
        reported=(STORING,),
        needs=SUM,
        scope="any seed",
        finding=refuted(
            "Heads attend equally to both digits only on average over inputs. In each network with heads that store "
            "a digit sum, at least one head that stores a digit sum prefers a digit."
        ),
        control="without control",
    ),
    Claim(
        id="arena.sum.reversed",
        where="September, summary",
        statement=(
            "The first of two digits in the order 0918273645 decides the carry; some heads prefer digits in the"
            " reverse of this order."
        ),
        source_says=(
            "the network has a head that follows the hierarchy of carries backwards and a head that follows it forwards"
        ),
        measure=each(backwards),
        expected={
            BACKWARDS: at_least(
                3, "a column counts if a head's agreement with the hierarchy is 0.15 or less; there are four columns"
            )
        },
        reported=(FORWARDS,),
        needs=SUM,
        scope="any seed",
        finding=mixed(
            "Networks of the authors' seed and of some other seeds have heads that prefer digits in the "
            "reverse of the order 0918273645, which decides carries. The remaining networks have few heads "
            "or no heads that prefer digits in the reverse of the order 0918273645."
        ),
        figure="sum_agreement",
    ),
    Claim(
        id="arena.sum.places",
        where="September, a first look",
        statement=(
            "First-layer heads write something useful only at the last digit and at the positions where digits "
            "are answered."
        ),
        source_says="first-layer heads at other positions write no useful information",
        measure=each(_places),
        expected={ELSEWHERE: at_most(0.05, "the source says that first-layer heads at other positions are of no use")},
        needs=SUM,
        scope="any seed",
        finding=refuted(
            "In each network, removing some first-layer head at a position that the source calls useless "
            "raises the loss."
        ),
        control="also true before training",
    ),
    Claim(
        id="arena.sum.layer1",
        where="September, summary",
        statement=(
            "Second-layer heads mostly attend to their own position. Two heads of the first layer "
            "matter more than any second-layer head."
        ),
        source_says="the source's summary says that second-layer heads matter less",
        measure=each(_layer1),
        expected={
            ITSELF: at_least(0.5, "the source says that second-layer heads attend mostly to their own position"),
            MATTER_LESS: at_most(
                1,
                "removing a second-layer head should raise the loss less than removing the second most "
                "important first-layer head",
            ),
        },
        reported=(FROZEN,),
        needs=SUM,
        scope="any seed",
        finding=refuted("Contrary to the source, the heads of the second layer attend mostly to other positions."),
    ),
)
