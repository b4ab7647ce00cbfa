"""The networks that the audit's criteria are measured on; all are trained for other sources.

They are networks of the mainline recipe whose weights are shipped, and some of every other family that adds.
"""

from __future__ import annotations

from collections.abc import Mapping

from modinterp.training import RunSpec

RUNS: Mapping[str, RunSpec] = {}  # none of its own

MAIN = "nanda/mainline-0"
MAINLINE = (MAIN, "nanda/rounding-0", "nanda/other-draw-0", "nanda/other-draw-1", "nanda/other-draw-2")
CLOCKS = ("clock/no-pos-0", "clock/no-pos-1")
MLPS = ("mlp/kissane-0", "mlp/other-draw-0")
PIZZAS = ("pizza/attention-0-0", "pizza/attention-1-0")
GROUP = "groups/c113-t-2"
SOLVED = (*MAINLINE, *CLOCKS, *MLPS, *PIZZAS, GROUP)  # all of them solve their task
ONE_OF_EACH = (MAIN, "nanda/rounding-0", CLOCKS[0], MLPS[0], PIZZAS[0])
UNSOLVED = ("nanda/no-decay-0", "nanda/fraction-20-0")
WITH_HEADS = (*MAINLINE, *CLOCKS, *PIZZAS)
SIZES = (
    "pizza/attention-0-0",
    "nanda/p53-decay-5-0",
    "nanda/p109-0",
    "nanda/two-layers-0",
    "clock/one-head-0",
    MLPS[0],
)
OTHER_MODELS = (
    "nanda/fraction-40-0",
    "nanda/decay-3-0",
    "clock/no-pos-2",
    "circuits/add-0",
    "miiii/nanda-0",
    "pizza/linear-beta-0",
    "mlp/other-draw-1",
)
WITH_SNAPSHOTS = (MAIN, *CLOCKS, "clock/no-pos-2")
MULTITASK = "miiii/p113-half-0"
