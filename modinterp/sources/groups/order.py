"""Define the order in which the paper's released code numbers the permutations of five points.

sympy generates the elements of S5 as products of coset representatives of stabilisers: of 0, of 0 and 1, and so on. The
representatives of the first stabiliser vary fastest.
"""

from __future__ import annotations

from itertools import product

from modinterp.tasks.group_tables import cycles

_REPRESENTATIVES = (
    ("01234", "12340", "23401", "34012", "41230"),
    ("01234", "02143", "03412", "04123"),
    ("01423", "01234", "01243"),
    ("01234", "01432"),
)


def _after(a: str, b: str) -> str:
    """Compose two permutations: first b, then a."""
    return "".join(a[int(i)] for i in b)


S5_ELEMENTS = tuple(
    cycles([int(i) for i in _after(first, _after(second, _after(third, fourth)))])
    for fourth, third, second, first in product(*reversed(_REPRESENTATIVES))
)
