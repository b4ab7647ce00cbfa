"""Define the quantities of interventions: changes of the answers when circles or representations are changed."""

from __future__ import annotations

from functools import partial
from typing import Any

from modinterp.analyses.statistics.share_interval import Share
from modinterp.measurements.quantities import CYCLIC, PAIRS
from modinterp.measurements.quantity import Quantity, register


def _names(blocks: object) -> str:
    return ", ".join(map(str, blocks)) if isinstance(blocks, tuple) else ""


def _on_sample(m: Any, share: float) -> str:
    """Return text with the 95% interval of a share that was measured on a sample of pairs; empty for all pairs."""
    pairs = m.causal.pairs
    if pairs is None:
        return ""
    seen = Share(round(share * len(pairs)), len(pairs)) if share == share else Share(0, 0)
    return f"{seen.precise_text} with 95% confidence, on {len(pairs):,} random pairs"


def _nothing_to_recover(m: Any, share: float) -> str:
    """Reason why a recovered share is NaN; empty if it is a number."""
    return f"there are no {m.causal.basis.blocks_name} to restore, or no right answers to recover" * (share != share)


CAUSAL = partial(Quantity, stage="causal", kinds=PAIRS)

register(
    CAUSAL(
        "half_turn",
        "share of answers changed by one if circles rotate by half a step",
        of=lambda m: m.causal.half_turn.moved,
        definition="V1",
        note=lambda m: "; ".join(
            filter(None, (f"circles {_names(m.causal.half_turn.freqs)}", _on_sample(m, m.causal.half_turn.moved)))
        ),
    ),
    CAUSAL(
        "half_turn_kept",
        "share of the formula's fit that remains if circles rotate by half a step",
        of=lambda m: m.causal.half_turn.kept,
        definition="V1",
    ),
    CAUSAL(
        "half_turn_control",
        "largest share of answers changed by one by other changes of equal size",
        of=lambda m: m.causal.half_turn.largest_control,
        definition="V10",
        note=lambda m: ", ".join(f"{name} {x:.1%}" for name, x in m.causal.half_turn.controls.items()),
    ),
    CAUSAL(
        "counter_turn",
        "share of answers kept if circles rotate half a step on for a, back for b",
        of=lambda m: m.causal.counter_turn.moved,
        note=lambda m: _on_sample(m, m.causal.counter_turn.moved),
        definition="V1",
    ),
    CAUSAL(
        "turn_of_all",
        "share of answers changed by one if all circles rotate by half a step",
        of=lambda m: m.causal.turn_of_all.moved,
        note=lambda m: _on_sample(m, m.causal.turn_of_all.moved),
        definition="V1",
    ),
    CAUSAL(
        "turn_of_all_kept",
        "share of the formula's fit that remains if all circles rotate by half a step",
        of=lambda m: m.causal.turn_of_all.kept,
        definition="V1",
        note=lambda m: "in a network that looks up a table of tokens about 0.13 remains",
    ),
    CAUSAL(
        "turn_of_all_carried",
        "all circles rotated: smaller of the shares of changed answers and of kept fit",
        of=lambda m: min(m.causal.turn_of_all.moved, m.causal.turn_of_all.kept),
        definition="V1",
        note=lambda m: "0.13 for a planted table, 0.6 for waves of all frequencies",
    ),
    CAUSAL(
        "line_step",
        "share of answers changed by one if a moves by one along a line of integers",
        of=lambda m: m.causal.moved_along_line[0],
        note=lambda m: _on_sample(m, m.causal.moved_along_line[0]),
        kinds=CYCLIC,
    ),
    CAUSAL(
        "line_step_control",
        "share of answers changed by one if a moves as far in a random direction",
        of=lambda m: m.causal.moved_along_line[1],
        note=lambda m: _on_sample(m, m.causal.moved_along_line[1]),
        kinds=CYCLIC,
    ),
    CAUSAL(
        "accuracy_without",
        "accuracy without the {blocks} in the embedding",
        of=lambda m: m.causal.accuracy_without,
        note=lambda m: _on_sample(m, m.causal.accuracy_without),
        definition="V3",
    ),
    CAUSAL(
        "same_without",
        "share of answers that stay the same without the {blocks} in the embedding",
        of=lambda m: m.causal.same_without,
        note=lambda m: _on_sample(m, m.causal.same_without),
        definition="V3",
    ),
    CAUSAL(
        "accuracy_alone",
        "accuracy with the {blocks} alone in the embedding",
        of=lambda m: m.causal.accuracy_alone,
        note=lambda m: _on_sample(m, m.causal.accuracy_alone),
        definition="V3",
    ),
    CAUSAL(
        "rescue",
        "accuracy recovered when the {blocks} alone are restored in another pair",
        of=lambda m: m.causal.rescue[0],
        definition="V4",
        note=lambda m: _nothing_to_recover(m, m.causal.rescue[0]),
    ),
    CAUSAL(
        "rescue_control",
        "accuracy recovered when as many random {blocks} are restored",
        of=lambda m: m.causal.rescue[1],
        definition="V4",
        note=lambda m: _nothing_to_recover(m, m.causal.rescue[1]),
    ),
    CAUSAL(
        "margins_foretold",
        "FVE of the margins after removing one circle, as the formula predicts them",
        of=lambda m: m.causal.margins_foretold,
        definition="V6",
    ),
    CAUSAL(
        "clock_circles",
        "number of circles that compute as a Clock, each taken alone",
        of=lambda m: m.causal.count_of_kind("clock"),
        definition="V7",
        note=lambda m: _names(tuple(f"{x:.2f}" for x in m.causal.pizza_shares)),
    ),
    CAUSAL(
        "pizza_circles",
        "number of circles that compute as a Pizza, each taken alone",
        of=lambda m: m.causal.count_of_kind("pizza"),
        definition="V7",
    ),
    CAUSAL(
        "other_circles",
        "number of circles that are neither clearly a Clock nor clearly a Pizza",
        of=lambda m: m.causal.count_of_kind("between"),
        definition="V7",
    ),
    CAUSAL(
        "circles_agreement",
        "smallest agreement of circles by read-out, logits and removal (Jaccard)",
        of=lambda m: m.causal.agreement,
        note=lambda m: f"by removal {_names(m.causal.circles_by_removal)}",
        kinds=CYCLIC,
    ),
    CAUSAL(
        "values_half_turn",
        "share of answers changed by one if circles of f(a), g(b) rotate half a step",
        of=lambda m: m.functions.values_half_turn,
        kinds=CYCLIC,
        note=lambda m: f"circles {_names(m.functions.circles)}",
    ),
    CAUSAL(
        "values_half_turn_control",
        "largest share of answers changed by one by changes as large as this rotation",
        of=lambda m: max(m.functions.values_half_turn_controls.values()),
        kinds=CYCLIC,
        note=lambda m: ", ".join(f"{name} {x:.1%}" for name, x in m.functions.values_half_turn_controls.items()),
    ),
    CAUSAL(
        "values_accuracy_without",
        "accuracy without circles of f(a) and g(b) in the embedding",
        of=lambda m: m.functions.values_accuracy_without,
        kinds=CYCLIC,
    ),
    CAUSAL(
        "values_accuracy_alone",
        "accuracy with circles of f(a) and g(b) alone in the embedding",
        of=lambda m: m.functions.values_accuracy_alone,
        kinds=CYCLIC,
    ),
)
