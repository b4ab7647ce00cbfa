"""Claims on the tasks themselves, which hold for any network: remainders of two-digit numbers by all smaller primes."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from modinterp.analyses.embeddings.primality import commutative_share, zero_free_numbers
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.tasks import PrimeRemainders, addition, primes_below
from modinterp.training import cross_entropy
from modinterp.training.loss import OutputLayout, losses

INPUTS = "inputs"
WRONG_LABELS = "labels that differ"
WRONG_RENAMED_LABELS = "labels of the code's order of digits that differ once the positions change names"
P, SMALL_P = 113, 11
N = P * P


def _addition() -> dict[str, Value]:
    """Return the labels of modular addition against a plain loop."""
    task = addition(P)
    looped = [[(a + b) % P] for a in range(P) for b in range(P)]
    return {INPUTS: len(task.inputs()), WRONG_LABELS: int((task.labels() != torch.tensor(looped)).sum())}


def _remainders() -> dict[str, Value]:
    """Return the labels of the remainders against a plain loop, and in the order of digits of the source's code."""
    task, in_the_code = PrimeRemainders(P), PrimeRemainders(P, most_significant_first=True)
    looped = [[(a + P * b) % q for q in primes_below(P)] for a in range(P) for b in range(P)]
    renamed = in_the_code.labels().unflatten(0, (P, P)).transpose(0, 1).flatten(0, 1)
    return {
        "tasks": len(task.output_sizes),
        "fewest classes": min(task.output_sizes),
        "most classes": max(task.output_sizes),
        "outputs": sum(task.output_sizes),
        INPUTS: len(task.inputs()),
        WRONG_LABELS: int((task.labels() != torch.tensor(looped)).sum()),
        WRONG_RENAMED_LABELS: int((renamed != task.labels()).sum()),
    }


def _count() -> dict[str, Value]:
    """Return the number of primes below 113."""
    return {"primes below 113": len(primes_below(P))}


def _order() -> dict[str, Value]:
    """Return the number of tasks whose answer depends on the order of the digits."""
    shares = {q: commutative_share(P, q) for q in primes_below(P)}
    alike = [q for q, share in shares.items() if share == 1]
    return {
        "tasks that depend on the order of the digits": len(shares) - len(alike),
        "tasks that do not": len(alike),
        "those that do not are q = 2 and q = 7": alike == [2, 7],
    }


def _no_zero() -> dict[str, Value]:
    """Which numbers below 113 squared have no remainder of 0, beside the primes."""
    numbers, primes = set(zero_free_numbers(P).tolist()), set(primes_below(N))
    truth = {1} | {q for q in primes if q >= P}
    return {
        "numbers without a remainder of 0": len(numbers),
        "are 1 and the primes from 113 on": numbers == truth,
        "numbers in which they differ from the primes": len(numbers ^ primes),
    }


def _density() -> dict[str, Value]:
    """Return the number of primes up to n, n included, over n / ln n."""
    at_p, at_n = len(primes_below(P + 1)), len(primes_below(N + 1))
    return {
        "primes over n / ln n at 113": at_p / (P / math.log(P)),
        "primes over n / ln n at 12,769": at_n / (N / math.log(N)),
        "113 / ln 113": P / math.log(P),
    }


def _uniform() -> dict[str, Value]:
    """Cross-entropy of guessing against ln n."""
    errors = [abs(float(cross_entropy(torch.zeros(q, q), torch.arange(q))) - math.log(q)) for q in primes_below(P)]
    return {"largest error of ln n": max(errors), "printed ln(1/n) at n = 2": math.log(1 / 2)}


