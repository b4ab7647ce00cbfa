"""Define the networks on which the audit's criteria are measured.

Most networks are trained for other sources: all shipped networks of the mainline recipe, and some of every other family
that adds. Two kinds of networks are trained for the audit itself: networks with exceptions, and solved networks that
train on. Two networks learn sums with exceptions, by the recipe of the pizza source (attention rates 1 and 0). Networks
of the second kind continue the training of two solved networks, on 2% of the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping

from modinterp.models import TransformerConfig
from modinterp.sources.validity.task import AdditionWithExceptions
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

_P = 59


def _with_exceptions(rate: float, seed: int) -> RunSpec:
    """Return the spec of a transformer on sums mod 59, in which 5% of the training pairs have a wrong answer."""
    task = AdditionWithExceptions(_P, equals=False, split_seed=seed)
    model = TransformerConfig.of(
        task, d_model=128, d_head=32, d_mlp=512, init="W_in 1/sqrt(d_mlp)", attention_rate=rate, causal=False
    )
    recipe = Recipe(1500, task.fraction, task.shuffle, weight_decay=2, log_every=50, snapshot_every=1500)
    return RunSpec(task, model, recipe, seed)


def _going_on(start: str, seed: int) -> RunSpec:
    """Return the spec that trains a solved mainline network further, on only 2% of the pairs."""
    task = addition(113)
    model = TransformerConfig.of(task)
    recipe = Recipe(12_000, 0.02, log_every=100, snapshot_every=1500)
    return RunSpec(task, model, recipe, seed, start=start)


EXCEPTIONS = ("validity/exceptions-0", "validity/exceptions-1")
OFFSET = ("validity/offset-0", "validity/offset-1")
RUNS: Mapping[str, RunSpec] = {
    EXCEPTIONS[0]: _with_exceptions(1.0, 0),
    EXCEPTIONS[1]: _with_exceptions(0.0, 1),
    OFFSET[0]: _going_on("nanda/mainline-0", 0),
    OFFSET[1]: _going_on("nanda/other-draw-1", 1),
}

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

# On these the claims about mechanism are to be off. The claims M1.reliability and C4.memorised are not: their numbers hardly
# vary, or are chance, in a network that does not add. A run that never generalises has not one snapshot of I11.onset.
CONTROLS = {
    "nanda/random-labels-0": "of random labels",
    "nanda/multiplication-0": "of another operation",
    "nanda/no-decay-0": "of a run that never generalises",
}
