"""What is measured of a network that answers at several positions, where the result is known beforehand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from modinterp.measurements import NoSuchPart, SequenceMeasurements, measure
from modinterp.models import TransformerConfig, hooked
from modinterp.runs import TrainedRun
from modinterp.tasks import RepeatedSubsequence, SignOfSum, SortedList, Task
from modinterp.training import Recipe, RunSpec, training_states


def run_of(task: Task, share: float, **sizes: int | str | None) -> TrainedRun:
    model = TransformerConfig.of(task, d_model=12, n_heads=2, d_head=6, **sizes)
    recipe = Recipe(epochs=2, fraction=share, log_every=1, snapshot_every=1)
    spec = RunSpec(task, model, recipe)
    states = {state.epoch: state.weights for _, state in training_states([spec], device="cpu")}
    return TrainedRun("a small run", task, hooked(model, states[2]), spec, snapshots=states)


LISTS = SortedList(n=3, limit=7, size=40, held_out=30)
SIGNS = SignOfSum(n=6, size=40, held_out=30)


def sequences(run: TrainedRun) -> SequenceMeasurements:
    m = measure(run)
    assert isinstance(m, SequenceMeasurements)
    return m


def test_answers_are_those_at_the_positions_read() -> None:
    m = sequences(run_of(LISTS, LISTS.share, d_mlp=None, normalization_type="LN"))
    assert m.answered.positions == (3, 4, 5)
    assert torch.equal(m.answered.right, LISTS.inputs()[40:, 4:])
    logits = m.model(LISTS.inputs()[40:])[:, 3:6].detach()
    torch.testing.assert_close(m.answered.log_probs, logits.double().log_softmax(-1), rtol=0, atol=1e-5)
    folded = m.answers_to(m.sampled, m.folded)
    torch.testing.assert_close(folded.log_probs, m.answered.log_probs, rtol=0, atol=1e-10)
    assert m.answered.loss == pytest.approx(m.sample_loss)


def test_a_head_that_writes_nothing_costs_nothing() -> None:
    run = run_of(SIGNS, SIGNS.share, d_mlp=5)
    with torch.no_grad():
        run.network.blocks[0].attn.W_O[1] = 0
        run.network.blocks[0].mlp.W_out[3] = 0
    m = sequences(run)
    assert m.head_rises.shape == (1, 2)
    assert abs(float(m.head_rises[0, 1])) < 1e-12
    assert abs(float(m.neuron_rises[3])) < 1e-12
    assert m.neuron_rises.abs().max() > 1e-5
    assert float(m.head_rises[0, 0]) == pytest.approx(_loss_with_mean(m) - m.sample_loss)


def _loss_with_mean(m: SequenceMeasurements) -> float:
    """The loss with head 0 at its mean, by another way: what it adds to the residual stream is replaced."""
    network = m.precise
    network.set_use_attn_result(True)
    with torch.no_grad():
        _, cache = network.run_with_cache(m.sampled.inputs)
        mean = cache["blocks.0.attn.hook_result"][:, :, 0].mean(dim=0)

        def put(result, hook):
            result = result.clone()
            result[:, :, 0] = mean
            return result

        with network.hooks(fwd_hooks=[("blocks.0.attn.hook_result", put)]):
            return m.answers_to(m.sampled, network).loss


def test_as_of_a_snapshot_another_network_is_measured() -> None:
    run = run_of(SIGNS, SIGNS.share, d_mlp=5)
    m = sequences(run)
    assert m.as_of(0) is m.as_of(0)
    assert m.as_of(0).answered.loss == pytest.approx(sequences(run.at_start()).answered.loss)
    assert m.as_of(2).answered.loss == pytest.approx(m.answered.loss)
    assert m.as_of(0).answered.loss != pytest.approx(m.answered.loss)
    with pytest.raises(KeyError, match="no snapshot|1000"):
        m.as_of(1000)


def test_what_a_network_does_not_have_is_stated() -> None:
    with pytest.raises(NoSuchPart, match="no neurons"):
        _ = sequences(run_of(LISTS, LISTS.share, d_mlp=None)).neuron_rises
    repeated = RepeatedSubsequence(vocab=9, length=14, subsequence=4, copies=2, size=40)
    with pytest.raises(NoSuchPart, match="depend on the input"):
        sequences(run_of(repeated, 0.5, d_mlp=None)).examples(5)
    assert replace(LISTS, data_seed=3).of_any_seed() == LISTS
