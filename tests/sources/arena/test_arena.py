"""ARENA's claims held against small networks, and the lists and palindromes that they are measured on."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

import pytest
import torch
from loops import check_each

from modinterp.claims import Claim
from modinterp.measurements import SequenceMeasurements
from modinterp.models import hooked
from modinterp.runs import TrainedRun
from modinterp.sources import source
from modinterp.sources.arena.claims.lists import jumps, lists_with, triples
from modinterp.sources.arena.runs import RUNS
from modinterp.tasks import SortedList
from modinterp.training import training_states

ARENA = source("arena")
TASK = SortedList(n=5, limit=20, size=20, held_out=10)


def small(stem: str, steps: int = 3) -> TrainedRun:
    """A run of the source's shape, trained for a few steps on few inputs."""
    spec = RUNS[f"arena/{stem}-42"]
    task = replace(spec.task, size=200, held_out=100)
    recipe = replace(spec.recipe, epochs=steps, fraction=task.share, lr_stairs=0, log_every=1, snapshot_every=1)
    spec = replace(spec, task=task, recipe=recipe)
    *_, (_, ended) = training_states([spec], device="cpu")
    return TrainedRun(f"a small {stem}", task, hooked(spec.model, ended.weights), spec)


@pytest.mark.parametrize("stem", ["cumsum", "sort", "palindrome", "unique", "sum", "sum1"])
def test_every_claim_can_be_held_against_another_network(stem: str) -> None:
    claims = [claim for claim in ARENA.matching("*") if claim.needs[:1] == (f"arena/{stem}-42",)]
    run = small(stem)

    def check(claim: Claim) -> None:
        result = claim.check(run)
        assert result.verdict in {"holds", "refuted", "open"}
        assert set(claim.expected) <= set(result.measured)

    check_each(claims, check, name=attrgetter("id"))
    solved = ARENA[{"sum1": "sum.one_layer"}.get(stem, f"{stem}.solved")].check(run)
    assert solved.verdict == "refuted"


def test_lists_hold_what_is_given_and_are_asked_behind_the_first_of_it() -> None:
    given = torch.tensor([[3, 9], [0, 19], [7, 8]])
    asked = lists_with(TASK, given, seed=0, none_between=True)
    for row, pair, at in zip(asked.examples.inputs.tolist(), given.tolist(), asked.position.tolist(), strict=True):
        numbers = row[:5]
        assert set(pair) <= set(numbers)
        assert len(set(numbers)) == 5 or pair == [0, 19]  # between which all others lie
        assert row[at] == pair[0]
        assert row[6:] == sorted(numbers)
    between = [x for x in asked.examples.inputs[0, :5].tolist() if 3 < x < 9]
    assert not between
    assert asked.examples.inputs[torch.arange(3), asked.source(given[:, 1])].tolist() == [9, 19, 8]


def test_triples_and_jumps_are_what_their_names_say() -> None:
    found = triples(TASK, each=3)
    assert len(found.number) == 3 * 18
    for row, d in zip(found.examples.inputs[:, :5].tolist(), found.number.tolist(), strict=True):
        assert {d, d + 1, d + 2} <= set(row)
    far = jumps(TASK, gap=9, n=50)
    for row, d in zip(far.examples.inputs[:, :5].tolist(), far.number.tolist(), strict=True):
        assert min(x for x in row if x > d) == d + 9
    right = far.examples.labels.gather(1, (far.position - TASK.n).unsqueeze(1)).squeeze(1)
    assert torch.equal(right, far.number + 9)


def test_a_network_with_planted_uniform_attention_passes_and_one_without_fails() -> None:
    run = small("cumsum")
    claim = ARENA["cumsum.uniform"]
    assert claim.check(run).verdict == "refuted"
    network = run.network.in_float64()
    with torch.no_grad():
        for name in ("W_Q", "b_Q"):
            getattr(network.blocks[0].attn, name).zero_()
    assert claim.check(SequenceMeasurements(replace(run, model=network))).verdict == "holds"
