"""The networks that the audit's criteria are measured on; all are trained for other sources.

They are all networks of the mainline recipe whose weights are shipped, and some of every other family that adds.
"""

from __future__ import annotations

from collections.abc import Mapping

from modinterp.training import RunSpec

RUNS: Mapping[str, RunSpec] = {}  # none of its own

MAIN = "nanda/mainline-0"
MAINLINE = (MAIN, "nanda/rounding-0", "nanda/other-draw-0", "nanda/other-draw-1", "nanda/other-draw-2")
CLOCK, MLP, PIZZA, GROUP = "clock/no-pos-0", "mlp/kissane-0", "pizza/attention-0-0", "groups/c113-t-2"
SOLVED = (*MAINLINE, CLOCK, MLP, PIZZA, GROUP)  # all of them solve their task
WITH_NEURONS = (*MAINLINE, CLOCK, MLP, PIZZA)  # whose tokens are in the order of the circles
WITH_HEADS = (*MAINLINE, CLOCK, PIZZA)
UNSOLVED = ("nanda/no-decay-0", "nanda/fraction-20-0")
SIZES = (PIZZA, "nanda/p53-decay-5-0", "nanda/p109-0", "nanda/two-layers-0", "clock/one-head-0", MLP)
OTHER_MODELS = (
    "nanda/fraction-40-0",
    "clock/no-pos-1",
    "circuits/add-0",
    "miiii/nanda-0",
    "pizza/attention-1-0",
    "pizza/linear-beta-0",
    "mlp/other-draw-0",
)
WITH_SNAPSHOTS = (MAIN, CLOCK, "clock/no-pos-1", "clock/no-pos-2")
MULTITASK = "miiii/p113-half-0"
