"""Measurements of a run: which class has them, that each is computed once, when it is asked for, and that they go."""

from __future__ import annotations

import gc
import math
import pickle
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import pytest
import torch

from modinterp import tasks
from modinterp.analyses.fourier import readout
from modinterp.analyses.training.progress import progress_at
from modinterp.measurements import (
    CyclicMeasurements,
    NetworkMeasurements,
    NoSuchPart,
    OrderMeasurements,
    PairMeasurements,
    SequenceMeasurements,
    family,
    measure,
)
from modinterp.measurements.recorded import measurements_declared
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Split
from modinterp.training import Recipe, RunSpec

P = 13


@dataclass(frozen=True)
class Xor(tasks.Task):
    """The bitwise exclusive or of two numbers below n, which has as many answers as n is rounded up to a power of 2."""

    n: int = 8

    name = property(lambda self: f"xor below {self.n}")
    d_vocab = property(lambda self: self.n)
    d_vocab_out = property(lambda self: self.n)
    n_ctx = property(lambda self: 2)
    grid = property(lambda self: (self.n, self.n))

    def inputs(self) -> torch.Tensor:
        return torch.cartesian_prod(torch.arange(self.n), torch.arange(self.n))

    def labels(self) -> torch.Tensor:
        return (self.inputs()[:, :1] ^ self.inputs()[:, 1:]).long()


class Parity(Xor):
    """Whether a + b is even: two answers to n * n inputs."""

    d_vocab_out = property(lambda self: 2)

    def labels(self) -> torch.Tensor:
        return (self.inputs().sum(dim=1, keepdim=True) % 2).long()


class Triples(Xor):
    """Inputs of three numbers."""

    grid = property(lambda self: (self.n, self.n, self.n))


def tiny(task: tasks.Task | None = None, **shape: object) -> TrainedRun:
    task = task or tasks.addition(P)
    config = TransformerConfig.of(task, **{"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24} | shape)
    return TrainedRun("tiny", task, hooked(config, initial_weights(config, seed=0)))


@pytest.mark.parametrize(("task", "kind"), [
    (tasks.addition(P), CyclicMeasurements),
    (tasks.subtraction(P), CyclicMeasurements),
    (tasks.addition(P, equals=False), CyclicMeasurements),
    (tasks.PrimeRemainders(11), PairMeasurements),
    (tasks.Ordering("max", n=2, limit=9), OrderMeasurements),
    (tasks.Ordering("sort", n=4, limit=9), OrderMeasurements),
    (Xor(), CyclicMeasurements),
    (Parity(), PairMeasurements),
    (Triples(), NetworkMeasurements),
], ids=lambda x: getattr(x, "name", getattr(x, "__name__", "")))  # fmt: skip
def test_the_shape_of_inputs_and_answers_chooses_the_measurements(
    task: tasks.Task, kind: type[NetworkMeasurements]
) -> None:
    assert family(task) is kind


def test_sampled_sequences_have_measurements_of_their_own() -> None:
    assert family(tasks.RepeatedSubsequence()) is SequenceMeasurements


def test_a_task_of_ones_own_is_measured() -> None:
    m = measure(tiny(Xor()))
    assert m.p == 8
    assert m.logits.shape == (8, 8, 8)
    assert m.freqs == m.keys.freqs
    assert 0 <= m.accuracy <= 1


def test_measurements_of_measurements_are_the_same_object() -> None:
    m = measure(tiny())
    assert measure(m) is m
    assert measure(measure(m)) is m


def test_two_measurements_of_a_run_share_nothing_but_the_run() -> None:
    run = tiny()
    first, second = measure(run), measure(run)
    assert first is not second
    assert first.run is second.run is run
    assert first.keys is not second.keys


def test_nothing_is_computed_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: TrainedRun) -> None:
        raise AssertionError("activations were captured")

    monkeypatch.setattr(TrainedRun, "activations", never)
    m = measure(tiny(), as_published=True)
    assert set(vars(m)) == {"run", "as_published", "draws"}
    assert m.freqs  # of the weights alone
    assert "readoff" not in vars(m)
    with pytest.raises(AssertionError, match="were captured"):
        _ = m.readoff


def test_an_analysis_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(original: Callable) -> Callable:
        def function(*args: object, **options: object) -> object:
            calls.append(original.__name__)
            return original(*args, **options)

        return function

    monkeypatch.setattr(readout, "readoff", counted(readout.readoff))
    monkeypatch.setattr(readout, "low_rank", counted(readout.low_rank))
    m = measure(tiny())
    assert calls == []
    assert m.readoff is m.readoff
    assert m.low_rank is m.low_rank
    assert calls == ["readoff", "low_rank"]


ONCE = (
    "keys", "spectrum", "readoff", "logit_fit", "low_rank", "neurons", "localisation", "heads", "sigmoid", "tables", "ov",
    "roles", "ablations", "test_losses", "summary", "loss_without_each", "labels",
)  # fmt: skip
OF_CIRCLES = ("tuning", "planes", "circles_of_W_E", "circles_of_W_L", "petals", "written_petals", "carried_planes",
              "summed_circles", "mlp_linearity", "singular_directions")  # fmt: skip


def test_every_measurement_is_kept() -> None:
    m = measure(tiny())
    for name in ONCE:
        assert getattr(m, name) is getattr(m, name), name
    for name in OF_CIRCLES:
        assert getattr(m.circles, name) is getattr(m.circles, name), name
    assert (
        m.ablated("attention output zero") is m.ablated("attention output zero") is m.ablations["attention output zero"]
    )
    hook, freq = "blocks.0.hook_attn_out", m.freqs[0]
    assert m.circles.plane_directions(hook, freq) is m.circles.plane_directions(hook, freq)
    assert m.circles.motion(hook, freq, 0) is m.circles.motion(hook, freq, 0) is m.circles.motions(hook, 0)[freq]


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_measurements_go_with_their_last_user_and_activations_with_the_run() -> None:
    run = tiny()
    m = measure(run)
    for name in ONCE:
        getattr(m, name)
    for name in OF_CIRCLES:
        getattr(m.circles, name)
    m.circles.motions("blocks.0.hook_mlp_out", 1)
    gone = [weakref.ref(m), weakref.ref(m.readoff), weakref.ref(m.spectrum_energy)]
    stays = weakref.ref(run)
    del m
    assert [ref() for ref in gone] == [None] * 3
    assert stays() is run
    del run
    assert stays() is None


def test_an_unknown_intervention_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ValueError, match="no intervention 'attention zero'; choose one of original, attention to self zero"
    ):
        measure(tiny()).ablated("attention zero")


