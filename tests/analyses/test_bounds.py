"""The bound on accuracy: below the truth on any network, equal to it when carried through, high where it should be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch

from modinterp.analyses.order.bounds import Bounder, _size, _sub_boxes, accuracy_bound, proven_accuracy
from modinterp.analyses.order.lookups import QueryPosition, lookups
from modinterp.models import Network, TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.tasks import Ordering

TASK = Ordering("max", n=3, limit=8, size=500)


def everything(n: int, limit: int) -> torch.Tensor:
    return torch.tensor([[*numbers, limit] for numbers in product(range(limit), repeat=n)])


def right(network: Network, n: int, limit: int) -> int:
    """By brute force, with the network itself."""
    inputs = everything(n, limit)
    with torch.no_grad():
        answers = network(inputs)[:, -1].argmax(dim=1)
    return int((answers == inputs[:, :n].amax(dim=1)).sum())


def query_of(network: Network, n: int, limit: int) -> QueryPosition:
    return lookups(network).query_position(n, limit)


def random_network(seed: int, n: int = 3, limit: int = 8, scale: float = 3.0, **sizes) -> Network:
    task = Ordering("max", n=n, limit=limit, size=limit**n // 2)
    config = replace(TransformerConfig.of(task), **{"d_model": 12, "n_heads": 2, "d_head": 4, "d_mlp": 16} | sizes)
    weights = {name: scale * w for name, w in initial_weights(config, seed).items()}
    return hooked(config, weights)


def ideal(n: int, limit: int, slope: float, heads: int = 2) -> Network:
    """Scores on a line of the given slope, a perfect copy, no MLP."""
    task = Ordering("max", n=n, limit=limit, size=limit**n // 2)
    config = TransformerConfig.of(task, d_model=limit + 2, n_heads=heads, d_head=limit, d_mlp=None)
    weights = {name: torch.zeros(shape) for name, shape in config.shapes().items()}
    weights["embed.W_E"][:limit, :limit] = torch.eye(limit)
    weights["embed.W_E"][:limit, limit] = torch.arange(limit) * slope
    weights["embed.W_E"][limit, limit + 1] = 1
    weights["embed.W_E"][limit, limit] = -10 * slope
    for head in range(heads):
        weights["blocks.0.attn.W_Q"][head, limit + 1, 0] = limit**0.5
        weights["blocks.0.attn.W_K"][head, limit, 0] = 1
        weights["blocks.0.attn.W_V"][head, :limit] = torch.eye(limit)
        weights["blocks.0.attn.W_O"][head, :, :limit] = torch.eye(limit)
    weights["unembed.W_U"][:limit] = torch.eye(limit)
    return hooked(config, weights)


def test_boxes_count_their_inputs_and_cuts_lose_none() -> None:
    assert _size(((5, 5), (0, 4), (0, 4))) == 3 * 25
    assert _size(((5, 5), (5, 5), (0, 4))) == 3 * 5
    assert _size(((5, 5), (3, 4), (0, 2))) == 6 * 2 * 3
    box = ((9, 9), (0, 8), (0, 8), (0, 8))
    parts = _sub_boxes(box, (0, 8))
    assert sum(map(_size, parts)) == _size(box)
    assert sum(_size(part) for half in parts for part in _sub_boxes(half, half[-1])) == _size(box)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [{}, {"d_mlp": None}, {"positional": False, "n_heads": 1},
                                   {"attn_biases": True, "unembed_bias": True}])  # fmt: skip
def test_no_random_network_is_said_to_be_better_than_it_is(seed: int, sizes: dict) -> None:
    network = random_network(seed, **sizes)
    truth, query = right(network, 3, 8), query_of(network, 3, 8)
    for boxes in (10, 60):
        assert proven_accuracy(query, 3, boxes).proven <= truth
    full = proven_accuracy(query, 3, 10_000)
    assert full.proven == truth
    assert full.wrong == 8**3 - truth
    assert full.inputs == 8**3


@pytest.mark.parametrize("scale", [1.0, 3.0, 6.0])
def test_margins_are_below_those_of_every_input_of_the_box(scale: float) -> None:
    n, limit, generator = 4, 12, torch.Generator().manual_seed(1)
    query = query_of(random_network(7, n, limit, scale), n, limit)
    bounder = Bounder(query, n)
    for _ in range(60):
        m = int(torch.randint(1, limit, (), generator=generator))
        ends = torch.randint(m, (n - 1, 2), generator=generator).sort(dim=1).values
        ends = torch.cat([torch.tensor([[m, m]]), ends]).unsqueeze(0)
        low, high = ends[..., 0], ends[..., 1]
        other = torch.tensor([j for j in range(limit) if j != m])
        bounds = bounder.margins(low, high, bounder.weights(low, high), torch.zeros_like(other), other)
        drawn = low + (torch.rand(300, n, generator=generator) * (high - low + 1)).long()
        drawn = drawn.gather(1, torch.rand(300, n, generator=generator).argsort(dim=1))
        logits = query.logits(torch.cat([drawn, torch.full((300, 1), limit)], dim=1))
        assert (logits[:, [m]] - logits[:, other] >= bounds - 1e-9).all()
        single = (low == high).all()
        assert bounds.isfinite().all() or not single


def test_ideal_weights_are_proven_at_once() -> None:
    network = ideal(4, 20, slope=4.0)
    truth = right(network, 4, 20)
    assert truth == 20**4
    bound = proven_accuracy(query_of(network, 4, 20), 4, boxes=2_000)
    assert bound.proven == truth
    assert bound.boxes < 20**4 / 100
    assert min(bound.by_largest) == 1


def test_a_flat_slope_proves_wide_gaps_alone() -> None:
    network = ideal(3, 20, slope=0.3)
    truth, bound = right(network, 3, 20), proven_accuracy(query_of(network, 3, 20), 3, boxes=400)
    assert 0.3 * truth < bound.proven <= truth < 20**3


def test_a_trained_network_is_proven_as_far_as_brute_force_goes(tiny_max: TrainedRun) -> None:
    query = query_of(tiny_max.model, 3, 8)
    truth = right(tiny_max.model, 3, 8)
    assert truth > 0.9 * 8**3
    early, full = proven_accuracy(query, 3, boxes=60), proven_accuracy(query, 3, boxes=10_000)
    assert early.proven <= full.proven == truth
    assert full.boxes + full.evaluated < 8**3
    assert early.accuracy > 0.1


def test_the_smallest_is_the_largest_of_the_mirror_image() -> None:
    network = random_network(5)
    inputs = everything(3, 8)
    answers = network(inputs)[:, -1].argmax(dim=1)
    truth = int((answers == inputs[:, :3].amin(dim=1)).sum())
    assert accuracy_bound(network, Ordering("min", n=3, limit=8, size=9)).proven == truth
    assert truth != right(network, 3, 8)


def test_other_neurons_are_refused() -> None:
    network = random_network(0, act_fn="gelu")
    with pytest.raises(ValueError, match="largest or smallest"):
        accuracy_bound(random_network(0, n_ctx=6), Ordering("sort", n=3, limit=8, size=9))
    with pytest.raises(ValueError, match="only for ReLU, got gelu"):
        proven_accuracy(query_of(network, 3, 8), 3)
