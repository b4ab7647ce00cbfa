"""Claims of every kind recomputed with other code: the same numbers, on the same side of the bands, the same verdict.

What is recomputed stands in `claims.recomputed`, which reads the shipped files by numpy and the standard library and
has nothing of modinterp. From modinterp come the claims, with their bands and findings, and the numbers to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import pytest
from claims.recomputed import circles, embeddings, interventions, mathematics, trainings, waves
from claims.recomputed.network import CHECKPOINTS, Numbers

from modinterp.claims import Claim
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.sources import load, source

pytestmark = pytest.mark.long
TOLERANCE = 1e-4  # relative; what is measured is computed from float32 activations, and losses are as small as 1e-7
NEAR = 0.05  # of a band's edge


@dataclass(frozen=True)
class Case:
    """A claim with what recomputes it.

    Attributes:
        recompute: from the names of one run, or of all together where the claim is about several, to its numbers.
        runs: on which it is recomputed.
    """

    id: str
    recompute: Callable[..., Numbers]
    runs: tuple[str, ...] = ()

    @property
    def claim(self) -> Claim:
        return next(c for c in source(self.id.partition(".")[0]).claims.values() if c.id == self.id)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The runs that one set of numbers is about: each by itself, or all."""
        return [(run,) for run in self.runs] if self.claim.of_one is not None else [self.runs]


def of(stem: str, *numbers: int) -> tuple[str, ...]:
    return tuple(f"{stem}-{number}" for number in numbers)


def shipped(claim: str) -> tuple[str, ...]:
    """The runs of a claim that are shipped."""
    needs = Case(claim, dict).claim.needs
    return tuple(run for run in needs if (CHECKPOINTS / run).exists())


MAIN = of("nanda/mainline", 0)
BALANCED = of("circuits/max-balanced", 0, 1, 2)
NO_POSITIONS = of("clock/no-pos", 0, 1, 2)
SUMS = of("miiii/nanda", 0, 1, 2, 3, 4)
REMAINDERS = of("miiii/p113-half", 0)

CASES = {
    "holds": (
        Case("nanda.fig3.right", waves.key_frequencies, MAIN),
        Case("clock.s51.we_circles", circles.embedding_circles, NO_POSITIONS),
        Case("circuits.add.half_attention", embeddings.half_attention, of("circuits/add", 0, 1, 2)),
        Case("circuits.max.k_flat", embeddings.key_lines, of("circuits/max", 0)),
        Case("circuits.max.k_linear", embeddings.key_lines, BALANCED),
        Case("miiii.fig8.nanda", embeddings.half_of_values, SUMS),
        Case("miiii.fig11", embeddings.active_frequencies, SUMS),
    ),
    "mixed": (  # on a network where it holds, and on one where it does not
        Case("nanda.fig2.right.loss", trainings.losses, (*MAIN, "nanda/other-draw-1")),
        Case("nanda.s42.logit_fve", waves.logit_fve, (*MAIN, "nanda/mainline-4")),
        Case("nanda.fig12", waves.neurons_1_to_4, (*MAIN, "nanda/rounding-1")),
        Case("nanda.A1.self_attention", interventions.self_attention, (*MAIN, "nanda/other-draw-2")),
        Case("nanda.A1.sigmoid", interventions.sigmoid, (*MAIN, "nanda/other-draw-2")),
        Case("nanda.s44.wl_nullspace", interventions.off_directions, (*MAIN, "nanda/other-draw-2")),
        Case("clock.s3.irrelevant", trainings.without_positions, NO_POSITIONS),
        Case("clock.s52.wl_circles", circles.output_circles, NO_POSITIONS),
        Case("circuits.add.neurons_first3", waves.first_neurons, of("circuits/add", 0, 1)),
        Case("miiii.fig9", embeddings.singular_waves, SUMS),
    ),
    "source": (
        Case("nanda.B.f14_89", partial(mathematics.cosine_value, 14, 89, 0.994)),
        Case("nanda.B.f52_16", partial(mathematics.cosine_value, 52, 16, -0.56)),
        Case("clock.s112.gcd", mathematics.coprime),
        Case("clock.s61.overlap_rule", mathematics.petals),
    ),
    "network": (
        Case("nanda.A1.attn_skip_zero", interventions.attention_skip, (*MAIN, "nanda/other-draw-1")),
        Case("nanda.C12.amplifiers", interventions.amplifiers, (*MAIN, "nanda/other-draw-1")),
        Case("clock.s52.bdown_warp", circles.circles_with_bias, NO_POSITIONS),
        Case("clock.s8.mlp_affine", interventions.affine, ("clock/no-pos-1",)),
        Case("clock.s8.bup_orthant", interventions.below_zero, NO_POSITIONS),
        Case("clock.s51.nonkey", circles.other_circles, NO_POSITIONS),
    ),
    "setting": (Case("circuits.max.pos_sim", embeddings.input_positions, BALANCED),),
    "open": (  # off on one seed, or in a version of the source's set-up
        Case("miiii.x.attention", embeddings.exclusive_attention, (*REMAINDERS, *SUMS)),
        Case("nanda.fig34", trainings.diverging, of("nanda/trigram-512", 0)),
        Case("miiii.fig6.ce", trainings.low_losses, REMAINDERS),
        Case("miiii.fig7.pearson.nanda", embeddings.positions_alike, SUMS),
        Case("miiii.grokked_all", trainings.delayed_tasks, REMAINDERS),
        Case("nanda.table5.accuracy_note", trainings.table_5_accuracies, shipped("nanda.table5.accuracy_note")),
    ),
}
REFUTED = [(kind, case) for kind in ("source", "network", "setting", "open") for case in CASES[kind]]
ELSEWHERE = (  # mixed by seeds that are shipped as tables alone
    Case("nanda.fig5.left", waves.explained_neurons, MAIN),
    Case("circuits.add.neurons_2dft", waves.sparse_neurons, of("circuits/add", 0)),
    Case("circuits.add.grok_window", trainings.grokking_window, of("circuits/add", 0, 1, 2)),
)
ALL = [*(case for cases in CASES.values() for case in cases), *ELSEWHERE]


