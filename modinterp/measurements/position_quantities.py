"""Define the quantities of networks on sequences: accuracy, loss without each part, and effects of exchanges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.quantity import Quantity, register

POSITIONS = ("PositionMeasurements",)
CAUSAL = partial(Quantity, stage="causal", kinds=POSITIONS)
PARTS = partial(Quantity, stage="parts", kinds=POSITIONS)
Of = Callable[[Any], Any]


def _largest(kind: str) -> Of:
    return lambda m: max(m.inside.effect_of(kind).values())


def _which(kind: str) -> Callable[[Any], str]:
    def note(m: Any) -> str:
        effects = m.inside.effect_of(kind)
        return max(effects, key=lambda part: effects[part])

    return note


def _head(m: Any) -> str:
    layer, head = divmod(int(m.inside.to_answer.argmax()), m.inside.to_answer.shape[1])
    return f"head {layer}.{head}"


def _carried(m: Any, least: int, most: int) -> float:
    share = m.carrying.accuracy(least, most)
    return share.held / share.of


def _carried_note(m: Any, least: int, most: int) -> str:
    return f"{m.carrying.accuracy(least, most)} digits"


def _proven(m: Any) -> float:
    try:
        return m.bound.accuracy
    except ValueError as error:
        raise NoSuchPart(str(error)) from error


def _exchange(key: str, title: str, of: Of, control: str) -> tuple[Quantity, Quantity]:
    """Return the quantity of an exchange and the quantity of its control."""
    return (
        CAUSAL(key, title, of=lambda m: of(m).moved, note=lambda m: f"of {of(m).share.of:,} answers"),
        CAUSAL(f"{key}_control", f"control of {key}: {control}", of=lambda m: of(m).moved_by_control),
    )


register(
    Quantity(
        "whole_accuracy",
        "share of inputs on which every answer is right",
        "task",
        lambda m: m.answering.whole.held / m.answering.whole.of,
        POSITIONS,
        is_behaviour=True,
        note=lambda m: f"{m.answering.whole}; {m.answering.whole.precise_text} of all such inputs",
    ),
    *(
        Quantity(key, title, "task", partial(_carried, least=least, most=most), POSITIONS, is_behaviour=True,
                 note=partial(_carried_note, least=least, most=most))
        for key, title, least, most in (
            ("accuracy_no_carry", "share of right digits where no carry comes in", 0, 0),
            ("accuracy_carry", "share of right digits where a carry comes from the next column", 1, 1),
            ("accuracy_through_nines", "share of right digits where the carry comes through a column of nine", 2, 99),
        )
    ),
    PARTS("head_rise", "rise of the loss without the most important head", of=_largest("head"), unit="nats",
          note=_which("head")),
    PARTS("mlp_rise", "rise of the loss without the most important MLP", of=_largest("MLP"), unit="nats",
          note=_which("MLP")),
    PARTS("position_rise", "rise of the loss without the most important position", of=_largest("position"),
          unit="nats", note=_which("position")),
    PARTS("attention_to_answer", "largest attention of any head to the token that is the answer",
          of=lambda m: float(m.inside.to_answer.max()), note=_head),
    *_exchange("value_swap", "share giving another input's answer with its value at the answer's place",
               lambda m: m.interchanges.value, "value vector at another position"),
    *_exchange("key_swap", "share giving another token if its key and that of the answer are exchanged",
               lambda m: m.interchanges.key, "two other key vectors exchanged"),
    *_exchange("query_swap", "share giving another answer with the query vector of that answer",
               lambda m: m.interchanges.query, "random change of equal length"),
    *_exchange("direction_swap", "share giving another input's answer with its output along one direction",
               lambda m: m.interchanges.along_direction, "random change of equal length"),
    *_exchange("mean_shift", "share giving the sign of another sum if the output moves to that sum",
               lambda m: m.interchanges.along_mean, "random change of equal length"),
    *_exchange("carry_swap", "share of digits changed by the carry if the carry of another input is used",
               lambda m: m.carrying.carry, "random change of equal length"),
    *_exchange("nines_swap", "share of digits changed by a carry where the next column adds up to nine",
               lambda m: m.carrying.carry_through_nines, "random change of equal length"),
    *_exchange("digit_half_turn", "share of digits changed by one if both digits rotate by half a step",
               lambda m: m.carrying.half_turn, "random change of equal length"),
    CAUSAL("digit_circle", "share of the digits' embedding on its largest circle, the mean left out",
           of=lambda m: m.carrying.circle[1], note=lambda m: f"circle {m.carrying.circle[0]} of 10 digits"),
    Quantity(
        "proven",
        "lower bound on the accuracy over all inputs, proven from the weights",
        "formula",
        _proven,
        ("OrderMeasurements",),
        note=lambda m: f"{m.bound.proven:,} of {m.bound.inputs:,} inputs; {m.bound.wrong:,} are known to be wrong",
    ),
)  # fmt: skip
