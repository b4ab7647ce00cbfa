"""What is asked: numbers of two digits and their remainders by all smaller primes; exact, whatever the network."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from modinterp.analyses.primality import angular_spread, commutative, multiples, without_zero
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value
from modinterp.tasks import PrimeRemainders, addition, primes_below
from modinterp.training import cross_entropy
from modinterp.training.loss import Heads, losses

P, SMALL_P = 113, 11
N = P * P


def _addition() -> dict[str, Value]:
    task = addition(P)
    looped = [[(a + b) % P] for a in range(P) for b in range(P)]
    return {"inputs": len(task.inputs()), "labels that differ": int((task.labels() != torch.tensor(looped)).sum())}


def _remainders() -> dict[str, Value]:
    task, in_the_code = PrimeRemainders(P), PrimeRemainders(P, most_significant_first=True)
    looped = [[(a + P * b) % q for q in primes_below(P)] for a in range(P) for b in range(P)]
    renamed = in_the_code.labels().unflatten(0, (P, P)).transpose(0, 1).flatten(0, 1)
    return {
        "tasks": len(task.heads),
        "fewest classes": min(task.heads),
        "most classes": max(task.heads),
        "outputs": sum(task.heads),
        "inputs": len(task.inputs()),
        "labels that differ": int((task.labels() != torch.tensor(looped)).sum()),
        "labels of the code's order of digits that differ once the positions change names": int(
            (renamed != task.labels()).sum()
        ),
    }


def _count() -> dict[str, Value]:
    return {"primes below 113": len(primes_below(P))}


def _order() -> dict[str, Value]:
    shares = {q: commutative(P, q) for q in primes_below(P)}
    alike = [q for q, share in shares.items() if share == 1]
    return {
        "tasks that depend on the order of the digits": len(shares) - len(alike),
        "tasks that do not": len(alike),
        "those that do not are q = 2 and q = 7": alike == [2, 7],
        "most pairs of digits with one answer in both orders, other tasks": max(s for s in shares.values() if s < 1),
    }


def _no_zero() -> dict[str, Value]:
    found, primes = set(without_zero(P).tolist()), set(primes_below(N))
    truth = {1} | {q for q in primes if q >= P}
    return {
        "numbers without a remainder of 0": len(found),
        "are 1 and the primes from 113 on": found == truth,
        "numbers in which they differ from the primes": len(found ^ primes),
        "primes below 12,769": len(primes),
    }


def _density() -> dict[str, Value]:
    """The source counts primes up to and with n."""
    at_p, at_n = len(primes_below(P + 1)), len(primes_below(N + 1))
    return {
        "primes over n / ln n at 113": at_p / (P / math.log(P)),
        "primes over n / ln n at 12,769": at_n / (N / math.log(N)),
        "primes up to 113": at_p,
        "113 / ln 113": P / math.log(P),
        "primes up to 12,769": at_n,
        "12,769 / ln 12,769": N / math.log(N),
    }


def _uniform() -> dict[str, Value]:
    errors = [abs(float(cross_entropy(torch.zeros(q, q), torch.arange(q))) - math.log(q)) for q in primes_below(P)]
    return {"largest error of ln n": max(errors), "printed ln(1/n) at n = 2": math.log(1 / 2)}


def _identities() -> dict[str, Value]:
    w = 2 * math.pi * torch.arange(1, P // 2 + 1, dtype=torch.float64)[:, None, None] / P
    a, b = torch.arange(P, dtype=torch.float64)[:, None], torch.arange(P, dtype=torch.float64)

    def error(of: torch.Tensor, printed: torch.Tensor) -> float:
        return float((of - printed).abs().max())

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
    generator = torch.Generator().manual_seed(0)
    logits = 5 * torch.randn(500, P, generator=generator, dtype=torch.float64)
    labels = torch.randint(P, (500,), generator=generator)
    by_hand = (1 / logits.softmax(dim=1)[torch.arange(500), labels]).log().mean()
    ours = losses(logits.unsqueeze(1), labels.unsqueeze(1), Heads.of((P,))).mean()
    torchs = F.cross_entropy(logits, labels)
    return {
        "largest difference of three ways to it": max(float((x - torchs).abs()) for x in (by_hand, ours)),
        "loss": float(torchs),
    }


def _polar() -> dict[str, Value]:
    two, one, primes = multiples([17, 23], N), multiples([11], N), primes_below(N)
    union = {n for q in (17, 23) for n in range(0, N, q)}
    return {
        "multiples of 17 or 23": len(two),
        "multiples of 11": len(one),
        "primes": len(primes),
        "sets are as defined": set(two.tolist()) == union and one.tolist() == list(range(0, N, 11)),
        "multiples of 13 or 23, as in the code": len(multiples([13, 23], N)),
    }


def _rays() -> dict[str, Value]:
    turns = (11, 17, 23)
    return {
        "largest angle off the ray, multiples of m at 2 pi n / m": max(
            angular_spread(multiples([m], N), m) for m in turns
        ),
        "smallest at n itself": min(angular_spread(multiples([m], N), 2 * math.pi) for m in turns),
    }


def _small_inputs() -> dict[str, Value]:
    task = PrimeRemainders(SMALL_P)
    numbers = task.numbers().unflatten(0, (SMALL_P, SMALL_P))
    by_hand = torch.tensor([[a + SMALL_P * b for b in range(SMALL_P)] for a in range(SMALL_P)])
    return {
        "cells": numbers.numel(),
        "first": int(numbers[0, 0]),
        "last": int(numbers[-1, -1]),
        "cells that differ": int((numbers != by_hand).sum()),
    }


def _small_labels() -> dict[str, Value]:
    task = PrimeRemainders(SMALL_P)
    in_order = task.labels()[task.numbers().argsort()]
    wrong = sum(int((in_order[q:, i] != in_order[:-q, i]).sum()) for i, q in enumerate(task.heads))
    looped = torch.tensor([[n % q for q in (2, 3, 5, 7)] for n in range(SMALL_P**2)])
    sums = addition(SMALL_P).labels().view(SMALL_P, SMALL_P)
    return {
        "panels of remainders": len(task.heads),
        "cells that differ from n mod q": int((in_order != looped).sum()),
        "cells that differ from those q numbers on": wrong,
        "cells of the addition that differ from their mirror image": int((sums != sums.T).sum()),
    }


ZERO = equals(0)
CLAIMS = (
    Claim("miiii.eq1.nanda_task", "equation 1", "T_nanda asks for x0 + x1 modulo 113.", "a definition", _addition,
          {"inputs": equals(N), "labels that differ": ZERO}, needs=(), scope="any network"),
    Claim("miiii.eq2.miiii_task", "equation 2",
          "T_miiii asks for the remainder of x0 + 113 x1 by every prime below 113; its code reads the digits in the other "
          "order, which renames the positions and changes nothing else.",
          "29 tasks of 2 to 109 classes, 1,480 outputs", _remainders,
          {"tasks": equals(29), "fewest classes": equals(2), "most classes": equals(109), "outputs": equals(1480),
           "inputs": equals(N), "labels that differ": ZERO,
           "labels of the code's order of digits that differ once the positions change names": ZERO},
          needs=(), scope="any network"),
    Claim("miiii.count29", "multi-task section", "There are 29 primes below 113.", "29", _count,
          {"primes below 113": equals(29)}, needs=(), scope="any network"),
    Claim("miiii.noncommutative", "introduction",
          "T_miiii depends on the order of the digits; true of 27 of its tasks, but not of q = 2 and q = 7, which divide 112.",
          "of all tasks", _order,
          {"tasks that depend on the order of the digits": equals(27), "tasks that do not": equals(2),
           "those that do not are q = 2 and q = 7": equals(1)}, needs=(), scope="any network"),
    Claim("miiii.primes_no_zero", "introduction",
          "Primes alone have no remainder of 0; exactly, 1 and the primes from 113 on have none, and every prime below "
          "113 has one.",
          "the primes", _no_zero,
          {"numbers without a remainder of 0": equals(1495), "are 1 and the primes from 113 on": equals(1),
           "numbers in which they differ from the primes": equals(30)}, needs=(), scope="any network", figure="polar"),
    Claim("miiii.n_ln_n", "introduction", "There are about n / ln n primes up to n.", "23.9 and 1,350.5", _density,
          {"primes over n / ln n at 113": between(1, 1.3), "primes over n / ln n at 12,769": between(1, 1.3)},
          needs=(), scope="any network"),
    Claim("miiii.ln_q", "tasks", "Guessing among n classes costs a cross-entropy of ln n.", "ln n; later ln(1/n)", _uniform,
          {"largest error of ln n": at_most(1e-12)}, needs=(), scope="any network"),
    Claim("miiii.eq3to5.summary", "equations 3 to 5",
          "Modular addition is done by looking up waves, multiplying them by the angle sum identities, and reading off the "
          "largest; the identities hold with the repeated index mended, and not as printed.",
          "cos(w x0) twice, cos(w x1) missing", _identities,
          {"error of the corrected identities": at_most(1e-12), "error of the cosine as printed": at_least(0.1),
           "error of the sine as printed": at_least(0.1)}, needs=(), scope="any network"),
    Claim("miiii.eq6.mce", "equation 6", "The loss of a task is the mean of ln(1 / probability of the right answer).",
          "a definition", _mean_cross_entropy, {"largest difference of three ways to it": at_most(1e-12)},
          needs=(), scope="any network"),
    Claim("miiii.fig1", "figure 1", "Numbers n below 12,769 at radius n and angle n: multiples of 17 or 23, multiples of 11, "
          "primes.", "1,275, 1,161 and 1,523 points", _polar,
          {"multiples of 17 or 23": equals(1275), "multiples of 11": equals(1161), "primes": equals(1523),
           "sets are as defined": equals(1)}, needs=(), scope="any network", figure="polar"),
    Claim("miiii.fig1.scaling", "introduction", "With another full turn the multiples of a number fall on a straight line.",
          "an invitation to try", _rays, {"largest angle off the ray, multiples of m at 2 pi n / m": at_most(1e-9)},
          needs=(), scope="any network", figure="polar"),
    Claim("miiii.fig2", "figure 2", "For p = 11 the inputs are the numbers from (0, 0) = 0 to (10, 10) = 120.", "121 samples",
          _small_inputs, {"cells": equals(121), "first": ZERO, "last": equals(120), "cells that differ": ZERO},
          needs=(), scope="any network", figure="inputs"),
    Claim("miiii.fig3", "figure 3", "For p = 11 the remainders by 2, 3, 5 and 7 repeat along the numbers, and modular addition "
          "is a symmetric pattern.", "five panels", _small_labels,
          {"panels of remainders": equals(4), "cells that differ from n mod q": ZERO,
           "cells that differ from those q numbers on": ZERO,
           "cells of the addition that differ from their mirror image": ZERO},
          needs=(), scope="any network", figure="labels"),
)  # fmt: skip
