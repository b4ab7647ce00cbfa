"""Record the verdict of a claim on the shipped networks."""

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
    "source": "The source's statement is wrong for every network",
    "network": "The source's statement is about its one network, and holds in none of our networks",
    "setting": "The source leaves a setting open, and our choice of this setting decides the verdict",
    "near miss": "The number misses its tolerance by less than 5% of the tolerance's edge",
    "our own expectation": "Our own expectation was wrong; the source does not state this expectation",
}


@dataclass(frozen=True)
class Finding:
    """The recorded verdict of a claim on the shipped networks.

    Attributes:
        verdict: `holds`; `mixed`, true in some networks trained by the recipe and not in others; `refuted`, true in no
            network; or `open`.
        why: text that explains a verdict other than `holds`. The number of networks in which the claim holds is counted
            separately, so the text stays true when a network is added.
        kind: kind of a refutation. `source`: wrong for every network; `network`: true only of the source's own network;
            `setting`: decided by a setting that the source leaves open; `near miss`; or `our own expectation`, which
            the source does not state.
        reason: reason of an open verdict. `pending`: a run is missing; `variant`: only a reduced or different set-up
            was measured; `does not apply`: the precondition fails; `one seed`: a single seed misses its tolerance.
    """

    verdict: Verdict = "holds"
    why: str = ""
    kind: Kind = ""
    reason: Reason = ""

    @property
    def words(self) -> str:
        """The verdict and, if the verdict is open, the reason."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict


HOLDS = Finding()


def refuted(why: str, kind: Kind = "network") -> Finding:
    """Return the finding that the claim holds in none of the shipped networks."""
    return Finding("refuted", why, kind)


def mixed(why: str = "") -> Finding:
    """Return the finding that the claim holds in some of the shipped networks and not in others.

    The measurements determine which networks miss which number, so the text of a finding need not list these networks.
    """
    return Finding("mixed", why)


def pending(why: str) -> Finding:
    """Return an open finding: the claim needs a run that is not shipped."""
    return Finding("open", why, reason="pending")


def inapplicable(why: str) -> Finding:
    """Return an open finding: the shipped networks fail the precondition of the claim."""
    return Finding("open", why, reason="does not apply")


def variant(why: str) -> Finding:
    """Return an open finding: only a reduced or different set-up was measured, which does not decide the claim."""
    return Finding("open", why, reason="variant")


def one_seed(why: str) -> Finding:
    """Return an open finding: the only measured seed misses its tolerance, but one seed cannot refute a claim."""
    return Finding("open", why, reason="one seed")
