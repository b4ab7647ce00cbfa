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
        "inputs of which every answer is right, share",
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
            ("accuracy_no_carry", "digits right into which no carry comes, share", 0, 0),
            ("accuracy_carry", "digits right with a carry from the next column, share", 1, 1),
            ("accuracy_through_nines", "digits right with a carry through a column of nine or more, share", 2, 99),
        )
    ),
    PARTS("head_rise", "rise of the loss without the head that is needed most", of=_largest("head"), unit="nats",
          note=_which("head")),
    PARTS("mlp_rise", "rise of the loss without the MLP that is needed most", of=_largest("MLP"), unit="nats",
          note=_which("MLP")),
    PARTS("position_rise", "rise of the loss without the position that is needed most", of=_largest("position"),
          unit="nats", note=_which("position")),
    PARTS("attention_to_answer", "attention to the token that is the answer, most of any head",
          of=lambda m: float(m.inside.to_answer.max()), note=_head),
    *_exchange("value_swap", "another input's value at the answer's place: its answer comes out",
               lambda m: m.interchanges.value, "at another place"),
    *_exchange("key_swap", "keys of the answer's place and another exchanged: the other token comes out",
               lambda m: m.interchanges.key, "keys of two others exchanged"),
    *_exchange("query_swap", "another answer's query: the other answer comes out",
               lambda m: m.interchanges.query, "moved as far at random"),
    *_exchange("direction_swap", "attention's output of another input along one direction: its answer comes out",
               lambda m: m.interchanges.along_direction, "moved as far at random"),
    *_exchange("mean_shift", "attention's output moved as if the sum were another: the sign of that sum comes out",
               lambda m: m.interchanges.along_mean, "moved as far at random"),
    *_exchange("carry_swap", "the carry's direction of an input with the other carry: the digit moves by that carry",
               lambda m: m.carrying.carry, "moved as far at random"),
    *_exchange("nines_swap", "the same where the next column adds up to nine",
               lambda m: m.carrying.carry_through_nines, "moved as far at random"),
    *_exchange("digit_half_turn", "both digits half a step on, on circles of their embeddings: the digit moves by one",
               lambda m: m.carrying.half_turn, "moved as far at random"),
    CAUSAL("digit_circle", "share of the digits' embedding in the circle that has most of it, their mean left out",
           of=lambda m: m.carrying.circle[1], note=lambda m: f"circle {m.carrying.circle[0]} of 10 digits"),
    Quantity(
        "proven",
        "accuracy over all inputs that is proven from the weights, at least",
        "formula",
        _proven,
        ("OrderMeasurements",),
        note=lambda m: f"{m.bound.proven:,} of {m.bound.inputs:,} inputs; {m.bound.wrong:,} known to be wrong",
    ),
)  # fmt: skip
