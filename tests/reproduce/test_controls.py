"""Claims are evaluated on networks of the same shape that learned something else."""

from __future__ import annotations

from dataclasses import replace

import pytest

import modinterp as mi
from modinterp.claims import Claim, at_least, at_most, each
from modinterp.claims.result import CONTRAST, NEVER_GENERALISES, SHUFFLED
from modinterp.measurements import measure
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.reproduce.evidence import asked_of, checked
from modinterp.reproduce.reproduction import claims_matching
from modinterp.runs import TrainedRun
from modinterp.sources import catalogue, sources
from modinterp.tasks import RandomLabels, Task, addition, multiplication
from modinterp.training import Recipe, RunSpec


def run(name: str, task: Task, seed: int) -> TrainedRun:
    config = TransformerConfig.of(task, d_model=8, n_heads=1, d_head=8, d_mlp=8)
    spec = RunSpec(task, config, Recipe(epochs=1), seed)
    return TrainedRun(name, task, hooked(config, initial_weights(config, seed)), spec=spec)


CONTROLS = {"a/random-0": "of random labels", "a/product-0": "of another operation"}
RUNS = {
    "a/x-0": run("a/x-0", addition(5), 0),
    "a/x-1": run("a/x-1", addition(5), 1),
    "a/random-0": run("a/random-0", RandomLabels(5), 2),
    "a/product-0": run("a/product-0", multiplication(5), 3),
    "a/p7-0": run("a/p7-0", addition(7), 4),
}


def claim(limit: float) -> Claim:
    """Of the task that a network is measured as if it had learned, and of its seed."""

    def numbers(m):
        seed = 9.0 if m.spec is None else float(m.spec.seed)
        return {"seed": seed, "labels": float((m.task.labels() != addition(5).labels()).sum())}

    return Claim(id="a.x", where="nowhere", statement="Something.", source_says="1", measure=each(numbers),
                 expected={"seed": at_most(limit, "so"), "labels": at_most(0, "so")}, needs=("a/x-0", "a/x-1"),
                 scope="any seed")  # fmt: skip


def test_a_control_is_measured_as_if_it_had_learned_the_task_of_the_claim() -> None:
    measured = {name: measure(each) for name, each in RUNS.items()}
    asked = asked_of([claim(1)], measured, CONTROLS)
    assert asked["a/random-0"].as_control == {"a.x": addition(5)}
    assert asked["a/random-0"].control == "of random labels"
    assert not asked["a/p7-0"].own
    (result,) = checked([claim(1)], measured, controls=CONTROLS)
    assert result.runs == ("a/x-0", "a/x-1"), "a control does not count"
    assert result.control["of random labels"] == {"seed": (2.0,), "labels": (0.0,)}
    assert result.control["of another operation"]["seed"] == (3.0,)
    assert not any(result.passes_control(result.control[words]) for words in CONTROLS.values())
    (result,) = checked([claim(2)], measured, controls=CONTROLS)
    passed = {words: result.passes_control(result.control[words]) for words in CONTROLS.values()}
    assert passed == {"of random labels": True, "of another operation": False}


def test_a_network_can_be_subject_of_its_own_claims_and_control_of_others() -> None:
    product = replace(claim(9), id="a.y", needs=("a/product-0",))
    measured = {name: measure(each) for name, each in RUNS.items()}
    asked = asked_of([claim(9), product], measured, {"a/product-0": "of another operation"})["a/product-0"]
    assert asked.own == {"a.y"}
    assert asked.as_control == {"a.x": addition(5)}
    results = checked([claim(9), product], measured, controls={"a/product-0": "of another operation"})
    assert results[1].runs == ("a/product-0",)
    assert "of another operation" in results[0].control
    assert "of another operation" not in results[1].control


def test_a_contrast_is_measured_beside_and_does_not_count() -> None:
    measured = {name: measure(each) for name, each in RUNS.items()}
    (result,) = checked([replace(claim(1), contrast=("a/product-0",))], measured)
    assert result.runs == ("a/x-0", "a/x-1")
    assert result.control[CONTRAST] == {"seed": (3.0,), "labels": (21.0,)}
    assert result.passes_control(result.control[CONTRAST]) is False
    (result,) = checked([replace(claim(1), contrast=("a/absent-0",))], measured)
    assert CONTRAST not in result.control


