"""Warn if another forward pass, operation or input format fits the network better than the assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import torch

from modinterp.activations.blocks import row_blocks
from modinterp.explain.faults import weights_out_of_proportion, where_errors_lie
from modinterp.explain.gradient_alignment import COMMON_LOSS
from modinterp.explain.hypotheses import SAMPLE, Trial, as_assumed, trials
from modinterp.explain.subject import Subject
from modinterp.measurements import NetworkMeasurements
from modinterp.models import Wrapped

MOSTLY_RIGHT = 0.95
EXPLAINED = 0.99  # from which other assumptions explain the errors; a damaged network may be mostly right with squares
SURE = 0.5  # mean probability of the answer given, where it is wrong, from which a network is no guesser
# Under another forward pass, over that under the assumed one, which is doubted below either unless the other says the
# reverse. Of 61 trained networks these doubt none that is read as it was trained; see benchmarks/recognition.py.
EVENER = 0.75  # the margin_variation, where the two differ by more than `SAME`
MORE_TRAINED = 0.6  # by how much the weights' cosine with the gradient of the loss stays below 1
SAME = 0.02
# Squares widen margins, so that both measures speak for them in small networks that were trained otherwise: in 20 of 40
# that are right either way. Of 24 that were trained with squares none is right when it is read with ReLU or GeLU.
SQUARES = "act_fn='square'"
STEADY = 0.01  # of the spread of the logits: no rounding moves them so far
ROUNDED = 0.01  # by which probabilities, however coarse, may miss a sum of 1
BETTER = 0.1  # by which another reading is right on more pairs, so that the given one is doubted
FAR_BETTER = 0.5  # by which it is right on so many more that it is the one, though it is not right on all
HALFWAY = 0.2  # share of right answers from which a network knows some of them
SHOWN = 4  # of the assumptions under which a network is as right


@dataclass(frozen=True)
class ReadingWarning:
    """A warning that other assumptions fit better, so the explanation may describe another network than the trained
    one.

    Attributes:
        words: the warning, in sentences.
        trials: the alternative assumptions that were tried, best first.
        explains: True if the network is mostly wrong under the first assumptions, and mostly right under an
            alternative.
    """

    words: str
    trials: tuple[Trial, ...]
    explains: bool

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each assumption that was tried."""
        return pd.DataFrame(
            {
                "assumption": t.assumption,
                "accuracy": t.score.accuracy,
                "loss [nats]": t.score.loss,
                "margin, std over mean": t.margin_variation,
                "cosine of weights and gradient": t.alignment,
                "inputs": t.inputs,
            }
            for t in self.trials
        )


@dataclass(frozen=True)
class Remarks:
    """The warning and the remark about the assumptions under which a network was measured.

    Attributes:
        warning: the warning that the assumptions are doubtful; None without doubts.
        remark: text that names other assumptions under which the network is equally accurate; empty if there are none.
    """

    warning: ReadingWarning | None = None
    remark: str = ""


def warning(found: Subject, m: NetworkMeasurements, is_periodic: bool = False) -> Remarks:
    """Check the assumptions about a network: warn if other assumptions fit better, and remark if others fit equally
    well.

    Args:
        is_periodic: True if the network's weights or logits are clearly periodic, so that its answers should be right.
    """
    if words := weights_out_of_proportion(m.model) or _of_chance(m) or _of_probabilities(m):
        return Remarks(ReadingWarning(words, (), explains=False))
    is_wrong = m.own_score.accuracy < MOSTLY_RIGHT
    tried = tuple(trials(found, is_wrong, m.own_score.accuracy < EXPLAINED))
    errors = where_errors_lie(m) if is_periodic or not is_wrong else ""
    if is_wrong:
        doubt = _of_wrong_answers(found, m, tried, is_periodic)
        return Remarks(doubt, "" if doubt is not None and doubt.explains else errors)
    remarks = _of_right_answers(found, m, tried)
    return replace(remarks, remark="; ".join(filter(None, (errors, remarks.remark))))


def _of_chance(m: NetworkMeasurements) -> str:
    """Return a sentence if a network gives other logits when it is called again; otherwise empty."""
    moved = _moved(m)
    if moved <= STEADY:
        return ""
    return (
        "The network gives different logits when it is called again with the same inputs: the logits "
        f"differ by {moved:.1%} of their standard deviation. The network may use dropout, or another "
        "source of randomness. The numbers below come from one call of the network."
    )


def _of_probabilities(m: NetworkMeasurements) -> str:
    """Return a sentence if the outputs of a network are probabilities instead of logits; otherwise empty."""
    outputs = m.all_logits
    blocks = (outputs[some] for some in row_blocks(outputs.shape))
    if not all(bool(x.min() >= 0) and bool(((x.sum(dim=-1) - 1).abs() < ROUNDED).all()) for x in blocks):
        return ""
    return (
        "The network's outputs are probabilities: none is negative, and the outputs for one input add up to"
        " 1. Treated as logits, probabilities give a wrong loss and wrong waves. Give the network without "
        "its last softmax, or the logarithm of its outputs."
    )


