"""Map epochs to weights, and read each snapshot from disk when it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from modinterp.models import Weights


class Snapshots(Mapping[int, Weights]):
    """Map from epoch to the weights of a snapshot, which are read from disk when they are used."""

    def __init__(self, epochs: list[int], read: Callable[[int], Weights]):
        self._epochs, self._read = epochs, read

    def __getitem__(self, epoch: int) -> Weights:
        if epoch not in self._epochs:
            raise KeyError(f"there is no snapshot of epoch {epoch}; the snapshots are of epochs {self._epochs}")
        return self._read(epoch)

    def __iter__(self) -> Iterator[int]:
        return iter(self._epochs)

    def __len__(self) -> int:
        return len(self._epochs)

    def check(self) -> None:
        """Read every snapshot; raise ValueError if one is missing or damaged."""
        for epoch in self._epochs:
            self._read(epoch)

    def __repr__(self) -> str:
        return f"Snapshots({self._epochs})"