def test_a_contrast_that_is_a_control_is_measured_as_if_it_had_learned_the_task() -> None:
    measured = {name: measure(each) for name, each in RUNS.items()}
    contrasted = replace(claim(1), contrast=("a/product-0",))
    (result,) = checked([contrasted], measured, controls={"a/product-0": "of another operation"})
    assert result.control[CONTRAST] == {"seed": (3.0,), "labels": (0.0,)}
    (result,) = checked(
        [replace(claim(1), contrast=("a/p7-0",))], measured, controls={"a/p7-0": "of another operation"}
    )
    assert CONTRAST not in result.control, (
        "of another shape it is measured on its own task, whose labels differ in number"
    )


def test_a_claim_about_one_network_has_the_settings_of_another_shuffled_in() -> None:
    measured = {name: measure(each) for name, each in RUNS.items()}
    (result,) = checked([replace(claim(1), shuffled=True)], measured)
    assert result.measured["seed"] == (0.0, 1.0)
    assert result.control[SHUFFLED] == {"seed": (1.0,), "labels": (0.0,)}, "the first network with the second's seed"
    alone = {"a/x-0": measured["a/x-0"]}
    assert SHUFFLED not in checked([replace(claim(1), shuffled=True)], alone)[0].control


def test_what_is_undefined_before_training_is_no_control() -> None:
    def undefined_at_start(m):
        if "at the start" in m.name:
            raise ValueError("no circles")
        return {"x": 1.0}

    fragile = replace(claim(1), measure=each(undefined_at_start), expected={"x": at_least(1, "so")})
    (result,) = checked([fragile], {"a/x-0": measure(RUNS["a/x-0"])})
    assert result.verdict == "holds"
    assert "before training" not in result.control


def test_a_trend_over_a_sweep_fails_once_its_settings_are_shuffled() -> None:
    def trend(*runs):
        return {"is in the order of seeds": float([m.spec.seed for m in runs] == [0, 1, 2, 3, 4])}

    names = tuple(f"a/y-{seed}" for seed in range(5))
    measured = {name: measure(run(name, addition(5), seed)) for seed, name in enumerate(names)}
    sweep = replace(claim(1), measure=trend, expected={"is in the order of seeds": at_least(1, "a trend")}, needs=names)
    (result,) = checked([replace(sweep, shuffled=True)], measured)
    assert result.verdict == "holds"
    assert result.control[SHUFFLED] == {"is in the order of seeds": (0.0,)}
    assert SHUFFLED not in checked([sweep], measured)[0].control


def test_accuracies_tell_where_no_other_number_is_defined() -> None:
    expected = {"test accuracy": at_least(0.99, "learned"), "grokking epoch": at_most(9, "early")}
    asked = replace(claim(1), expected=expected, behaviour=("test accuracy",))
    result = asked.judged_together({"test accuracy": (1.0,), "grokking epoch": (5.0,)}, ())
    nan = float("nan")
    assert result.passes_control({"test accuracy": (0.1,), "grokking epoch": (nan,)}) is False
    assert result.passes_control({"test accuracy": (0.1,), "grokking epoch": (5.0,)}) is True, "it says how, too"
    assert result.passes_control({"test accuracy": (1.0,), "grokking epoch": (nan,)}) is None


def test_a_run_that_never_generalises_is_measured_at_the_phases_of_the_first_network() -> None:
    measured = {name: mi.measure(mi.load(name)) for name in ("nanda/mainline-0", "nanda/no-decay-0")}
    cleanup = claims_matching("nanda", "s52.cleanup_restricted")
    asked = asked_of(cleanup, measured, {"nanda/no-decay-0": NEVER_GENERALISES})["nanda/no-decay-0"]
    assert asked.phases == measured["nanda/mainline-0"].phases
    (result,) = checked(cleanup, measured, controls={"nanda/no-decay-0": NEVER_GENERALISES})
    (ratio,) = result.control[NEVER_GENERALISES]["restricted loss at t3 over at t2"]
    table = measured["nanda/no-decay-0"].progress.set_index("epoch")["restricted_loss_all"]
    assert ratio == pytest.approx(table[asked.phases.cleaned] / table[asked.phases.formed])
    assert result.specificity == "told apart"


def test_controls_of_sources_are_their_runs_and_have_the_shape_of_a_network_of_another_task() -> None:
    found = [(about, name, what) for about in sources().values() for name, what in about.controls.items()]
    assert len({about.name for about, *_ in found}) >= 7
    for about, name, what in found:
        control = catalogue()[name]
        subjects = {run for claim in about.claims.values() if claim.of_one for run in claim.needs[:1]}
        others = [
            catalogue()[run]
            for run in subjects
            if (catalogue()[run].task.name == control.task.name) is (what == NEVER_GENERALISES)
        ]
        assert any(spec.shape == control.shape for spec in others), f"{name} is no control of {about.name}"
