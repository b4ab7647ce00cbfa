"""Describe how a training ended: the kind of its end, the epoch that decided it, and a detail."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any


class OutcomeKind(Enum):
    """The kinds of ends that a training can have; `run.json` stores the values."""

    EPOCHS_OVER = "epochs over"
    TEST_LOSS_REACHED = "test loss reached"
    NOT_FINITE = "not finite"


_SENTENCES = {
    OutcomeKind.EPOCHS_OVER: "all {epoch} epochs are over",
    OutcomeKind.TEST_LOSS_REACHED: "test loss {detail} or less since epoch {epoch}",
    OutcomeKind.NOT_FINITE: "{detail} at epoch {epoch}, not finite",
}


@dataclass(frozen=True)
class Outcome:
    """How a training ended; `str` returns the outcome as a sentence.

    Attributes:
        epoch: the number of epochs, if all are over; or the first epoch whose test loss was low enough; or the epoch at
            which a number was no longer finite. The last finite weights are earlier than the epoch at which a number
            was no longer finite.
        detail: the test loss [nats] that was to be reached, or which number was not finite and what it was instead.

    >>> str(Outcome(OutcomeKind.TEST_LOSS_REACHED, 9000, "1e-06"))
    'test loss 1e-06 or less since epoch 9,000'
    """

    kind: OutcomeKind
    epoch: int
    detail: str = ""

    def __str__(self) -> str:
        return _SENTENCES[self.kind].format(epoch=f"{self.epoch:,}", detail=self.detail)

    @property
    def is_finite(self) -> bool:
        """True if all numbers of the training were finite until the end."""
        return self.kind is not OutcomeKind.NOT_FINITE

    def to_json(self) -> dict[str, Any]:
        """Return plain strings and numbers, from which `from_json` restores the outcome."""
        return {"kind": self.kind.value, "epoch": self.epoch, "detail": self.detail}

    @classmethod
    def from_json(cls, data: Any) -> Outcome | None:
        """Restore an outcome from the result of `to_json`, or from a sentence; None for null or an empty sentence.

        Raises:
            ValueError: the content is neither a result of `to_json` nor a known sentence.
        """
        if not data:
            return None
        if isinstance(data, str):
            return _from_sentence(data)
        try:
            return cls(OutcomeKind(data["kind"]), int(data["epoch"]), str(data["detail"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{data!r} is not how a training ends: {error}") from error


def _from_sentence(text: str) -> Outcome:
    """Parse the outcome from a sentence, which is all that records of earlier versions hold."""
    for kind, sentence in _SENTENCES.items():
        pattern = sentence.replace("{epoch}", r"(?P<epoch>[0-9,]+)").replace("{detail}", r"(?P<detail>.+)")
        if match := re.fullmatch(pattern, text):
            return Outcome(kind, int(match["epoch"].replace(",", "")), match.groupdict().get("detail", ""))
    raise ValueError(f"{text!r} is not how a training ends")
