"""Define tolerances for measured numbers, each with a reason."""

from __future__ import annotations

from dataclasses import dataclass

from modinterp.measurements.quantity import number_text


@dataclass(frozen=True)
class Band:
    """A tolerance: a closed interval in which a measured number must lie; NaN lies in no interval.

    Attributes:
        low, high: ends of the interval, both included.
        because: reason for the choice of the ends.

    >>> near(0.5, 0.25).holds(0.75), near(0.5, 0.25).holds(float("nan"))
    (True, False)
    >>> str(at_least(0.9)), str(between(2, 3)), str(at_most(25_000))
    ('at least 0.9', '2 to 3', 'at most 25,000')
    """

    low: float
    high: float
    because: str = ""

    def holds(self, value: float) -> bool:
        """Return True if a number lies in the tolerance."""
        return self.low <= value <= self.high

    def miss(self, value: float) -> float:
        """Return the distance of a number from the tolerance, as a share of the nearer edge.

        The distance is 0 for a number inside the tolerance, and infinite for NaN or an edge at 0.

        >>> at_most(10).miss(10.5), at_least(2).miss(3), equals(0).miss(0.1)
        (0.05, 0.0, inf)
        """
        if self.holds(value):
            return 0.0
        edge = self.low if value < self.low else self.high
        return abs(value - edge) / abs(edge) if edge and value == value else float("inf")

    def __str__(self) -> str:
        if self.low == self.high:
            return number_text(self.low, 6)
        if self.high == float("inf"):
            return f"at least {number_text(self.low, 6)}"
        if self.low == -float("inf"):
            return f"at most {number_text(self.high, 6)}"
        return f"{number_text(self.low, 6)} to {number_text(self.high, 6)}"


def at_least(low: float, because: str = "") -> Band:
    """Return the tolerance of numbers that are `low` or more."""
    return Band(low, float("inf"), because)


def at_most(high: float, because: str = "") -> Band:
    """Return the tolerance of numbers that are `high` or less."""
    return Band(-float("inf"), high, because)


def between(low: float, high: float, because: str = "") -> Band:
    """Return the tolerance of numbers from `low` to `high`."""
    return Band(low, high, because)


def near(value: float, tolerance: float, because: str = "") -> Band:
    """Return the tolerance of numbers from `value - tolerance` to `value + tolerance`."""
    return Band(value - tolerance, value + tolerance, because)


def equals(value: float, because: str = "") -> Band:
    """Return the tolerance that only the number `value` meets."""
    return Band(value, value, because)