@pytest.mark.parametrize(("shape", "names"), [
    ({"d_mlp": None}, ("W_L", "post", "pre", "neurons", "W_in", "W_out", "b_in", "circles.mlp_linearity")),
    ({"n_layers": 2}, ("circles.singular_directions",)),
    ({"positional": False}, ("W_pos",)),
], ids=str)  # fmt: skip
def test_parts_that_a_network_does_not_have_are_told(shape: dict[str, object], names: tuple[str, ...]) -> None:
    m = measure(tiny(**shape))
    for name in names:
        with pytest.raises(NoSuchPart, match="tiny"):
            attrgetter(name)(m)


def test_an_operation_that_adds_under_other_names_is_measured_in_their_order() -> None:
    m = measure(tiny(tasks.multiplication(P)))
    assert m.p == P - 1
    assert m.labels.unflatten(0, (P - 1, P - 1))[2, 3].tolist() == [5]  # places in the cyclic group add
    assert m.activation("blocks.0.mlp.hook_post").shape[:2] == (P - 1, P - 1)
    with pytest.raises(ValueError, match="task must be an addition or a subtraction"):
        progress_at(m.model, tasks.quadratic_form(P), Split(torch.arange(9), torch.arange(9, 20)), (1,))


def test_a_network_without_equals_lacks_what_equals_does_and_nothing_else() -> None:
    m, lacking = measure(tiny(tasks.addition(P, equals=False), causal=False, attention_rate=0.5)), set()
    for name in measurements_declared(type(m)):
        try:
            getattr(m, name)
        except NoSuchPart:
            lacking.add(name)
        except NotRecorded:  # it was not trained
            pass
    assert lacking == {"sigmoid", "tables", "roles"}


def test_numbers_stay_when_activations_are_let_go(mainline: TrainedRun) -> None:
    m = measure(mainline)
    loss = m.ablated("skip around MLP mean").loss
    assert m.taken["_component_values"]
    m.let_go()
    assert len(pickle.dumps(m.taken)) < 10**6, "it goes from process to process"
    assert m.ablated("skip around MLP mean").loss == loss
    other = measure(mainline)
    vars(other).update(m.taken)
    assert other.ablated("skip around MLP mean") is m.ablated("skip around MLP mean")


def test_a_run_that_holds_nothing_out_is_measured() -> None:
    task = tasks.addition(7)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=32)
    spec = RunSpec(task, config, Recipe(fraction=1.0, epochs=1))
    m = measure(TrainedRun("all", task, hooked(config, spec.initial_weights()), spec))
    assert m.test is None
    assert 0 <= m.accuracy <= 1
    assert all(math.isnan(loss) for loss in m.test_losses)
    assert m.ablations.table()["test_loss"].isna().all()
