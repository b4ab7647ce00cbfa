"""Hand-made attention: heads that attend just where an induction circuit's do, and heads that do not."""

from __future__ import annotations

import math

import pytest
import torch

from modinterp.activations import logits_on_grid, patterns, without_heads
from modinterp.analyses.attention.induction import induction_scores, previous_token_scores
from modinterp.analyses.attention.trigrams import attention_to, direct_path
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import RepeatedSubsequence, SkipTrigram, addition

TASK = RepeatedSubsequence(vocab=50, length=30, subsequence=6, copies=3, size=20)


def uniform(inputs: int, n_pos: int) -> torch.Tensor:
    allowed = torch.ones(n_pos, n_pos).tril()
    return (allowed / allowed.sum(dim=1, keepdim=True)).expand(inputs, n_pos, n_pos)


def test_a_head_of_the_previous_token_is_told_from_one_that_looks_everywhere() -> None:
    shifted = torch.eye(9).roll(-1, dims=1).tril().expand(4, 9, 9).clone()
    shifted[:, 0, 0] = 1
    scores = previous_token_scores(torch.stack([shifted, uniform(4, 9)], dim=1))
    assert scores[0] == 1
    assert scores[1] == pytest.approx(sum(1 / (query + 1) for query in range(1, 9)) / 8)


def planted(tokens: torch.Tensor, latest: bool) -> torch.Tensor:
    """A head that attends to what followed the last occurrence of its token, or evenly all of them; else to the start."""
    pattern = torch.zeros(len(tokens), tokens.shape[1], tokens.shape[1])
    for row, sequence in enumerate(tokens.tolist()):
        for query, token in enumerate(sequence):
            before = [place for place in range(query) if sequence[place] == token]
            chosen = before[-1:] if latest else before
            for place in chosen:
                pattern[row, query, place + 1] = 1 / len(chosen)
            if not chosen:
                pattern[row, query, 0] = 1
    return pattern


def test_induction_heads_score_one_and_others_little() -> None:
    tokens, answered = TASK.inputs(), TASK.labels() >= 0
    assert answered.any()
    pattern = torch.stack([planted(tokens, True), planted(tokens, False), uniform(*tokens.shape)], dim=1)
    last, every, flat = induction_scores(pattern, tokens, answered)
    assert last == pytest.approx(1)
    assert 0.5 < every < 1
    assert flat < 0.2
    both = induction_scores(pattern, tokens, answered, latest=False)
    assert both[:2].tolist() == pytest.approx([1, 1])


def test_where_nothing_was_repeated_there_is_no_score() -> None:
    tokens = torch.arange(5).expand(2, 5)
    scores = induction_scores(uniform(2, 5).unsqueeze(1), tokens, torch.ones(2, 5, dtype=torch.bool))
    assert math.isnan(scores[0])


def test_patterns_are_those_of_every_layer() -> None:
    config = TransformerConfig.of(TASK, n_layers=2, d_model=16, n_heads=3, d_head=4, d_mlp=None)
    network = hooked(config, initial_weights(config, seed=0))
    found = patterns(network, TASK.inputs())
    assert found.shape == (2, 20, 3, 29, 29)
    _, cache = network.double().run_with_cache(TASK.inputs())
    torch.testing.assert_close(found[1], cache["pattern", 1])


def test_heads_are_silenced_at_every_position_and_come_back() -> None:
    task = addition(5)
    config = TransformerConfig.of(task, n_layers=2, d_model=16, n_heads=3, d_head=4, d_mlp=8)
    network = hooked(config, initial_weights(config, seed=0))
    before = logits_on_grid(network, task)
    with without_heads(network, [(0, 2), (1, 0), (1, 1)]):
        changed = logits_on_grid(network, task)
        _, cache = network.run_with_cache(task.inputs())
    assert (cache["z", 0][:, :, 2] == 0).all()
    assert (cache["z", 0][:, :, :2] != 0).any()
    assert (cache["z", 1][:, :, :2] == 0).all()
    by_hand = hooked(config, initial_weights(config, seed=0))
    for layer, head in ((0, 2), (1, 0), (1, 1)):
        by_hand.blocks[layer].attn.W_O.data[head] = 0
    torch.testing.assert_close(changed, logits_on_grid(by_hand, task))
    torch.testing.assert_close(logits_on_grid(network, task), before)
    with pytest.raises(ValueError, match="no head 3 in layer 1"), without_heads(network, [(1, 3)]):
        pass


def test_the_direct_path_is_what_a_token_adds_where_it_is_attended_to() -> None:
    task = SkipTrigram(trigrams=3, length=4, size=50)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=None, positional=False)
    weights = initial_weights(config, seed=0)
    network = hooked(config, weights)
    paths = direct_path(network, torch.arange(6))
    residual = weights["embed.W_E"] @ weights["unembed.W_U"]
    alike = network(torch.arange(6).unsqueeze(1).expand(6, 4))[:, -1]  # every position holds the same token
    torch.testing.assert_close(paths.float(), (alike - residual).detach(), atol=1e-5, rtol=1e-4)


def test_attention_to_chosen_positions_is_summed_within_and_averaged_over_inputs() -> None:
    pattern = torch.tensor([[[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]], [[0.1, 0.8, 0.1], [0.0, 1.0, 0.0]]])
    wanted = torch.tensor([[True, False, True], [False, True, False]])
    assert attention_to(pattern, wanted).tolist() == pytest.approx([0.75, 1.0])
