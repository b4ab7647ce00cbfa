"""Define components of measurements: objects that group further measurements of a network on one subject."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Kept(dict[str, Any]):
    """Store of the computed measurements of one component, by name."""


class Component(Generic[T]):
    """Measurements on one subject, such as `m.circles`, whose results are stored with the measurements `m` of the
    network.

    Each access creates a new object, so that measurements and components do not reference each other in a cycle.

    Args:
        m: the measurements of the network.
        kept: the results of the component that were computed so far, by name.
    """

    __slots__ = ("__dict__", "m")

    def __init__(self, m: T, kept: Kept):
        self.__dict__ = kept
        self.m = m
