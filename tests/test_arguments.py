"""Whatever is made from a dataclass is checked when it is made: type, shape and range of every field."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

import modinterp
from modinterp.arguments import SEED, Limits, check
from modinterp.models import MLPConfig, TransformerConfig
from modinterp.tasks import Ordering, PrimeRemainders, addition
from modinterp.tasks.modular import ModularArithmetic
from modinterp.tasks.sequences import DigitAddition, RepeatedSubsequence, SkipTrigram
from modinterp.training import Nudge, Recipe, RunSpec

TASK = addition(5)
MODEL = TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12)
JUNK = [None, "x", b"x", math.nan, math.inf, -math.inf, [], (), {}, object(), 1.5j, True, 10**30, -1]
WHOLE = ["epochs", "batch_size", "warmup", "settle", "log_every", "snapshot_every", "spectra_every"]
REAL = ["lr", "weight_decay", "eps", "l1", "grokfast", "stop_at", "fraction", "dropout", "grokfast_alpha"]
TEXTS = ["shuffle", "batches", "loss_dtype", "l1_of", "grokfast_start", "optimiser"]

pytestmark = pytest.mark.usefixtures("as_for_users")


def refused(make: Callable[[], object], name: str = "") -> None:
    with pytest.raises(ValueError, match=name) as caught:
        make()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", [*WHOLE, *REAL, *TEXTS, "betas"])
def test_no_field_of_a_recipe_is_junk(name: str) -> None:
    for value in [*JUNK, 2.5, (0.9,), (0.9, 0.98, 1), ("a", "b"), (0.9, math.nan)]:
        if value == 2.5 and name in ("lr", "weight_decay", "eps", "l1", "grokfast", "stop_at"):
            continue
        refused(lambda value=value: Recipe(**{name: value}), name)


@pytest.mark.parametrize("seed", [1.5, "x", None, math.nan, True, -1, 2**40, (1,)])
def test_seeds_are_whole_numbers(seed: object) -> None:
    refused(lambda: RunSpec(TASK, MODEL, Recipe(epochs=5), seed=seed), "seed must be a whole number in")


@pytest.mark.parametrize("part", ["task", "model", "recipe", "unstated", "nudge"])
def test_parts_of_a_spec_are_what_they_should_be(part: str) -> None:
    for value in ["x", 5, [], {}, object()]:
        refused(lambda value=value: RunSpec(**{"task": TASK, "model": MODEL, "recipe": Recipe(), part: value}), part)


def test_trainings_that_no_disk_holds_are_refused() -> None:
    refused(lambda: Recipe(epochs=10**18, log_every=10**17, snapshot_every=10**17), "epochs")
    refused(lambda: Recipe(epochs=10**9), "give a larger log_every")
    refused(lambda: Recipe(epochs=10**8, log_every=10**6, snapshot_every=1), "give a larger snapshot_every")
    assert Recipe(epochs=10**7, log_every=1000, snapshot_every=1000).epochs == 10**7
    refused(lambda: Nudge("embed.W_E", 10**9), "ulps")


MADE: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    "transformer": (TransformerConfig, {"d_vocab": 6, "d_vocab_out": 5, "n_ctx": 3}),
    "mlp": (MLPConfig, {"d_vocab": 5, "d_vocab_out": 5}),
    "modular": (ModularArithmetic, {"p": 5}),
    "primes": (PrimeRemainders, {"p": 5}),
    "ordering": (Ordering, {"ask": "max"}),
    "digits": (DigitAddition, {}),
    "repeated": (RepeatedSubsequence, {}),
    "trigrams": (SkipTrigram, {}),
}


@pytest.mark.parametrize("kind", MADE)
def test_no_field_of_a_task_or_shape_is_junk(kind: str) -> None:
    cls, needed = MADE[kind]
    made = cls(**needed)
    for name in made.__dataclass_fields__:
        harmless = [value for value in JUNK if value == getattr(made, name) or type(value) is type(getattr(made, name))]
        if isinstance(getattr(made, name), (int, float)) and not isinstance(getattr(made, name), bool):
            harmless = []
        for value in JUNK:
            if any(value is one for one in harmless) or (name == "d_mlp" and value is None):
                continue
            refused(lambda name=name, value=value: cls(**{**needed, name: value}), name)


@pytest.mark.parametrize("sizes", [{"n_layers": 10**9}, {"d_mlp": 10**9}, {"d_model": 2**20, "d_mlp": 2**20},
                                   {"n_heads": 2**20, "d_head": 2**20}, {"n_layers": 257}])  # fmt: skip
def test_networks_that_no_memory_holds_are_refused(sizes: dict[str, int]) -> None:
    refused(lambda: TransformerConfig.of(TASK, **sizes), "must be|weights is larger")


def test_limits_and_types_of_single_values() -> None:
    check("x", 1, float, Limits(0, 1))
    check("x", (1, 2), tuple[int, ...])
    check("x", None, int | None, SEED)
    for value, kind, limits in [(True, int, None), (1, bool, None), (math.nan, float, None), ((1, "a"), tuple[int, ...], None),
                                ((1,), tuple[int, int], None), ([1], tuple[int, ...], None), (0, float, Limits(0, open_below=True)),
                                ("c", str, ("a", "b")), ((0.5, 2), tuple[float, float], Limits(0, 1))]:  # fmt: skip
        with pytest.raises(ValueError, match="x must be"):
            check("x", value, kind, limits)


@pytest.mark.parametrize("value", [5, 1.5, True, b"x", math.nan, object(), torch.zeros(2)],
                         ids=lambda value: type(value).__name__)  # fmt: skip
def test_the_public_doors_say_what_they_want(value: object) -> None:
    for door in (modinterp.load, modinterp.measure, modinterp.compare):
        refused(lambda door=door: door(value), "must be|expected")
    refused(lambda: modinterp.load("own/0", root=value), "root must be")
    refused(lambda: modinterp.compare(["own/0"], epochs=value), "epochs must be")
    if not isinstance(value, int) or value is True:
        refused(lambda: modinterp.explain("own/0", draws=value), "draws must be")
        refused(lambda: modinterp.explain("own/0", p=value), "p must be")
    refused(lambda: modinterp.compare("own/0"), "networks must be")
