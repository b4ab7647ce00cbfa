"""Claims on when each task is learned, and how well all tasks together test for primes."""

from __future__ import annotations

import math
from statistics import median

from modinterp.analyses.training.curves import rank_correlation
from modinterp.analyses.training.generalisation import infinite_if_never, inversions, spread
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value
from modinterp.claims.finding import Finding, one_seed
from modinterp.measurements import PairMeasurements
from modinterp.sources.miiii.claims.conditions import (
    FIRST_PRIMES,
    GENERALISED,
    MEAN_TEST_ACCURACY,
    check_as_long,
    last_epoch,
    later_primes,
)
from modinterp.sources.miiii.runs import CODED, MASKED, NANDA, NO_DROPOUT, PRINTED
from modinterp.tasks import PrimeRemainders

NOT_DELAYED = 1.5  # times as long, give or take one seed


def _times(m: PairMeasurements) -> tuple[list[float], dict[int, float]]:
    """Return when the first four tasks generalised, and a map from other primes to epochs; infinity means never."""
    first, others = m.questions.generalisation_epochs(FIRST_PRIMES), m.questions.generalisation_epochs(later_primes(m))
    return infinite_if_never(list(first.values())), dict(
        zip(others, infinite_if_never(list(others.values())), strict=True)
    )


def _accuracy(m: PairMeasurements, *printed: PairMeasurements) -> dict[str, Value]:
    """Which tasks the run on half of the inputs generalises, and in which order; and how many a run on 30% does."""
    first, others = _times(m)
    in_turn = [*first, min(others.values(), default=math.nan)]
    accuracies = m.questions.final("test_accuracy")
    learned = [int((other.questions.final("test_accuracy") >= 0.99).sum()) for other in printed]
    return {
        "tasks with a test accuracy of 0.99": int((accuracies >= 0.99).sum()),
        "2, 3, 5, 7, then the first of the others: pairs out of order": inversions(in_turn),
        "Spearman's correlation of q and the epoch, other tasks": rank_correlation(list(others), list(others.values())),
        "median epoch of the other tasks": median(others.values()) if others else math.nan,
        **({"tasks with that trained on 30%, as printed": learned} if learned else {}),
    }


def _loss(m: PairMeasurements) -> dict[str, Value]:
    """Return how many tasks have a low test loss at the end, and the highest of these losses. [nats]"""
    test = m.questions.final("test_loss")
    return {
        "tasks with a test loss of at most 0.05": int((test <= 0.05).sum()),
        "highest test loss of a task": float(test.max()),
    }


def _grokked(m: PairMeasurements) -> dict[str, Value]:
    """Return how many tasks generalise long after they are memorised, and when the last is memorised. [epochs]"""
    times = m.questions.learning_times
    return {
        "tasks that generalise 500 epochs or more after they are memorised": times.delayed_count(),
        "epoch by which all tasks are memorised": max(times.memorised),
    }


def _together(m: PairMeasurements) -> dict[str, Value]:
    """Measure the spread of the epochs at which the tasks of primes from 11 on generalise."""
    _, others = _times(m)
    return {
        "interquartile range of log10 of the epoch, other tasks": spread(list(others.values())),
        "share of the other tasks that generalise": sum(map(math.isfinite, others.values())) / max(len(others), 1),
    }


def _primality(m: PairMeasurements) -> dict[str, Value]:
    """Measure how well the answers to all tasks together tell primes from other numbers."""
    return {"F1 score of the primality test": m.questions.primality.f1, MEAN_TEST_ACCURACY: m.held_out_accuracy}


def _no_dropout(m: PairMeasurements, plain: PairMeasurements) -> dict[str, Value]:
    """Return the final test accuracy of the tasks of 2 and 3, and of the other tasks.

    Raises:
        NotRecorded: the run ended sooner than that with dropout, and had learned no other task yet.
    """
    accuracies = dict(zip(m.task.output_sizes, m.questions.final("test_accuracy").tolist(), strict=True))
    others = sum(share >= 0.99 for q, share in accuracies.items() if q > 3)
    if not others:
        check_as_long(m, last_epoch(plain))
    return {
        "lower test accuracy of q = 2 and q = 3": min(accuracies[q] for q in (2, 3)),
        "other tasks with a test accuracy of 0.99": others,
    }


def _slower(m: PairMeasurements, *additions: PairMeasurements) -> dict[str, Value]:
    """When the median task generalises, over when the slowest network generalises addition.

    The first network may be one of addition, too, as a contrast: it has one task.
    """
    times = [m.grokking.grokked]
    if isinstance(m.task, PrimeRemainders):
        first, others = _times(m)
        times = [*first, *others.values()]
    return {
        "median epoch of all tasks over that of addition, smallest": (
            median(times) / max(other.grokking.grokked for other in additions)
        )
    }


