"""Claims of all sources on untrained networks of other shapes than the sources': each has sound numbers or is open."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

import pytest

from modinterp.claims import Claim, Result
from modinterp.measurements import NetworkMeasurements, measure_as_published
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources import sources
from modinterp.sources.registry import catalogue
from modinterp.tasks import ModularArithmetic, Ordering, PrimeRemainders, Task, addition

Shape = dict[str, int | str | bool | None]
PLAIN: Shape = {"n_layers": 1, "d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24, "mlp_biases": True}
CHANGES: tuple[Shape, ...] = ({}, {"d_mlp": None}, {"n_layers": 2}, {"n_heads": 1}, {"mlp_biases": False},
                              {"attn_biases": True}, {"act_fn": "gelu"})  # fmt: skip
SHAPES = [change | positions for positions in ({}, {"positional": False}) for change in CHANGES]
SUMS = addition(13)
TASKS: dict[str, Task] = {"sums": SUMS, "remainders": PrimeRemainders(13)} | {
    ask: Ordering(ask, n=3, limit=8, size=500, small_limit=4) for ask in ("max", "median", "sort")
}

# A claim that has numbers of the plain network is open on a shape that lacks a part exactly if the claim reads that
# part. These are the claims that read it, for neurons those that do not.
READS_POSITIONS = ("circuits.add.pos_*", "circuits.*.pos_sim", "nanda.fig16")
READS_SEVERAL_HEADS = ("nanda.fig12", "nanda.C12.amplifiers", "nanda.C13.amplifier_norms")
READS_MLP_BIASES = ("clock.s52.bdown_warp", "clock.s8.bup_*", "clock.s91.wl_probes")
READS_ONE_LAYER = (
    "clock.s95.wdown_*", "nanda.A1.self_attention", "nanda.A1.skip_*", "nanda.A1.attn_*", "nanda.C13.linear_sigmoid_loss",
    "circuits.max.[acoq]*", "circuits.max.k_linear", "circuits.max.perm*", "circuits.max.exclusive_attention", "circuits.max.single_dim",
    "circuits.sort.permutations", "circuits.sort.one_head", "circuits.sort.qk_*",
)  # fmt: skip
READS_NO_NEURONS = (
    "circuits.add.invariance", "clock.s6.attn_dft", "validity.I1.necessity", "validity.I2.sufficiency",
    "validity.I5.rivals",
    "validity.I6.double_dissociation", "validity.I8.e_value", "circuits.add.*attn_*", "circuits.add.half_attention", "circuits.add.pos_*", "circuits.m*", "circuits.sort.*",
    "clock.s3.arch", "clock.s6.attention_periodic", "clock.s6.attn_2d", "clock.s61.convex", "clock.s61.offset_periodic",
    "miiii.[abns]*", "miiii.fig8.nanda", "miiii.fig11", "mlp.arch", "mlp.test_acc", "mlp.logits_quadratic",
    "nanda.setup.arch", "nanda.s41.symmetry", "nanda.fig4.left", "nanda.fig9*", "nanda.fig16", "nanda.A1.sigmoid",
    "nanda.s43.heads_deg2", "nanda.C12.*", "nanda.C13.amplifier_norms", "nanda.C13.lookup", "nanda.C13.linear_sigmoid", "nanda.E1.always_lower",
    "pizza.setup.solved", "pizza.phase.equals",
)  # fmt: skip
# whether these have numbers depends on the frequencies or the logits that the initial weights happen to have
BY_CHANCE = ("circuits.add.neurons_2dft", "circuits.*.ov_robust", "clock.s71.o_sum_43", "mlp.fve.*")

# set-up, which other shapes contradict, and mathematics of networks without attention or of one layer
TRUE_OF_SOME_SHAPES = {"clock.s3.arch", "miiii.attn_viz", "mlp.arch", "mlp.pre_linear_only", "nanda.setup.arch",
                       "clock.s91.wl_probes"}  # fmt: skip
HOLD_UNTRAINED = {"miiii.fig8.nanda", "nanda.fig3.left"}  # at 13 numbers, whose spectra have six frequencies

NAN_BESIDE = (  # numbers without a tolerance that may be NaN
    "* cos *", "* sin *", "*, cos *", "*, sin *",  # of frequencies that the network does not use
    "test loss *",  # without a split
    "best head, output *",  # where no head attends to what is asked for
    "fraction trained on",
    "*, with a head",  # without neurons of that head
    "correlation of the best pair", "cosine of the pair's OV circuits",  # of one head
    "* ratio",  # of singular values that are zero
    "|slope| of the keys below over above",  # among fewer numbers than 20
)  # fmt: skip
SHARE = re.compile("accuracy|share|fraction|quality|R squared")
NO_SHARE = re.compile(
    "^(fall|drop|change|smallest step|mean test accuracy less chance|largest change)|^heads with a share"
)
# table 5 measures W_L before it asks whether there is one
REFUSED = "a network without an MLP has no W_L"


def operation(task: Task) -> tuple[type, str, str]:
    return type(task), getattr(task, "op", ""), getattr(task, "ask", "")


def about(claim: Claim, task: Task) -> bool:
    """True if the claim needs a run of this operation."""
    needed = {operation(catalogue()[name].task) for name in claim.needs if name in catalogue()}
    if claim.source == "miiii":  # its claims say by `said_of` which of its two tasks they are about
        needed |= {operation(TASKS[name]) for name in ("sums", "remainders") if needed}
    return operation(task) in needed


@cache
def claims_about(name: str) -> list[Claim]:
    return [claim for each in sources().values() for claim in each.claims.values() if about(claim, TASKS[name])]


def untrained(name: str, shape: Shape) -> NetworkMeasurements:
    config = TransformerConfig.of(TASKS[name], **PLAIN | shape)
    return measure_as_published(TrainedRun("mine", TASKS[name], hooked(config, initial_weights(config, 0))))


def evaluated(name: str, shape: Shape) -> tuple[dict[str, Result], list[str]]:
    """The results of all claims about a task by id, and what went wrong."""
    m, results, errors = untrained(name, shape), {}, []
    for claim in claims_about(name):
        try:
            results[claim.id] = claim.check_foreign(m)
        except Exception as error:  # each is a failure; all are told together
            if shape.get("d_mlp", 1) is None and REFUSED in str(error):
                results[claim.id] = claim.open("does not apply")
            else:
                errors.append(f"{claim.id}: {error!r}")
    if name == "sums":
        errors += wrong_accuracies(m, results)
    return results, errors


@cache
def of_plain(name: str) -> tuple[dict[str, Result], list[str]]:
    return evaluated(name, {})


@cache
def measured_on_plain(name: str) -> set[str]:
    """Ids of the claims that have numbers of the plain network, whatever its initial weights."""
    return {id for id, result in of_plain(name)[0].items() if result.verdict != "open" and not fits(id, BY_CHANCE)}


def fits(id: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(id, pattern) for pattern in patterns)


def lacks(id: str, shape: Shape) -> bool:
    """True if the claim reads a part that a network of this shape lacks."""
    full = PLAIN | shape
    return (
        (full["d_mlp"] is None and not fits(id, READS_NO_NEURONS))
        or (full["n_layers"] != 1 and fits(id, READS_ONE_LAYER))
        or (full["n_heads"] == 1 and fits(id, READS_SEVERAL_HEADS))
        or (not full["mlp_biases"] and fits(id, READS_MLP_BIASES))
        or (full.get("positional") is False and fits(id, READS_POSITIONS))
    )


def wrong_accuracies(m: NetworkMeasurements, results: dict[str, Result]) -> Iterator[str]:
    """Accuracies on all pairs that are not those of a plain count."""
    task = m.run.task
    assert isinstance(task, ModularArithmetic)
    right = m.run.network(task.inputs())[:, -1].argmax(dim=-1) == task.labels().flatten()
    for id, result in results.items():
        for value in result.measured.get("accuracy on all pairs", ()):
            if not math.isclose(value, right.double().mean().item(), rel_tol=1e-9):
                yield f"{id}: an accuracy of {value:.4f}, where {int(right.sum())} of {len(right)} pairs are right"


def unsound(result: Result) -> Iterator[str]:
    """What is wrong with the numbers and the verdict of one result."""
    claim = result.claim
    if result.verdict == "open":
        if result.reason not in ("does not apply", "variant"):
            yield f"open for the reason {result.reason!r}"
        return
    within = all(band.holds(value) for name, band in claim.bands.items() for value in result.measured[name])
    if result.verdict != ("holds" if within else "refuted") or result.reason:
        yield f"{result.words}, with the numbers {result.measured}"
    json.dumps(result.to_json(), allow_nan=False)
    for name, values in result.measured.items():
        if not values or not all(isinstance(value, float) for value in values):
            yield f"{name} is {values}, not numbers"
        elif any(map(math.isinf, values)) or (any(map(math.isnan, values)) and not fits(name, NAN_BESIDE)):
            yield f"{name} is {values}, not finite"
        elif SHARE.search(name) and not NO_SHARE.search(name) and any(not 0 <= v <= 1 + 1e-9 for v in values if v == v):
            yield f"{name} is {values}, not in [0, 1]"
        elif "FVE" in name and any(value > 1 + 1e-9 for value in values):
            yield f"{name} is {values}, above 1"
    if claim.scope == "any network" and result.verdict != claim.finding.verdict and claim.id not in TRUE_OF_SOME_SHAPES:
        yield f"{result.verdict}, where {claim.finding.verdict} is recorded of any network"
    told_apart = claim.is_about_networks and claim.control == "told apart"
    if told_apart and result.verdict == "holds" and claim.id not in HOLD_UNTRAINED:
        yield "holds of an untrained network, from which it tells a trained one apart"


def wrongly_open(results: dict[str, Result], name: str, shape: Shape) -> Iterator[str]:
    """Claims that are open though the shape has all that they read, and claims that have numbers without it."""
    for id in measured_on_plain(name) & set(results):
        if results[id].verdict == "open" and not lacks(id, shape):
            yield f"{id}: open, though the network has all that the claim reads"
        if results[id].verdict != "open" and lacks(id, shape):
            yield f"{id}: {results[id].verdict}, though the network lacks a part that the claim reads"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_claims_take_any_architecture(shape: Shape) -> None:
    failures = []
    for name in TASKS if len(shape) < 2 else ("sums",):
        results, errors = evaluated(name, shape) if shape else of_plain(name)
        unsounds = (f"{id}: {what}" for id, result in results.items() for what in unsound(result))
        failures += [f"{name}, {each}" for each in (*errors, *unsounds, *wrongly_open(results, name, shape))]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize(
    ("name", "fewest"), [("sums", 150), ("remainders", 4), ("max", 14), ("median", 1), ("sort", 10)]
)
def test_many_claims_have_numbers_of_the_plain_network(name: str, fewest: int) -> None:
    assert len(measured_on_plain(name)) >= fewest
