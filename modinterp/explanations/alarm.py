"""What is doubtful about an explanation: another forward pass, operation or form of inputs fits the network better.

Nothing is picked here: what was assumed stays, and what would fit is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from modinterp.explanations.assumptions import Trial, as_assumed, trials
from modinterp.explanations.behaviour import Behaviour
from modinterp.explanations.subject import Subject

MOSTLY_RIGHT = 0.95
SURE = 0.5  # mean probability of the answer given, where it is wrong, from which a network is no guesser
# Under another forward pass, over that under the assumed one, which is doubted below it:
EVENER = 0.7  # the unevenness, where the two differ by more than `SAME`
SMALLER = 0.2  # the loss, where the answers are about as even and logits of the same degree in the weights
SAME = 0.02


@dataclass(frozen=True)
class Alarm:
    """Why the numbers of an explanation may be those of another network than the one that was trained.

    Attributes:
        words: what is the matter.
        trials: what was tried, the best first.
        explains: whether under one of them the network is mostly right, where it is mostly wrong as it was assumed.
    """

    words: str
    trials: tuple[Trial, ...]
    explains: bool

    def table(self) -> pd.DataFrame:
        """One row for each assumption that was tried."""
        return pd.DataFrame(
            {
                "assumption": t.assumption,
                "accuracy": t.score.accuracy,
                "loss [nats]": t.score.loss,
                "margin, std over mean": t.unevenness,
                "inputs": t.inputs,
            }
            for t in self.trials
        )


def alarm(found: Subject, m: Behaviour, is_periodic: bool = False) -> Alarm | None:
    """What is doubtful about the assumptions under which a network was measured; None where nothing is.

    Args:
        is_periodic: whether its weights or logits are clearly periodic, so that it should know the answers.
    """
    own = m.own_score
    is_wrong = own.accuracy < MOSTLY_RIGHT
    tried = tuple(trials(found, is_wrong))
    if not is_wrong:
        assumed = as_assumed(m)
        other = next((t for t in tried if _is_likelier(t, assumed)), None)
        if other is None:
            return None
        words = (
            f"On {assumed.inputs:,} inputs its loss, as it was assumed, is {assumed.score.loss:.3g} and the margin of "
            f"its answers varies by {assumed.unevenness:.1%}, but with {other.assumption}, which no weight says, by "
            f"{other.unevenness:.1%}, and the loss is {other.score.loss:.3g}: what follows may be the numbers of "
            f"another network than was trained."
        )
        return Alarm(words, (other, *(t for t in tried if t is not other)), explains=False)
    if tried and (best := tried[0].score.accuracy) > max(0.5, min(own.accuracy + 0.1, (1 + own.accuracy) / 2)):
        how = "most" if best < MOSTLY_RIGHT else "nearly all" if best < 1 else "all"
        words = f"It answers {own.accuracy:.2%} rightly as it was assumed, but {how} of them with {_named(tried)}."
        return Alarm(words, tried, best >= MOSTLY_RIGHT)
    if found.reopened is None or not (is_periodic or m.sureness_where_wrong >= SURE):
        return None
    names = {part.partition("=")[0]: None for t in tried for part in t.assumption.split(", ")}
    words = (
        f"It is {'clearly periodic' if is_periodic else 'sure of its answers'}, and yet answers {own.accuracy:.2%} "
        f"rightly. Under none of the assumptions that were tried ({', '.join(names) or 'nothing else'}) is it mostly "
        f"right: it may compute in another way than any of them, or have learned something else"
        f"{'' if is_periodic else ', or some pairs by heart'}."
    )
    return Alarm(words, tried, explains=False)


def _is_likelier(other: Trial, assumed: Trial) -> bool:
    """Whether a network that is right as it was assumed, and under another forward pass, looks trained by the other."""
    if other.score.accuracy < MOSTLY_RIGHT:
        return False
    if other.unevenness < min(EVENER * assumed.unevenness, assumed.unevenness - SAME):
        return True
    is_as_even = other.unevenness < assumed.unevenness + SAME
    return is_as_even and other.has_same_units and other.score.loss < SMALLER * assumed.score.loss


def _named(tried: Sequence[Trial]) -> str:
    """The first of some trials, and how many others do as well."""
    first, others = tried[0].assumption, [t for t in tried[1:] if t.score.accuracy >= tried[0].score.accuracy]
    return first + (f" (or {len(others)} more, such as {others[0].assumption})" if others else "")