def _masked_order(masked: PairMeasurements, plain: PairMeasurements) -> dict[str, Value]:
    """Which tasks generalise first, and when, in a run without the tasks of the first four primes.

    Raises:
        NotRecorded: the run ended before it had learned half of its tasks, and within 1.5 times what they take with
            the first four.
    """
    (_, epochs), (_, plain_epochs) = _times(masked), _times(plain)
    earliest = sorted(epochs, key=lambda q: epochs[q])[:4]
    typical, plain_typical = median(epochs.values()), median(plain_epochs.values())
    if math.isinf(typical) and math.isfinite(plain_typical):
        check_as_long(masked, NOT_DELAYED * plain_typical)
    return {
        "of the first four to generalise, how many are among 11, 13, 17, 19": len({11, 13, 17, 19} & set(earliest)),
        "median epoch over that with 2, 3, 5, 7": typical / plain_typical,
    }


_ON_HALF = Change(
    date="2026-11-21",
    what="the network on which the claim is measured",
    before="we measured a network trained on 30% of the inputs, as in the source's text: 2 of 29 remainder tasks generalise; refuted",
    now="we measure a network trained on half of the inputs, as in the source's code: 25 of 29 remainder tasks generalise; the claim is still refuted",
    why="the source's figures come from the source's code, which trains on half of the inputs; we also report the result with 30% of the inputs",
)