def _moved(m: NetworkMeasurements) -> float:
    """Return the root mean square change of a user's network's logits between two calls, divided by their spread."""
    if not isinstance(m.model, Wrapped):
        return 0.0
    rows = torch.arange(min(SAMPLE, len(m.all_logits)))
    before = m.all_logits[rows].cpu()
    with torch.no_grad():
        after = m.model(m.task.inputs()[rows])[:, -1].double().cpu()
    spread = float(before.std())
    return float((after - before).square().mean().sqrt()) / spread if spread > 0 else 0.0


def _of_right_answers(found: Subject, m: NetworkMeasurements, tried: tuple[Trial, ...]) -> Remarks:
    right = [t for t in tried if t.score.accuracy >= MOSTLY_RIGHT]
    if not right:
        return Remarks()
    if (own := m.own_score.accuracy) < EXPLAINED <= (best := right[0]).score.accuracy:
        words = (
            f"The network answers {own:.2%} of the inputs correctly under the assumptions made here, but "
            f"{best.score.accuracy:.2%} with {best.assumption}."
        )
        return Remarks(ReadingWarning(words, tried, explains=True))
    assumed = as_assumed(found)
    other = next((t for t in right if t.assumption != SQUARES and is_likelier(t, assumed)), None)
    if other is None:
        return Remarks(
            remark=(
                f"the network's answers are also right with {_either(right)}, but nothing else suggests that it "
                "was trained in this way"
            )
        )
    words = (
        "The network's answers are right under the assumptions made here, but it was probably trained "
        f"with {other.assumption}, which the weights cannot show directly. With {other.assumption}, the "
        f"margin of the network's answers varies by {other.margin_variation:.1%} over {other.inputs:,} "
        f"inputs; under the assumptions made here, the margin varies by {assumed.margin_variation:.1%}. "
        f"Training also aligns weights with the gradient of the loss. At a loss of {COMMON_LOSS:g} nats "
        f"the cosine of weights and gradient is {other.alignment:.2f} with {other.assumption}, and "
        f"{assumed.alignment:.2f} under the assumptions made here. The numbers below may therefore "
        "describe a different network."
    )
    return Remarks(ReadingWarning(words, (other, *(t for t in tried if t is not other)), explains=False))


def _either(right: Sequence[Trial]) -> str:
    *first, last = [t.assumption for t in right[:SHOWN]]
    return f"{', '.join(first)} or {last}" if first else last


def _of_wrong_answers(
    found: Subject, m: NetworkMeasurements, tried: tuple[Trial, ...], is_periodic: bool
) -> ReadingWarning | None:
    own = m.own_score
    best = tried[0].score.accuracy if tried else 0.0
    if best >= EXPLAINED or best >= max(FAR_BETTER, own.accuracy + FAR_BETTER):
        how = "all" if best == 1 else "nearly all" if best >= EXPLAINED else f"{best:.2%}"
        words = (
            f"The network answers {own.accuracy:.2%} of the inputs correctly under the assumptions made here, "
            f"but {how} of the inputs with {_named(tried)}."
        )
        return ReadingWarning(words, tried, explains=True)
    is_unfinished = is_halfway(m) and not any(t.score.accuracy > own.accuracy + BETTER for t in tried)
    if found.reopened is None or is_unfinished or not (is_periodic or m.sureness_where_wrong >= SURE):
        return None
    names = {part.partition("=")[0]: None for t in tried for part in t.assumption.split(", ")}
    words = (
        f"The network is {'clearly periodic' if is_periodic else 'sure of its answers'}, and yet answers "
        f"only {own.accuracy:.2%} of the inputs correctly. Other assumptions were tried "
        f"({', '.join(names) or 'none'}), "
        "and the network is mostly right under none of them. The network may compute in a way that was "
        f"not tried, or may have learned another task{'' if is_periodic else ', or may have memorised some pairs'}."
    )
    return ReadingWarning(words, tried, explains=False)


def is_halfway(m: NetworkMeasurements) -> bool:
    """Return True if a network is mostly wrong because its training stopped early, and not because of the assumptions.

    A network whose training stopped early is right on its training pairs, if these pairs are known. If the training
    pairs are unknown, the network must be right on a fifth of all pairs, and no other assumption may exceed this share.
    """
    if m.run.knows_split and len(m.split.train) and m.own_train_score.accuracy >= MOSTLY_RIGHT:
        return True
    return m.accuracy >= max(HALFWAY, 3 / m.classes)


def is_likelier(other: Trial, assumed: Trial) -> bool:
    """Return True if a network that is right under two assumptions was more likely trained under the alternative
    assumption.

    The alternative is more likely if the network's margins are far more even, or its weights align far better with the
    gradient. Neither measure, margins or alignment, may clearly contradict the other.
    """
    evener, trained = _is_evener(other, assumed), _is_more_trained(other, assumed)
    return (evener and not _is_more_trained(assumed, other)) or (trained and not _is_evener(assumed, other))


def _is_evener(x: Trial, y: Trial) -> bool:
    return x.margin_variation < min(EVENER * y.margin_variation, y.margin_variation - SAME)


def _is_more_trained(x: Trial, y: Trial) -> bool:
    return 1 - x.alignment < MORE_TRAINED * (1 - y.alignment)


def _named(tried: Sequence[Trial]) -> str:
    """Describe the best trial, and count the other trials that reach its accuracy."""
    first, others = tried[0].assumption, [t for t in tried[1:] if t.score.accuracy >= tried[0].score.accuracy]
    return first + (f" (or {len(others)} more, such as {others[0].assumption})" if others else "")
