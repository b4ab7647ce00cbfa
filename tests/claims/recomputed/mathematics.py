"""Claims that need no network, or hardly one, recomputed."""

from __future__ import annotations

import cmath
import math
from itertools import combinations, product

from claims.recomputed.network import Numbers


def cosine_value(freq: int, x: int, printed: float) -> Numbers:
    """How far a value of a cosine mod 113 is from the printed one."""
    value = math.cos(2 * math.pi * freq * x / 113)
    return {"difference to the printed value": abs(value - printed), "value of the formula": value}


def coprime() -> Numbers:
    """Sets of frequencies with a common divisor at which no residue but 0 has all its angles at 0, by whole numbers."""
    sets = [(113, freqs) for size in (1, 2) for freqs in combinations(range(1, 57), size)]
    for p, size in product((12, 15, 36), (1, 2, 3)):
        sets += [(p, freqs) for freqs in combinations(range(1, p // 2 + 1), size)]
    sets.append((53, (10, 14, 22)))
    unique = [f for p, f in sets if not any(all(k * x % p == 0 for k in f) for x in range(1, p))]
    return {"unique answers though the frequencies are not co-prime": sum(math.gcd(*f) > 1 for f in unique)}


def _crossings(embedding: int, attention: int, phase: float) -> int:
    """How often a petal crosses itself away from x_a, through which it comes again and again.

    Seen from x_a its points are (1 - alpha)(x_b - x_a), and the direction of x_b - x_a tells x_b. So two points meet
    only where x_b is the same, a part of a turn apart, and alpha as well, at equal distances from one of its peaks.
    """
    met = 0
    for part in range(1, embedding):
        for i in range(2 * attention):
            angle = (math.pi * (i + attention * part / embedding) - phase) / attention
            other = angle - 2 * math.pi * part / embedding
            alpha, again = ((1 + math.cos(attention * s + phase)) / 2 for s in (angle, other))
            assert math.isclose(alpha, again, abs_tol=1e-12)
            met += (1 - alpha) * abs(1 - cmath.exp(1j * embedding * angle)) > 1e-9
    return met // 2  # each from both of its points


def petals() -> Numbers:
    """Crossings over six phases, at frequencies of the embedding and of the attention."""

    def crossings(embedding: int, attention: int) -> list[int]:
        return [_crossings(embedding, attention, 2 * math.pi * (i + 0.1) / 6) for i in range(6)]

    slower = "fewest crossings at attention frequency 1 and embedding frequency 2 to 4"
    return {
        "most crossings at embedding frequency 1": max(max(crossings(1, a)) for a in (1, 2, 3, 4, 8)),
        slower: min(min(crossings(e, 1)) for e in (2, 3, 4)),
        "most crossings at embedding 2, attention 3": max(crossings(2, 3)),
    }
