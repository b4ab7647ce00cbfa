"""A component of the measurements of a network: an object with further measurements on one subject."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Kept(dict[str, Any]):
    """Map the name of each computed measurement of a component to its value."""


class Component(Generic[T]):
    """Measurements on one subject, such as `m.circles`; their results are kept with the measurements `m`.

    Each access makes a new object, so that measurements and components do not reference each other in a circle.

    Args:
        m: the measurements of the network.
        kept: the results of the component that were computed so far, by name.
    """

    __slots__ = ("__dict__", "m")

    def __init__(self, m: T, kept: Kept):
        self.__dict__ = kept
        self.m = m
