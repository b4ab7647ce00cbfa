"""Compute a share of observed cases, with a confidence interval for the share of all possible cases."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

_LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """A count out of a total, with a 95% interval for the share.

    If the share is 0 or 1, the interval is exact and one-sided; otherwise it is Wilson's score interval (1927).

    >>> str(Share(3, 4)), [round(x, 2) for x in Share(20, 20).interval]
    ('3 of 4', [0.86, 1.0])
    """

    held: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the 95% interval; (0, 1) without any case."""
        if not self.of:
            return 0.0, 1.0
        exact = (1 - _LEVEL) ** (1 / self.of)
        if self.held == self.of:
            return exact, 1.0
        if self.held == 0:
            return 0.0, 1 - exact
        z, n, p = NormalDist().inv_cdf(0.5 + _LEVEL / 2), self.of, self.held / self.of
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    @property
    def interval_text(self) -> str:
        """The interval in words, such as "at least 86%", "at most 14%" or "57% to 93%"."""
        low, high = self.interval
        if self.of and self.held == self.of:
            return f"at least {low:.0%}"
        return f"at most {high:.0%}" if self.of and self.held == 0 else f"{low:.0%} to {high:.0%}"

    @property
    def precise_text(self) -> str:
        """The interval to a hundredth of a percent, such as "98.10% to 98.62%".

        >>> Share(10_000, 10_000).precise_text
        '99.97% to 100.00%'
        """
        low, high = self.interval
        return f"{low:.2%} to {high:.2%}"

    def to_json(self) -> dict[str, Any]:
        """Plain data: `held`, `of`, and the ends of the interval, `low` and `high`."""
        low, high = self.interval
        return {"held": self.held, "of": self.of, "low": round(low, 4), "high": round(high, 4)}

    def __str__(self) -> str:
        return f"{self.held} of {self.of}"