@lru_cache(maxsize=2)
def network_of(run: str) -> NetworkMeasurements:
    return measure(load(run))


def as_lists(numbers: Numbers) -> dict[str, list[float]]:
    return {name: value if isinstance(value, list) else [float(value)] for name, value in numbers.items()}


@cache
def recomputed(case: Case) -> list[dict[str, list[float]]]:
    return [as_lists(case.recompute(*runs)) for runs in case.groups]


def off(case: Case) -> list[list[str]]:
    """For each group of runs, the numbers that are off their bands as recomputed."""
    bands = case.claim.bands
    return [[name for name, band in bands.items() if not all(map(band.holds, row[name]))] for row in recomputed(case)]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_the_numbers_are_those_that_are_measured(case: Case) -> None:
    for runs, ours in zip(case.groups, recomputed(case), strict=True):
        measured = case.claim.numbers(*map(network_of, runs))
        for name, values in ours.items():
            assert values == pytest.approx(list(measured[name]), rel=TOLERANCE), (runs, name)
            if band := case.claim.bands.get(name):
                assert list(map(band.holds, values)) == list(map(band.holds, measured[name])), (runs, name)


@pytest.mark.parametrize("case", CASES["holds"], ids=lambda case: case.id)
def test_what_holds_is_in_its_bands(case: Case) -> None:
    assert not any(off(case))


@pytest.mark.parametrize("case", CASES["mixed"], ids=lambda case: case.id)
def test_what_is_mixed_is_in_its_bands_in_one_network_and_off_them_in_another(case: Case) -> None:
    assert len({bool(names) for names in off(case)}) == 2


@pytest.mark.parametrize(("kind", "case"), REFUTED, ids=lambda value: getattr(value, "id", value))
def test_what_is_refuted_is_off_its_bands_in_all_networks(kind: str, case: Case) -> None:
    assert all(off(case))
    misses = [
        band.miss(value)
        for names, row in zip(off(case), recomputed(case), strict=True)
        for name, band in case.claim.bands.items()
        if name in names
        for value in row[name]
    ]
    assert kind == "open" or max(misses) >= NEAR


def test_every_kind_is_recomputed() -> None:
    for kind, cases in CASES.items():
        findings = [case.claim.finding for case in cases]
        assert {finding.kind or finding.verdict for finding in findings} == {kind}
        assert all((finding.verdict == "refuted") == bool(finding.kind) for finding in findings)
        assert len(findings) >= (1 if kind == "setting" else 3)
    assert {case.claim.source for case in ALL} == {"nanda", "clock", "circuits", "miiii"}
