"""Circuits that order numbers: planted lines, copies and permutations must come back as planted."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
import torch
from analyses.test_bounds import ideal, query_of, random_network

from modinterp.activations import generated
from modinterp.analyses.order import copying, largest_number, sorting
from modinterp.analyses.order import permutations as permuting
from modinterp.analyses.order.lookups import lookups
from modinterp.analyses.statistics import lines, similarity
from modinterp.models import MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic, Ordering

N, LIMIT, SLOPE = 4, 20, 0.5


@pytest.fixture(scope="module")
def planted():
    return query_of(ideal(N, LIMIT, SLOPE), N, LIMIT)


@pytest.fixture(scope="module")
def inputs() -> torch.Tensor:
    return Ordering("max", n=N, limit=LIMIT, size=500).inputs()


@pytest.mark.parametrize("sizes", [{}, {"d_mlp": None}, {"positional": False}, {"attn_biases": True, "unembed_bias": True},
                                   {"act_fn": "gelu"}])  # fmt: skip
def test_look_ups_compute_what_the_network_computes(sizes: dict, inputs: torch.Tensor) -> None:
    network = random_network(3, N, LIMIT, scale=1.0, **sizes).double()
    for parameter in network.parameters():
        parameter.data += 0.01  # so that biases are not 0
    found, (logits, cache) = lookups(network), network.run_with_cache(inputs)
    own = found.query_position(N, LIMIT)
    torch.testing.assert_close(own.logits(inputs), logits[:, -1].detach())
    torch.testing.assert_close(own.pattern(inputs), cache["pattern", 0][:, :, -1].detach())
    earlier = found.query_position(2, 7)
    rows = inputs.clone()
    rows[:, 2] = 7
    torch.testing.assert_close(earlier.logits(rows), network(rows)[:, 2].detach())


def test_look_ups_are_those_of_one_layer() -> None:
    config = TransformerConfig.of(Ordering("max", n=3, limit=8, size=9), n_layers=2, d_model=8, d_mlp=8)
    with pytest.raises(ValueError, match="one layer"):
        lookups(hooked(config, initial_weights(config, 0)))
    pair = MLPConfig.of(ModularArithmetic(5, equals=False), d_model=4, d_mlp=4)
    with pytest.raises(ValueError, match="one layer"):
        lookups(hooked(pair, initial_weights(pair, 0)))


def test_planted_lines_come_back(planted) -> None:
    fitted = lines.lines(planted.scores[:N, :LIMIT].mean(dim=0), first=4)
    torch.testing.assert_close(fitted.slope, torch.full((2,), SLOPE, dtype=torch.float64))
    torch.testing.assert_close(fitted.explained, torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(fitted.centre, torch.zeros(2, dtype=torch.float64), atol=1e-6, rtol=0)
    assert list(fitted.table().columns) == ["head", "slope", "intercept", "centre", "R squared"]
    by_position = lines.lines(planted.scores[:N, :LIMIT].transpose(0, 1))
    assert by_position.slope.shape == (N, 2)
    assert len(by_position.table()) == 2 * N
    with pytest.raises(ValueError, match="at least 3 numbers"):
        lines.lines(torch.zeros(20, 2), first=18)


def test_polynomials_explain_what_they_are() -> None:
    x = torch.arange(50, dtype=torch.float64)
    y = torch.stack([x, x**2, x**3 - 40 * x**2], dim=1)
    assert lines.polynomial_explained(y, 3).min() > 1 - 1e-9
    line = lines.polynomial_explained(y, 1)
    assert line[0] > 1 - 1e-9
    torch.testing.assert_close(line, lines.lines(y).explained)
    assert line[2] < 0.9
    assert lines.polynomial_explained(torch.ones(9), 1).isnan()
    with pytest.raises(ValueError, match="fits any 4 numbers exactly"):
        lines.polynomial_explained(x[:4], 3)


def test_a_perfect_copy_is_found_and_stands_half_of_another_number(planted) -> None:
    found = copying.copying(planted, N)
    assert found.right.all()
    assert found.right_alone.all()
    assert (found.margin > 0).all()
    both = copying.pairs(LIMIT, 4)
    assert len(both) == 16 * 15
    assert (both[:, 0] != both[:, 1]).all()
    assert both.min() == 4
    result = copying.tolerance(planted.copies(N), planted.start[None], both, planted, steps=20)
    assert result.largest_share() == pytest.approx(0.45)  # at one half it is a tie
    assert result.accuracy[-1] == 0
    broken = copying.Tolerance(result.share, torch.full_like(result.share, 0.5))
    assert math.isnan(broken.largest_share())


def test_attention_to_the_largest_follows_the_slope(planted, inputs: torch.Tensor) -> None:
    numbers, pattern = inputs[:, :N], planted.pattern(inputs)
    found = largest_number.attention_to_largest(pattern, numbers)
    assert (found.first == 1).all()
    weights = (SLOPE * numbers.double()).exp()
    largest = numbers == numbers.amax(dim=1, keepdim=True)
    expected = ((weights * largest).sum(dim=1) / weights.sum(dim=1)).mean()
    torch.testing.assert_close(found.mass, expected.expand(2), atol=1e-3, rtol=0)  # CLS takes the rest


def test_gaps_and_tables_by_gap() -> None:
    gap = largest_number.gaps(torch.tensor([[3, 9, 9], [1, 5, 2], [0, 0, 7]]))
    assert gap.tolist() == [0, 3, 7]
    table = largest_number.gap_means(torch.tensor([0.0, 1.0, 1.0]), gap, (0, 1, 5))
    assert table["inputs"].tolist() == [1, 1, 1]
    assert table["mean"].tolist() == [0, 1, 1]


def test_the_idealised_circuit_is_right_where_numbers_are_apart(planted, inputs: torch.Tensor) -> None:
    fitted = lines.lines(planted.scores[:N, :LIMIT].mean(dim=0))
    on_lines = largest_number.with_line_scores(planted, fitted, N)
    torch.testing.assert_close(on_lines.pattern(inputs), planted.pattern(inputs))
    copied = largest_number.perfect_copy(on_lines.pattern(inputs), inputs[:, :N], LIMIT)
    assert (copied.sum(dim=1) <= 1 + 1e-9).all()
    right = copied.argmax(dim=1) == inputs[:, :N].amax(dim=1)
    assert right[largest_number.gaps(inputs[:, :N]) >= 3].all()
    flat = largest_number.with_line_scores(planted, lines.lines(0 * planted.scores[:N, :LIMIT].mean(dim=0) + 1.0), N)
    assert (flat.scores[N] == planted.scores[N]).all()


def test_orders() -> None:
    assert permuting.orders(4).tolist() == [list(order) for order in permutations(range(4))]
    many = permuting.orders(9)
    assert len(many) == permuting.MOST_ORDERS
    assert (many.sort(dim=1).values == torch.arange(9)).all()
    numbers = torch.tensor([[5, 6, 7]])
    assert sorted(map(tuple, permuting.in_all_orders(numbers)[0].tolist())) == sorted(permutations((5, 6, 7)))


def test_contrast_of_neighbours_is_that_of_the_sequence() -> None:
    x = torch.linspace(0, 3, 60)
    smooth, mixed = torch.cos(x[:, None] - x), torch.randperm(60, generator=torch.Generator().manual_seed(0))
    assert permuting.neighbour_contrast(smooth, mixed) < 0.3
    again = smooth[mixed][:, mixed]
    assert permuting.neighbour_contrast(again, mixed) == pytest.approx(1, abs=0.2)


def test_similarity() -> None:
    v, w = torch.tensor([3.0, 0]), torch.tensor([0.0, 3])
    assert similarity.relative_difference(v, v) == 0
    assert similarity.relative_difference(v, w) == pytest.approx(2)
    torch.testing.assert_close(similarity.cosines(torch.stack([v, w, -v]))[0], torch.tensor([1.0, 0, -1]).double())
    # equal lengths: twice 1 - cosine, by which the two numbers of the source agree
    angle = torch.tensor(0.61732).arccos()
    other = 3 * torch.stack([angle.cos(), angle.sin()])
    assert similarity.relative_difference(v, other) == pytest.approx(2 * (1 - 0.61732), abs=1e-5)


def planted_sort(inputs: torch.Tensor, n: int) -> torch.Tensor:
    """Patterns in which output r attends to the number of rank r alone."""
    order = inputs[:, :n].argsort(dim=1)
    pattern = torch.zeros(len(inputs), 1, 2 * n, 2 * n, dtype=torch.float64)
    for rank in range(n):
        pattern[torch.arange(len(inputs)), 0, n + rank, order[:, rank]] = 0.9
        pattern[:, 0, n + rank, n] = 0.1
    return pattern


def test_ranks_attended_to_are_those_planted() -> None:
    inputs = Ordering("sort", n=4, limit=30, size=200).inputs()
    found = sorting.rank_attention(planted_sort(inputs, 4), inputs[:, :4])
    assert found.first.shape == (4, 1, 4)
    assert (found.first[:, 0].diagonal() == 1).all()
    torch.testing.assert_close(found.mass[:, 0], 0.9 * torch.eye(4, dtype=torch.float64))
    assert (found.to_outputs == 0).all()
    torch.testing.assert_close(found.to_cls, torch.full((4, 1), 0.1, dtype=torch.float64))
    assert found.table()["of its own rank"].tolist() == [1, 1, 1, 1]


def test_a_swapped_token_tells_place_from_token() -> None:
    numbers = torch.tensor([[1, 5, 9], [2, 4, 8], [3, 6, 7]])
    token = torch.tensor([6, 0, 3])
    by_place, by_token = torch.tensor([5, 4, 6]), torch.tensor([9, 2, 6])
    # in the third input both call for 6: left out
    assert sorting.token_swap(by_place, numbers, token, 1) == sorting.TokenSwap(1, 0, 0)
    assert sorting.token_swap(by_token, numbers, token, 1) == sorting.TokenSwap(0, 1, 0)
    assert math.isnan(sorting.token_swap(by_place, numbers, torch.tensor([9, 9, 9]), 1).unchanged)  # none is larger


def test_generated_answers_follow_the_networks_own(tiny_sort: TrainedRun) -> None:
    inputs = tiny_sort.task.inputs()[:50]
    said = generated(tiny_sort.model, inputs[:, :4], 3)
    fed = torch.cat([inputs[:, :4], said[:, :-1]], dim=1)
    assert torch.equal(tiny_sort.model(fed)[:, -3:].argmax(dim=2), said)
    assert (said == tiny_sort.task.labels()[:50]).double().mean() > 0.8
