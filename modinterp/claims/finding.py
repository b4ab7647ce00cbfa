"""The recorded verdict of a claim on the shipped networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "mixed", "refuted", "open"]
Kind = Literal["", "source", "network", "setting", "near miss", "our own expectation"]
Reason = Literal["", "pending", "variant", "does not apply", "one seed"]
Control = Literal[
    "told apart",
    "also true before training",
    "also true after memorising",
    "also true of random labels",
    "also true of another operation",
    "also true of a run that never generalises",
    "also true of a contrast",
    "also true of shuffled settings",
    "without control",
]

VERDICTS: tuple[Verdict, ...] = ("holds", "mixed", "refuted", "open")
KINDS: dict[Kind, str] = {
    "source": "The source is wrong, whatever the network",
    "network": "The source says it of its one network, and none of ours shows it",
    "setting": "The source leaves the setting open, and ours decides",
    "near miss": "Off the band by less than 5% of its edge",
    "our own expectation": "Our own expectation was wrong; the source does not state it",
}


@dataclass(frozen=True)
class Finding:
    """A verdict as recorded.

    Attributes:
        verdict: `holds`; `mixed`, of some networks trained by the recipe and not of others; `refuted`, of none; `open`.
        why: what was found, where it is not that the claim simply holds. In how many networks it holds is counted
            beside it, and is no part of these words, which stay true when a network is added.
        kind: of a refutation: the `source` is wrong whatever the network; it says so of its one `network` and none of
            ours shows it; the `setting` that it leaves open, as we chose it, decides; all it misses is a `near miss`;
            it was `our own expectation`, which the source does not state.
        reason: of an open verdict: a run is `pending`; only a `variant` was measured, reduced or set up differently;
            what is given `does not apply`; the numbers are off on `one seed`, which refutes nothing.
    """

    verdict: Verdict = "holds"
    why: str = ""
    kind: Kind = ""
    reason: Reason = ""

    @property
    def words(self) -> str:
        """The verdict and, where it is open, why."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict


HOLDS = Finding()


def refuted(why: str, kind: Kind = "network") -> Finding:
    """The claim holds in none of the shipped networks."""
    return Finding("refuted", why, kind)


def mixed(why: str = "") -> Finding:
    """The claim holds in some of the shipped networks and not in others.

    Which networks miss which number is told from what is measured, and need not be written.
    """
    return Finding("mixed", why)


def pending(why: str) -> Finding:
    """The claim awaits a run that is not shipped."""
    return Finding("open", why, reason="pending")


def inapplicable(why: str) -> Finding:
    """An open verdict: the shipped networks fail the precondition of the claim."""
    return Finding("open", why, reason="does not apply")


def variant(why: str) -> Finding:
    """Only a reduced or differently set-up version was measured, which says nothing final of the statement."""
    return Finding("open", why, reason="variant")


def one_seed(why: str) -> Finding:
    """The numbers are off their tolerance on the one seed that was measured, which refutes nothing."""
    return Finding("open", why, reason="one seed")
