"""Clock or pizza: planted logits give the ends of the scale, and gradients are those of a plain loop."""

from __future__ import annotations

import math
import random

import pytest
import torch

from modinterp.analyses.circles import symmetry
from modinterp.analyses.fourier.cosine_sums import ideal_logits
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.tasks import ModularArithmetic, addition

P = 13


@pytest.mark.parametrize("p", [13, 12])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_pizza_feels_the_distance_alone(p: int, sign: int) -> None:
    x = torch.arange(p)
    size = (math.pi * 2 / p * (x[:, None] - sign * x)).cos().abs()[..., None].double()
    found = symmetry.distance_irrelevance(size * ideal_logits(p, [2], None, sign), sign)
    assert found.correct == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_clock_does_not_feel_it(sign: int) -> None:
    p, x = P, torch.arange(P)
    ideal = ideal_logits(p, [2, 5], None, sign)
    found = symmetry.distance_irrelevance(ideal, sign)  # both are the same for every pair
    assert math.isnan(found.correct)
    assert math.isnan(found.largest_wrong)
    by_answer = torch.randn(p, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = symmetry.distance_irrelevance(ideal + by_answer[(x[:, None] + sign * x) % p][..., None], sign)
    assert found.correct == pytest.approx(1)
    assert found.largest_wrong == pytest.approx(1)


def test_distance_irrelevance_is_that_of_the_definition() -> None:
    """Written out as a matrix over answers and distances, which exists for an odd modulus."""
    logits = torch.randn(P, P, P, generator=torch.Generator().manual_seed(1))
    correct, wrong = torch.zeros(P, P), torch.zeros(P, P)
    for a in range(P):
        for b in range(P):
            correct[(a + b) % P, (a - b) % P] = logits[a, b, (a + b) % P]
            wrong[(a + b) % P, (a - b) % P] = max(float(logits[a, b, c]) for c in range(P) if c != (a + b) % P)
    found = symmetry.distance_irrelevance(logits)
    for matrix, value in ((correct, found.correct), (wrong, found.largest_wrong)):
        assert value == pytest.approx(
            float(matrix.std(dim=0, correction=0).mean() / matrix.std(correction=0)), rel=1e-5
        )


@pytest.mark.parametrize("shape", [{}, {"n_layers": 2, "act_fn": "gelu"}, {"d_mlp": None}, {"positional": False}])
def test_gradients_are_those_of_a_plain_loop(shape: dict) -> None:
    task = addition(P)
    config = TransformerConfig.of(task, **{"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24} | shape)
    network = hooked(config, initial_weights(config, 2))
    before = {name: w.clone() for name, w in network.state_dict().items()}
    found = symmetry.gradient_symmetricity(network, task, count=20)
    abc, cosines = symmetry.triples(P, 20), {"any": [], "correct": [], "wrong": []}
    for a, b, c in abc.tolist():
        logits = network(torch.tensor([[a, b, P]]))[0, -1].detach()
        right = (a + b) % P
        wrong = max((k for k in range(P) if k != right), key=lambda k: float(logits[k]))
        for name, output in (("any", c), ("correct", right), ("wrong", wrong)):
            cosines[name].append(_cosine(network, a, b, output))
    for name, value in zip(cosines, (found.any_output, found.correct, found.largest_wrong), strict=True):
        assert value == pytest.approx(sum(cosines[name]) / 20, abs=1e-4), name
    assert found.pairs == 20
    assert all(torch.equal(w, before[name]) for name, w in network.state_dict().items())
    assert all(w.grad is None for w in network.parameters())


def _cosine(network, a: int, b: int, output: int) -> float:
    """By giving both numbers tokens of their own, so that the embedding's gradient tells them apart."""
    table = network.W_E.detach()
    extended = torch.nn.Parameter(torch.cat([table, table[[a, b]]]))
    whole, network.embed.W_E = network.embed.W_E, extended
    logit = network(torch.tensor([[P + 1, P + 2, P]]))[0, -1, output]
    (grad,) = torch.autograd.grad(logit, extended)
    network.embed.W_E = whole
    return float(torch.nn.functional.cosine_similarity(grad[P + 1], grad[P + 2], dim=0))


def test_a_sum_of_embeddings_is_symmetric() -> None:
    task = ModularArithmetic(P, equals=False)
    config = MLPConfig.of(task, d_model=8, d_mlp=12)
    found = symmetry.gradient_symmetricity(hooked(config, initial_weights(config, 0)), task)
    assert [found.any_output, found.correct, found.largest_wrong] == pytest.approx([1, 1, 1])


def test_triples_are_different_and_the_same_each_time() -> None:
    assert torch.equal(symmetry.triples(59), symmetry.triples(59))
    assert len({tuple(t) for t in symmetry.triples(59).tolist()}) == 100
    assert len(symmetry.triples(3)) == 27
    assert symmetry.triples(3).max() == 2


def test_shuffled_triples_are_the_first_of_all_in_random_order() -> None:
    every = [(a, b, c) for a in range(5) for b in range(5) for c in range(5)]
    random.Random(42).shuffle(every)
    assert [tuple(t) for t in symmetry.triples(5, 20, shuffled=True).tolist()] == every[:20]
    with pytest.raises(ValueError, match="shuffled must be False"):
        symmetry.triples(999, shuffled=True)


def _network(rate: float):
    task = addition(7, equals=False)
    config = TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=6, attention_rate=rate, causal=False)
    return hooked(config, initial_weights(config, 1)), task


def test_all_pairs_with_all_logits_are_all_triples() -> None:
    network, task = _network(0.6)
    every = symmetry.gradient_symmetricity(network, task, 7**3).any_output
    precise = network.in_float64()
    assert symmetry.symmetricity_over_pairs(precise, task, draws=7) == pytest.approx(every, abs=1e-9)
    assert symmetry.symmetricity_over_pairs(network, task, draws=3) == pytest.approx(every, abs=0.2)


def test_constant_attention_without_the_skip_is_a_sum() -> None:
    found = {rate: symmetry.gradient_symmetricity(*_network(rate), 40, skip=False).any_output for rate in (0.0, 1.0)}
    assert found[0.0] == pytest.approx(1)
    assert found[1.0] < 0.999
    assert symmetry.gradient_symmetricity(*_network(0.0), 40).any_output < 0.999
    config = MLPConfig.of(task := addition(7, equals=False), d_model=8, d_mlp=8)
    with pytest.raises(ValueError, match="skip must be True"):
        symmetry.gradient_symmetricity(hooked(config, initial_weights(config, 0)), task, skip=False)


def test_rows_of_one_distance() -> None:
    field = torch.arange(25.0).view(5, 5)
    rows = symmetry.by_distance(field)
    assert all(rows[d, a] == field[a, (a - d) % 5] for d in range(5) for a in range(5))
    rows = symmetry.by_distance(field, -1)
    assert all(rows[d, a] == field[a, (d - a) % 5] for d in range(5) for a in range(5))
    logits = torch.arange(125.0).view(5, 5, 5)
    rows = symmetry.correct_logits(logits)
    assert all(rows[d, a] == logits[a, (a - d) % 5, (2 * a - d) % 5] for d in range(5) for a in range(5))