CLAIMS = (
    Claim(
        id="miiii.fig5.accuracy",
        where="figure 5",
        statement="All 29 tasks generalise. The network generalises first on remainders modulo 2, 3, 5 and 7, in this order, and later on remainders modulo other primes, in no order.",
        source_says="29 of 29 tasks generalise; the tasks after the first four generalise near epoch 40,000",
        measure=_accuracy,
        expected={
            "tasks with a test accuracy of 0.99": at_least(27, "all 29 tasks in the source; we allow two exceptions"),
            "2, 3, 5, 7, then the first of the others: pairs out of order": at_most(
                1, "in the source tasks 2, 3, 5 and 7 generalise in this order; we allow one exchanged pair"
            ),
            "Spearman's correlation of q and the epoch, other tasks": at_most(
                0.8, "the source sees no order in the tasks of primes from 11 on"
            ),
            "median epoch of the other tasks": between(
                10_000,
                65_536,
                "in the source the other tasks generalise near epoch 40,000; training ends at epoch 65,536",
            ),
        },
        behaviour=("tasks with a test accuracy of 0.99",),
        needs=(CODED, PRINTED),
        required=(CODED,),
        figure="accuracy",
        finding=one_seed(
            "The network generalises first on remainders modulo 2, 3, 5 and 7, in order. Only 25 of the 29 remainder tasks reach a test accuracy of 99% in 65,536 epochs. The remainders modulo 79, 83, 97 and 101 end with test accuracies of 94% to 98%. The remainders modulo primes above 7 are learned in the order of the primes (Spearman's correlation 0.89), although the source sees no order."
        ),
        changed=(_ON_HALF,),
    ),
    Claim(
        id="miiii.fig6.ce",
        where="figure 6",
        statement="The cross-entropy of all 29 remainder tasks falls to nearly 0 while the tasks' accuracy rises to 1.",
        source_says="all 29 tasks",
        measure=_loss,
        expected={
            "tasks with a test loss of at most 0.05": at_least(
                27, "in the source the loss of all 29 tasks falls to nearly 0; we allow two exceptions"
            )
        },
        reported=("highest test loss of a task",),
        needs=(CODED,),
        figure="losses",
        finding=one_seed(
            "The loss of every one of the 29 remainder tasks falls as the task's accuracy rises, and 25 losses end below 0.05. The losses of the remainders modulo 79, 83, 97 and 101 fall from at least 8.4 nats to at most 0.19 nats."
        ),
        changed=(
            _ON_HALF,
            Change(
                date="2026-11-23",
                what="the statement",
                before='the statement was that the loss of every task "falls as its accuracy rises"; refuted, since only 25 of 29 losses end below 0.05',
                now='the statement is that the loss of every task "falls to nearly 0"; still refuted, since only 25 of 29 losses end below 0.05',
                why="the loss of every remainder task falls as its accuracy rises; only the statement that all losses end near 0 is refuted",
            ),
        ),
    ),
    Claim(
        id="miiii.grokked_all",
        where="model performance",
        statement="The network groks the remainder modulo every prime: it memorises each remainder task first and generalises on this task later.",
        source_says="all 29 tasks",
        measure=_grokked,
        expected={
            "tasks that generalise 500 epochs or more after they are memorised": at_least(
                25, "in the source the network groks all 29 tasks; we allow four exceptions"
            )
        },
        reported=("epoch by which all tasks are memorised",),
        needs=(CODED,),
        figure="accuracy",
        finding=one_seed(
            "The network groks 23 of the 29 remainder tasks. The network memorises the remainders modulo all 29 primes by epoch 13,696, and generalises on 25 of them. The network generalises on remainders modulo 2 and 3 as soon as it memorises them, so it does not grok these two tasks."
        ),
        changed=(_ON_HALF,),
    ),
    Claim(
        id="miiii.25_together",
        where="model performance",
        statement="The network generalises on the remainders modulo the 25 primes from 11 on together, which suggests that these 25 tasks share a mechanism.",
        source_says="the tasks generalise near epoch 40,000",
        measure=_together,
        expected={
            "interquartile range of log10 of the epoch, other tasks": at_most(
                0.3, "the epochs at which the 25 tasks generalise should lie within a factor of two"
            ),
            "share of the other tasks that generalise": at_least(
                0.75, "the interquartile range is defined only if at least this share of the 25 tasks generalises"
            ),
        },
        needs=(CODED,),
        figure="accuracy",
        changed=(
            Change(
                date="2026-11-21",
                was="refuted",
                what="the precondition",
                before="there was no precondition; the network trained on 30% of the inputs, which learns none of the remainders modulo primes from 11 on, refuted the claim",
                now="the precondition was a mean test accuracy of 0.9, and later, that 90% of the 25 tasks generalise. In the network trained on half of the inputs, 84% of the 25 tasks generalise; open",
                why="a task that never generalises has no epoch of generalisation, so the spread of the 25 tasks' epochs is undefined",
            ),
            Change(
                date="2026-11-23",
                what="the precondition is removed",
                before="as a precondition, 90% of the 25 tasks had to generalise; 84% of the tasks did, so the claim was open",
                now="as a precondition, 75% of the 25 tasks must generalise; the spread of their epochs of generalisation, 0.252, meets the unchanged tolerance of 0.3",
                why="the precondition selected networks by the outcome; the 21 of 25 tasks that generalise suffice to determine the quartiles of the epochs",
            ),
        ),
    ),
    Claim(
        id="miiii.no_mi_prime_detection",
        where="background",
        statement="The remainders modulo all primes below 113 are a primality test: a number from 113 to 12,768 is prime if no remainder is 0.",
        source_says="the source does not measure this",
        measure=_primality,
        expected={"F1 score of the primality test": at_least(0.99, "the F1 score is 1 if all 29 tasks are solved")},
        given=GENERALISED,
        needs=(CODED,),
        figure="primality",
    ),
    Claim(
        id="miiii.slower",
        where="Methods, the tasks",
        statement="A network that learns all remainders at once generalises later than a network that learns addition.",
        source_says="the source expects this, because all remainders are harder than addition",
        measure=_slower,
        expected={
            "median epoch of all tasks over that of addition, smallest": at_least(1, "addition should be learned first")
        },
        needs=(CODED, *NANDA),
        required=(CODED, "miiii/nanda-[0-4]"),
        # one network of addition in the place of that of all remainders: of five, it is hardly ever the slowest
        contrast=NANDA,
        control="told apart",
    ),
    Claim(
        id="miiii.x.nodropout",
        where="appendix",
        statement="Without dropout the network overfits the remainders modulo every prime except 2 and 3.",
        source_says="only tasks 2 and 3 generalise",
        measure=_no_dropout,
        expected={
            "lower test accuracy of q = 2 and q = 3": at_least(0.99, "in the source tasks 2 and 3 generalise"),
            "other tasks with a test accuracy of 0.99": at_most(0, "in the source only tasks 2 and 3 generalise"),
        },
        needs=(NO_DROPOUT, CODED),
        finding=one_seed(
            "Without dropout, the test accuracy reaches 100% on the remainder modulo 2, and only 98.4% on the remainder modulo 3. Epoch 65,536 falls into a short time of low training accuracy. At epoch 65,536, the test accuracy is 98% on the remainder modulo 2, and 91% on the remainder modulo 3. On the remainders modulo all other primes, the test accuracy is at most 57%.",
        ),
    ),
    Claim(
        id="miiii.x.masked_order",
        where="appendix",
        statement="Without training on remainders modulo 2, 3, 5 and 7, the network learns remainders modulo 11, 13, 17 and 19 first. Without training on remainders modulo 2, 3, 5 and 7, the network learns no remainder later than the network trained on all remainders.",
        source_says="tasks 11, 13, 17 and 19 are learned first",
        measure=_masked_order,
        expected={
            "of the first four to generalise, how many are among 11, 13, 17, 19": at_least(
                3, "in the source tasks 11, 13, 17 and 19 are learned first; we allow one exception"
            ),
            "median epoch over that with 2, 3, 5, 7": at_most(
                NOT_DELAYED, "no task should be learned later by more than different seeds differ"
            ),
        },
        needs=(MASKED, CODED),
        finding=Finding(
            "holds",
            "Without training on remainders modulo 2, 3, 5 and 7, the network learns the remainder modulo 11 first, then 13, 23, 19 and 17. In the median, a remainder takes 1.004 times as long to learn as in the network that learns all remainders.",
        ),
        changed=(
            Change(
                date="2026-11-23",
                what="the precondition",
                before="as a precondition, the network had to solve 13 of its 25 remainder tasks; the claim was not measured",
                now="there is no precondition; a run that ends too early to decide the claim is not measured",
                why="the precondition excluded networks whose tasks never generalise, which would refute the claim",
            ),
        ),
        control="also true of a contrast",
        contrast=(CODED, CODED),
    ),
)