def _identities() -> dict[str, Value]:
    """Errors of the angle sum identities, corrected and as printed, over all pairs and frequencies."""
    w = 2 * math.pi * torch.arange(1, P // 2 + 1, dtype=torch.float64)[:, None, None] / P
    a, b = torch.arange(P, dtype=torch.float64)[:, None], torch.arange(P, dtype=torch.float64)

    def error(exact: torch.Tensor, formula: torch.Tensor) -> float:
        return float((exact - formula).abs().max())

    cos, sin = (w * (a + b)).cos(), (w * (a + b)).sin()
    return {
        "error of the corrected identities": max(
            error(cos, (w * a).cos() * (w * b).cos() - (w * a).sin() * (w * b).sin()),
            error(sin, (w * a).sin() * (w * b).cos() + (w * a).cos() * (w * b).sin()),
        ),
        "error of the cosine as printed": error(cos, (w * a).cos().square() - (w * a).sin() * (w * b).sin()),
        "error of the sine as printed": error(sin, (w * a).sin() * (w * b).cos() + (w * a).cos() * (w * a).sin()),
    }


def _mean_cross_entropy() -> dict[str, Value]:
    """Return the loss of random logits by the definition, by the loss that is trained with, and by torch. [nats]"""
    generator = torch.Generator().manual_seed(0)
    logits = 5 * torch.randn(500, P, generator=generator, dtype=torch.float64)
    labels = torch.randint(P, (500,), generator=generator)
    by_hand = (1 / logits.softmax(dim=1)[torch.arange(500), labels]).log().mean()
    trained_with = losses(logits.unsqueeze(1), labels.unsqueeze(1), OutputLayout.of((P,))).mean()
    reference = F.cross_entropy(logits, labels)
    return {
        "largest difference of three ways to it": max(
            float((loss - reference).abs()) for loss in (by_hand, trained_with)
        )
    }


ZERO = equals(0)


CLAIMS = (
    Claim(
        id="miiii.eq1.nanda_task",
        where="equation 1",
        statement="T_nanda is the sum x0 + x1 modulo 113.",
        source_says="the source states this as a definition",
        measure=_addition,
        expected={INPUTS: equals(N), WRONG_LABELS: ZERO},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.eq2.miiii_task",
        where="equation 2",
        statement=(
            "T_miiii is the remainder of x0 + 113 x1 by every prime below 113. The source's code reads the digits in "
            "reverse order, which only renames the two positions."
        ),
        source_says="29 tasks of 2 to 109 classes, 1,480 outputs",
        measure=_remainders,
        expected={
            "tasks": equals(29),
            "fewest classes": equals(2),
            "most classes": equals(109),
            "outputs": equals(1480),
            INPUTS: equals(N),
            WRONG_LABELS: ZERO,
            WRONG_RENAMED_LABELS: ZERO,
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.count29",
        where="multi-task section",
        statement="There are 29 primes below 113.",
        source_says="the source counts 29 primes",
        measure=_count,
        expected={"primes below 113": equals(29)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.noncommutative",
        where="introduction",
        statement=(
            "T_miiii depends on the order of the digits: 27 of the 29 remainders depend on the order of the "
            "digits. The remainders modulo 2 and 7 do not depend on the order of the digits, because 2 and 7 "
            "divide 112."
        ),
        source_says="the source states that every task depends on the order",
        measure=_order,
        expected={
            "tasks that depend on the order of the digits": equals(27),
            "tasks that do not": equals(2),
            "those that do not are q = 2 and q = 7": equals(1),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.primes_no_zero",
        where="introduction",
        statement=(
            "The source says that only primes have no remainder of 0 modulo the 29 primes below 113. In fact the "
            "numbers without a remainder of 0 modulo a prime below 113 are 1 and the primes from 113 on. Every "
            "prime below 113 has a remainder of 0 modulo itself."
        ),
        source_says="the source states that only primes have no remainder of 0",
        measure=_no_zero,
        expected={
            "numbers without a remainder of 0": equals(1495),
            "are 1 and the primes from 113 on": equals(1),
            "numbers in which they differ from the primes": equals(30),
        },
        needs=(),
        scope="any network",
        figure="polar",
    ),
    Claim(
        id="miiii.n_ln_n",
        where="introduction",
        statement="There are about n / ln n primes up to n.",
        source_says="about 23.9 primes up to 113 and 1,350.5 up to 12,769",
        measure=_density,
        expected={"primes over n / ln n at 113": between(1, 1.3), "primes over n / ln n at 12,769": between(1, 1.3)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.ln_q",
        where="tasks",
        statement="Guessing among n classes costs a cross-entropy of ln n.",
        source_says="the source prints ln n, and later ln(1/n)",
        measure=_uniform,
        expected={"largest error of ln n": at_most(1e-12)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.eq3to5.summary",
        where="equations 3 to 5",
        statement=(
            "A network trained on addition adds by looking up waves, multiplying waves by the angle sum "
            "identities, and taking the largest result. The angle sum identities that the source prints are "
            "wrong; the identities hold once an index that is printed twice is corrected."
        ),
        source_says="the source prints cos(w x0) twice, and cos(w x1) is missing",
        measure=_identities,
        expected={
            "error of the corrected identities": at_most(1e-12),
            "error of the cosine as printed": at_least(0.1),
            "error of the sine as printed": at_least(0.1),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        id="miiii.eq6.mce",
        where="equation 6",
        statement="The loss of a task is the mean of ln(1 / probability of the right answer).",
        source_says="the source states this as a definition",
        measure=_mean_cross_entropy,
        expected={"largest difference of three ways to it": at_most(1e-12)},
        needs=(),
        scope="any network",
    ),
)
